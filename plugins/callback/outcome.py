# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Callback plugin: how a run ends, by its exit code and, after a failure half-way, by a word on what to do."""

from __future__ import annotations

DOCUMENTATION = r"""
name: outcome
short_description: The exit code of a playbook, and what to do after a failure half-way
version_added: 2.0.0
author: The ipu.pod authors (@ipu-pod)
type: aggregate
requirements:
  - Enabled in the configuration, with C(callbacks_enabled = ipu.pod.outcome) below C([defaults]) of ansible.cfg, or by
    the environment variable C(ANSIBLE_CALLBACKS_ENABLED).
description:
  - Ends ansible-playbook with the exit code that a playbook has left by M(ansible.builtin.set_stats) in C(exit_code).
  - After a failure of a run that had begun to change a pod it says how to go on.
"""

from typing import Any

from ansible.plugins.callback import CallbackBase

LOCK = "ipu.pod.pod_lock"
HALF_WAY = (
    "The run has failed half-way. playbooks/vpod_status.yml shows where each vPOD stands; running the same playbook "
    "again completes it."
)


class CallbackModule(CallbackBase):
    """Looks at nothing but the end."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "ipu.pod.outcome"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._has_lock = False

    def v2_runner_on_ok(self, result: Any) -> None:
        """Remember that the pods are held: from then on, something may have been changed."""
        if result.task.action == LOCK:
            self._has_lock = result.task.args.get("state") != "free"

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Show how to go on after a failure half-way, and end with the code that the playbook has set."""
        if self._has_lock and any((*stats.failures.values(), *stats.dark.values())):
            self._display.display(HALF_WAY, stderr=True)
        code = stats.custom.get("_run", {}).get("exit_code")
        if code is not None:
            raise SystemExit(int(code))
