# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says which of a role's files and directories are not as wanted, by one look at the host."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.plain import plain
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.plain_data import for_tasks
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.resources import (
    Absent,
    Directory,
    File,
    differing_resources,
)

PATHS = {"type": "list", "elements": "path", "default": []}

OPTIONS = {
    "directories": PATHS,
    "files": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "path": {"type": "path", "required": True},
            "content": {"type": "str", "required": True},
            "mode": {"type": "str", "default": "0644"},
        },
    },
    "absent": PATHS,
}


class ActionModule(PodAction):
    """The host is asked by host_look; one that is as wanted needs no task."""

    spec = OPTIONS
    _supports_diff = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """The resources that differ, by their kind."""
        resources = _resources(options)
        arguments = {"parts": ["things"], "paths": [resource.path for resource in resources]}
        answer: dict[str, Any] = self._execute_module("ipu.pod.host_look", arguments, task_vars=variables)
        if answer.get("failed"):
            return answer
        seen = plain(answer["parts"]["things"])
        if "message" in seen:
            raise Refused(f"the host cannot be looked at: {seen['message']}")
        found = for_tasks(differing_resources(resources, seen))
        return {kind: found[kind] for kind in OPTIONS}


def _resources(options: dict[str, Any]) -> list[Directory | File | Absent]:
    return [
        *(Directory(path) for path in options["directories"]),
        *(File(file["path"], file["content"], mode=file["mode"]) for file in options["files"]),
        *(Absent(path) for path in options["absent"]),
    ]
