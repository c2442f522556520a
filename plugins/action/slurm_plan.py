# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Works out what Slurm is configured with. Everything that decides is pure."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.plain import plain
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.pods_file import document_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.schema import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_files.plan import slurm_plan
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_files.settings import slurm_settings

OPTIONS = {
    "choice": {"type": "dict", "required": True},
    "controllers": {"type": "raw", "default": []},
    "found": {"type": "dict"},
}


class ActionModule(ActionBase):
    """The thin shell."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The whole plan where it is known what Slurm is there, else the settings of the hooks."""
        super().run(tmp, task_vars)
        _found, options = self.validate_argument_spec(OPTIONS)
        choice, controllers, found = (plain(options[name]) for name in ("choice", "controllers", "found"))
        document = document_of(task_vars or {}, self._loader)
        try:
            if found is None:
                return {"changed": False, "settings": slurm_settings(parse_declaration(document), choice)}
            return {"changed": False, **slurm_plan(document, choice, controllers, found)}
        except Refused as error:
            raise AnsibleActionFail(str(error)) from None
        except DeclarationError as error:
            raise AnsibleActionFail("; ".join(error.problems)) from None
