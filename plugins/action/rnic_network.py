# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module rnic_network, and confirms a change that it made over a new connection."""

from __future__ import annotations

import contextlib
import time
import uuid
from typing import Any

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.ipu.pod.plugins.module_utils._rnic.confirmation import Lost, Result, carried_out
from ansible_collections.ipu.pod.plugins.module_utils._text.line import one_line

MODULE = "ipu.pod.rnic_network"
DEFAULT_CONFIRM_WITHIN = 120


class ActionModule(ActionBase):
    """Runs the module, and confirms its change over a second connection with ``_rnic.confirmation``."""

    _supports_check_mode = True
    _supports_diff = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of the module, after as many of its phases as it takes."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        change = uuid.uuid4().hex[:12]

        def call(phase: str) -> Result:
            arguments = {**self._task.args, "phase": phase, "change": change}
            try:
                answer: Result = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
            except AnsibleConnectionFailure as error:
                raise Lost(_one_line(error)) from error
            return answer

        def reconnect() -> None:
            try:
                self._connection.reset()
            except AnsibleConnectionFailure as error:
                raise Lost(_one_line(error)) from error

        try:
            result.update(carried_out(call, reconnect, time.sleep, self._confirm_within()))
        finally:
            # A server that is lost keeps Ansible's temporary files until it is found again.
            with contextlib.suppress(AnsibleConnectionFailure):
                self._remove_tmp_path(self._connection._shell.tmpdir)
        return result

    def _confirm_within(self) -> int:
        """Return the declared seconds; the module validates them."""
        declared = self._task.args.get("confirm_within")
        try:
            return DEFAULT_CONFIRM_WITHIN if declared is None else int(declared)
        except (TypeError, ValueError):
            return DEFAULT_CONFIRM_WITHIN


def _one_line(error: AnsibleError) -> str:
    return one_line(str(error))
