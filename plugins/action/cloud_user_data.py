# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the user data of a vPOD's machines on the control node. Everything that decides is pure."""

from __future__ import annotations

import base64
from typing import Any

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.action import PodAction
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import declaration_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.role_variables import settings_of
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.written_files import write_files
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.cloud_machines import cloud_vpods
from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.user_data import secret_sources, user_data
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import FILES

OPTIONS = {"vpod": {"type": "str", "required": True}, "directory": {"type": "path", "required": True}}


class ActionModule(PodAction):
    """Runs on the controller's host; secrets are in no option, no variable and no result."""

    spec = OPTIONS
    _supports_diff = False

    def result(self, options: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        """Where the file is, and whether it changed."""
        [found] = cloud_vpods(declaration_of(variables, self._loader), options["vpod"])
        settings = {**settings_of(["vpod"], self._loader, self._templar, variables), **found["settings"]}
        try:
            secrets = {path: self._secret(path, variables) for path in secret_sources(settings)}
            text = user_data(settings, secrets, self._configurations(settings, found, variables))
        except AnsibleConnectionFailure as error:
            raise DeviceError(
                f"{found['controller']}, which has the credentials of vPOD {found['name']}'s machines, is not reached "
                f"({error}); see to that, and run again"
            ) from error
        name = f"{options['vpod']}.yml"
        return {
            "changed": write_files({name: text}, options["directory"], is_dry=self._task.check_mode),
            "path": f"{options['directory']}/{name}",
        }

    def _secret(self, path: str, variables: dict[str, Any]) -> str:
        answer: dict[str, Any] = self._execute_module("ansible.builtin.slurp", {"src": path}, task_vars=variables)
        return base64.b64decode(answer.get("content", "")).decode()

    def _configurations(
        self, settings: dict[str, Any], found: dict[str, Any], variables: dict[str, Any]
    ) -> dict[str, Any]:
        names = sorted({partition["name"] for partition in settings["vpod_partitions"]})
        if settings["vpod_ipuof"] != FILES or not names:
            return {}
        asked = {"api_port": settings["vpod_vipu"]["admin_port"], "ipuof_configurations": names}
        administrator = found["partitions"]["vipu_config"]
        if administrator:
            asked["config"] = administrator
        answer: dict[str, Any] = self._execute_module("ipu.pod.vipu_info", asked, task_vars=variables)
        if answer.get("failed"):
            raise Refused(answer["msg"])
        configurations: dict[str, Any] = answer["ipuof_configurations"]
        return configurations
