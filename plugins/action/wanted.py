# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says what a role writes to the host, from the role's variables. Asks no host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.plain import plain
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.role_variables import settings_of
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.plain_data import for_tasks
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.poplar_server import poplar_server_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import Resource
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vipu_controller import vipu_controller_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vpod import vpod_resources

RESOURCES_OF_ROLE: dict[str, Callable[..., list[Resource]]] = {
    "poplar_server": poplar_server_resources,
    "vipu_controller": vipu_controller_resources,
    "vpod": vpod_resources,
}


class ActionModule(ActionBase):
    """Returns what a role writes to a host, from the same function with which the decision compares the host."""

    _supports_check_mode = True
    _supports_diff = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The resources, by their kind."""
        super().run(tmp, task_vars)
        _found, options = self.validate_argument_spec(
            {"role": {"type": "str", "required": True, "choices": list(RESOURCES_OF_ROLE)}, "vpod": {"type": "str"}}
        )
        role, vpod = options["role"], options["vpod"]
        which = {"vpod": vpod} if vpod else {}
        settings = plain(settings_of([role], self._loader, self._templar, task_vars or {}))
        return {"changed": False, **for_tasks(RESOURCES_OF_ROLE[role](settings, **which))}
