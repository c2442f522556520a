# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Callback plugin: hands what a run did, or foretold, to the plays that come later in it."""

from __future__ import annotations

DOCUMENTATION = r"""
name: steps
short_description: What a run does to a pod, step by step, for its later plays
version_added: 1.0.0
author: The ipu.pod authors (@ipu-pod)
type: aggregate
requirements:
  - Enabled in the configuration, with C(callbacks_enabled = ipu.pod.steps) below C([defaults]) of ansible.cfg, or with
    the environment variable C(ANSIBLE_CALLBACKS_ENABLED).
description:
  - Collects, from the results of the collection's roles, every step of a run, and every thing that was compared with
    what is declared. What C(no_log) hides is hidden here, too.
  - Before each play, C(localhost) gets it in four variables. C(ipu_pod_run) holds C(started) (UTC), C(by)
    (C(user@host)) and C(playbook). C(ipu_pod_steps) is the list of steps as in a plan, each with C(foretold), whether
    it was not carried out. C(ipu_pod_looked_at) maps each device to the kinds and names that were compared.
    C(ipu_pod_unseen_devices) lists C(device) and C(message) of the first failure of each device.
  - Ends ansible-playbook with the exit code that a playbook has left by M(ansible.builtin.set_stats) in C(exit_code).
"""

import getpass
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

from ansible_collections.ipu.pod.plugins.plugin_utils._review.recorded import Task, looked_at, recorded_steps

# What ansible.builtin.command says of it.
KEPT_FROM_RUNNING = "Command would have run"

HALF_WAY = (
    "The run has failed half-way. playbooks/vpod_status.yml shows where each vPOD stands; running the same playbook "
    "again completes it."
)


class CallbackModule(CallbackBase):
    """The thin shell: every result to the pure part, all of it to localhost."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "ipu.pod.steps"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._run: dict[str, str] = {}
        self._steps: list[dict[str, Any]] = []
        # The number of the play that runs.
        self._phase = 0
        # Device to kind to names; the last is a dict for its order.
        self._looked_at: dict[str, dict[str, dict[str, None]]] = {}
        self._unseen: dict[str, str] = {}

    def v2_playbook_on_start(self, playbook: Any) -> None:
        """Remember who runs what since when."""
        self._run = {
            "started": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "by": f"{getpass.getuser()}@{socket.gethostname()}",
            "playbook": Path(playbook._file_name).stem,
        }

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """Hand over what there is so far."""
        self._phase += 1
        facts = {
            "ipu_pod_run": self._run,
            "ipu_pod_steps": list(self._steps),
            "ipu_pod_looked_at": {
                device: {kind: list(names) for kind, names in kinds.items()}
                for device, kinds in self._looked_at.items()
            },
            "ipu_pod_unseen_devices": [{"device": name, "message": said} for name, said in self._unseen.items()],
        }
        play.get_variable_manager().set_nonpersistent_facts("localhost", facts)

    def v2_runner_on_ok(self, result: Any) -> None:
        """Record it; a loop has been recorded item by item."""
        if "results" not in result._result or not result._task.loop:
            self._record(result)

    def v2_runner_item_on_ok(self, result: Any) -> None:
        """Record one item of a loop."""
        self._record(result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        """Record a command that only check mode has kept from running, unless it would change nothing."""
        if str(result._result.get("msg", "")).startswith(KEPT_FROM_RUNNING) and result._task.changed_when != [False]:
            self._record(result, changed=True)

    def v2_runner_on_failed(self, result: Any, **_options: Any) -> None:
        """Record what was done before the failure, and the failure."""
        self._record(result)
        self._fail(result)

    def v2_runner_item_on_failed(self, result: Any) -> None:
        """The item says more than the loop."""
        self._fail(result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """Record that nobody is there."""
        self._fail(result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Say where to look after a failure in the middle, and end with the code that the playbook asked for."""
        if any(stats.failures.values()) and any(not step["foretold"] for step in self._steps):
            self._display.display(HALF_WAY, stderr=True)
        code = stats.custom.get("_run", {}).get("exit_code")
        if code is not None:
            raise SystemExit(int(code))

    def _record(self, result: Any, **known: bool) -> None:
        device, task, said = result._host.get_name(), _task(result), {**result._result, **known}
        foretold = bool(result._task_fields.get("check_mode"))
        recorded = recorded_steps(task, device, said)
        self._steps += [dict(step, foretold=foretold, phase=self._phase) for step in recorded]
        for kind, name in looked_at(task, said):
            self._looked_at.setdefault(device, {}).setdefault(kind, {})[name] = None

    def _fail(self, result: Any) -> None:
        said = result._result
        message = said.get("msg") or said.get("stderr") or said.get("censored") or "failed without a word"
        self._unseen.setdefault(result._host.get_name(), " ".join(str(message).split()))


def _task(result: Any) -> Task:
    role = result._task._role
    return Task(
        role=role.get_name().rpartition(".")[2] if role else "",
        module=result._task.action.rpartition(".")[2],
        name=result._task.name,
        arguments=result._task_fields.get("args") or {},
    )
