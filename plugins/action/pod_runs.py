# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module pod_runs for this run and the plan that it has carried out, which only the control node knows."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.run_folder import RunFolder
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.this_run import this_run
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.run_report import done_steps, outcome_of

KEPT = ("device", "layer", "action", "kind", "name", "from", "to", "reason", "risk", "observed")
MODULE = "ipu.pod.pod_runs"


class ActionModule(ActionBase):
    """Adds to the module what only the control node knows."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of the module."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        arguments = {**self._task.args, "run": this_run().public()}
        folder = RunFolder()
        reading = folder.read("plan", "reading") if boolean(arguments.pop("of_plan", False)) else None
        if reading is not None:
            steps = done_steps(reading["stages"], folder.done())
            arguments["steps"] = [{key: step[key] for key in KEPT} for step in steps]
            arguments["result"] = outcome_of(reading, folder.done())
        result.update(self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars))
        return result
