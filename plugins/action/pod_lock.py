# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module pod_lock for this run, which only the control node knows, and tells it which other runs are dead."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

from ansible_collections.ipu.pod.plugins.module_utils._runs.run import run_from
from ansible_collections.ipu.pod.plugins.plugin_utils._ansible.this_run import is_gone, this_run
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.managed import CONTROL_NODE

MODULE = "ipu.pod.pod_lock"
_UNSEEN = (
    "No other control node sees that {pods} is locked, because neither its V-IPU controller nor a Poplar server is "
    "managed, which would keep the lock; it is on {host} alone, so see that nobody changes {pods} from elsewhere"
)
_NOT_REACHED = "{host}, which keeps the lock of {pods}, is not reached ({error}); nothing more is changed without it"


class ActionModule(ActionBase):
    """Adds to the module what only the control node knows."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of the module; where the holder was this control node's and is dead, of a second call of it."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        run = this_run()
        arguments = {**self._task.args, "run": run.public()}
        keeper = self._task.delegate_to or (task_vars or {}).get("inventory_hostname")
        pods = ", ".join(arguments.get("pods", ()))
        try:
            answer = self._answer(arguments, task_vars)
        except AnsibleConnectionFailure as error:
            message = _NOT_REACHED.format(host=keeper, pods=pods, error=error)
            if self._task.check_mode:
                return {**result, "changed": False, "locks": {}, "taken": [], "warnings": [message]}
            # A failure stops all of a run, other than a host that is not reached.
            return {**result, "failed": True, "msg": message}
        holders = answer.get("locks", {}).values() if answer.get("failed") else ()
        gone = [run_from(holder).identity for holder in holders if is_gone(holder, run.node)]
        if gone:
            answer = self._answer({**arguments, "gone": gone}, task_vars)
        if keeper == CONTROL_NODE and arguments.get("state", "held") == "held":
            answer.setdefault("warnings", []).append(_UNSEEN.format(pods=pods, host=run.host))
        result.update(answer)
        return result

    def _answer(self, arguments: dict[str, Any], task_vars: dict[str, Any] | None) -> dict[str, Any]:
        answer: dict[str, Any] = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        return answer
