# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at one switch, from the process that holds the connection to it."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ipu.pod.plugins.module_utils._look.switch import look_at_switch
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused


class ActionModule(ActionBase):
    """Its parts are the result; it fails where there is no way to the switch."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The look."""
        super().run(tmp, task_vars)
        self.validate_argument_spec({})
        try:
            return {"changed": False, "parts": look_at_switch(self._connection.socket_path)}
        except (Refused, DeviceError) as error:
            raise AnsibleActionFail(str(error)) from error
