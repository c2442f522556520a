# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says what a role writes to the host, from the role's variables. Asks no host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.role_variables import settings_of
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.containers import containers_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.plain_data import for_tasks
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.poplar_server import poplar_server_resources
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import Resource
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vipu_controller import (
    running_as,
    vipu_controller_resources,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.vpod import vpod_resources

RESOURCES_OF_ROLE: dict[str, Callable[..., list[Resource]]] = {
    "poplar_server": poplar_server_resources,
    "vipu_controller": vipu_controller_resources,
    "vpod": vpod_resources,
    "containers": containers_resources,
}

OPTIONS = {
    "role": {"type": "str", "required": True, "choices": list(RESOURCES_OF_ROLE)},
    "vpod": {"type": "str"},
    "seen": {"type": "dict"},
}


class ActionModule(PodAction):
    """Returns what a role writes to a host, from the same function with which the decision compares the host."""

    spec = OPTIONS
    _supports_diff = False
    _requires_connection = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The resources, by their kind."""
        role = options["role"]
        which = {name: options[name] for name in ("vpod", "seen") if options[name]}
        settings = settings_of([role], self._loader, self._templar, variables)
        found = for_tasks(RESOURCES_OF_ROLE[role](settings, **which))
        return {**found, **running_as(settings, **which)} if role == "vipu_controller" else found
