# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds what a run is about: the devices of some vPODs, or the pods of some devices and who keeps their locks."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.plain import plain
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import declaration_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import left_servers
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import hosts_of
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.managed import lock_hosts
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.schema import DeclarationError

OPTIONS = {
    "vpods": {"type": "list", "elements": "str"},
    "hosts": {"type": "list", "elements": "str"},
    "left": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    """Returns the devices and lock hosts that pure functions find."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The names of the devices, and of the hosts that keep locks with their pods."""
        super().run(tmp, task_vars)
        _found, options = self.validate_argument_spec(
            OPTIONS, required_one_of=[("vpods", "hosts")], required_if=[("left", True, ["vpods"])]
        )
        try:
            declaration = declaration_of(task_vars or {}, self._loader)
            hosts = plain(options["hosts"]) or []
            if options["vpods"] is not None:
                hosts += hosts_of(declaration, plain(options["vpods"]))
            if options["left"]:
                hosts += left_servers(declaration, RunFolder().looks(), plain(options["vpods"]))
            kept = lock_hosts(declaration, hosts)
        except DeclarationError as error:
            raise AnsibleActionFail("; ".join(error.problems)) from None
        return {
            "changed": False,
            "hosts": hosts,
            "lock_hosts": [{"host": host, "pods": pods} for host, pods in kept.items()],
        }
