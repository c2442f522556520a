# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at one switch, from the process that holds the connection to it."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._look.switch import look_at_switch
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.persistent_connection import own_connection


class ActionModule(PodAction):
    """Its parts are the result; it fails where there is no way to the switch."""

    def result(self, _options: dict[str, Any], _variables: dict[str, Any]) -> dict[str, Any]:
        """The look."""
        with own_connection(self._connection.socket_path):
            return {"parts": look_at_switch(self._connection.socket_path)}
