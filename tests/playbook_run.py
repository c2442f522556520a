# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a playbook did, from the JSON that Ansible prints of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

# What makes ansible-playbook print JSON.
JSON_OUTPUT = {"ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json"}


@dataclass(frozen=True)
class PlaybookRun:
    """One run of ansible-playbook that has ended."""

    code: int
    document: dict[str, Any]

    @property
    def tasks(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Host, task and result of everything that ran, in order."""
        return [
            (host, task["task"]["name"], result)
            for play in self.document["plays"]
            for task in play["tasks"]
            for host, result in task["hosts"].items()
        ]

    @property
    def changed(self) -> dict[str, int]:
        """How many tasks changed each host."""
        return {host: stats["changed"] for host, stats in self.document["stats"].items()}

    @property
    def messages(self) -> str:
        """What was said by everything that failed or could not be reached."""
        return "\n".join(
            f"{host}: {result.get('msg', '')}"
            for host, _, task in self.tasks
            # A task with a loop says what went wrong in the results of its items.
            for result in (task, *task.get("results", ()))
            if result.get("failed") or result.get("unreachable")
        )


def playbook_run(name: str, code: int, output: str, errors: str) -> PlaybookRun:
    """Read the run of a playbook from what it printed; what is no JSON fails the test."""
    try:
        return PlaybookRun(code, json.loads(output[output.index("{") :]))
    except ValueError:
        pytest.fail(f"{name} printed no JSON: {output[-2000:]}{errors[-2000:]}")
