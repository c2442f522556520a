# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Works out what vPODs in clouds have to do with their V-IPU controllers. Everything that decides is pure."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import declaration_of
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.cloud_machines import cloud_vpods

OPTIONS = {"name": {"type": "str"}}


class ActionModule(PodAction):
    """The thin shell."""

    spec = OPTIONS
    _supports_diff = False
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The vPODs, from pods.yml alone."""
        return {"vpods": cloud_vpods(declaration_of(variables, self._loader), options["name"])}
