# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends the connection to a switch, so that the next task has to log in anew."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.persistent_connection import end_connection


class ActionModule(PodAction):
    """It has nothing to return."""

    def result(self, _options: dict[str, Any], _variables: dict[str, Any]) -> dict[str, Any]:
        """Nothing, once the connection has ended."""
        socket_path = getattr(self._connection, "socket_path", None)
        if not socket_path:
            raise Refused(
                "this connection does not outlast a task: set ansible_connection to ansible.netcommon.httpapi or "
                "ansible.netcommon.network_cli"
            )
        end_connection(socket_path)
        return {}
