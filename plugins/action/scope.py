# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds what a run is about: the devices of some vPODs, or the pods of some devices and who keeps their locks."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import declaration_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import left_servers
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import hosts_of
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.managed import lock_hosts

OPTIONS = {
    "vpods": {"type": "list", "elements": "str"},
    "hosts": {"type": "list", "elements": "str"},
    "left": {"type": "bool", "default": False},
}
RULES = {"required_one_of": [("vpods", "hosts")], "required_if": [("left", True, ["vpods"])]}


class ActionModule(PodAction):
    """Returns the devices and lock hosts that pure functions find."""

    spec = OPTIONS
    rules = RULES
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The names of the devices, and of the hosts that keep locks with their pods."""
        declaration = declaration_of(variables, self._loader)
        hosts = options["hosts"] or []
        if options["vpods"] is not None:
            hosts += hosts_of(declaration, options["vpods"])
        if options["left"]:
            hosts += left_servers(declaration, RunFolder().looks(), options["vpods"])
        kept = lock_hosts(declaration, hosts)
        return {"hosts": hosts, "lock_hosts": [{"host": host, "pods": pods} for host, pods in kept.items()]}
