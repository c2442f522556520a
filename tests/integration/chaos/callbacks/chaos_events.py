# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Callback plugin of the tests: tells who watches a run what it does, and waits before each task until it may go on."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: chaos_events
short_description: Tells what a run does, over a socket
type: notification
description: Each event is a line of JSON; before a task the answer is waited for.
requirements: [a socket in the environment variable CHAOS_EVENTS]
"""
REPORT = "ipu.pod.report"


class CallbackModule(CallbackBase):
    """Tells plays, tasks and reports."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "chaos_events"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(os.environ["CHAOS_EVENTS"])
        self._answers = self._connection.makefile("r")

    def v2_playbook_on_play_start(self, play: Any) -> None:
        self._tell("play", name=play.get_name())

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:  # noqa: ARG002
        self._tell("task", name=task.get_name())
        self._answers.readline()

    def v2_runner_on_ok(self, result: Any) -> None:
        if result.task.action == REPORT:
            view = result.task.args.get("view", "run")
            self._tell("report", host=result.host.get_name(), view=view, lines=result.result.get("lines", []))

    def _tell(self, kind: str, **words: Any) -> None:
        self._connection.sendall(json.dumps({"kind": kind, **words}).encode() + b"\n")
