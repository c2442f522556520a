# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module pod_lock for this run, which only the control node knows, and tells it which other runs are dead."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.ipu.pod.plugins.module_utils._runs.run import run_from
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.this_run import is_gone, this_run

MODULE = "ipu.pod.pod_lock"


class ActionModule(ActionBase):
    """Adds to the module what only the control node knows."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of the module; where the holder was this control node's and is dead, of a second call of it."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        run = this_run()
        arguments = {**self._task.args, "run": run.public()}
        answer: dict[str, Any] = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        holders = answer.get("locks", {}).values() if answer.get("failed") else ()
        gone = [run_from(holder).identity for holder in holders if is_gone(holder, run.node)]
        if gone:
            arguments["gone"] = gone
            answer = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        result.update(answer)
        return result
