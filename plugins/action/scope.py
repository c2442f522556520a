# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the devices that a run on some vPODs is about."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import hosts_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declared import declaration_of
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.schema import DeclarationError


class ActionModule(ActionBase):
    """Everything that decides is pure."""

    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The names of the devices."""
        super().run(tmp, task_vars)
        _found, options = self.validate_argument_spec({"vpods": {"type": "list", "elements": "str", "required": True}})
        try:
            return {"changed": False, "hosts": hosts_of(declaration_of(task_vars or {}), options["vpods"])}
        except DeclarationError as error:
            raise AnsibleActionFail("; ".join(error.problems)) from None
