# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says which of a role's files and directories are not as wanted, by one look at the host."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

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


class ActionModule(ActionBase):
    """The host is asked by host_look; one that is as wanted needs no task."""

    _supports_check_mode = True
    _supports_diff = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The resources that differ, by their kind."""
        super().run(tmp, task_vars)
        _found, options = self.validate_argument_spec(OPTIONS)
        resources = _resources(plain(options))
        arguments = {"parts": ["things"], "paths": [resource.path for resource in resources]}
        answer: dict[str, Any] = self._execute_module("ipu.pod.host_look", arguments, task_vars=task_vars)
        if answer.get("failed"):
            return answer
        seen = plain(answer["parts"]["things"])
        if "message" in seen:
            raise AnsibleActionFail(f"the host cannot be looked at: {seen['message']}")
        found = for_tasks(differing_resources(resources, seen))
        return {"changed": False, **{kind: found[kind] for kind in OPTIONS}}


def _resources(options: dict[str, Any]) -> list[Directory | File | Absent]:
    return [
        *(Directory(path) for path in options["directories"]),
        *(File(file["path"], file["content"], mode=file["mode"]) for file in options["files"]),
        *(Absent(path) for path in options["absent"]),
    ]
