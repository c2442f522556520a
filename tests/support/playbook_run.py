# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks run as a person would, and what they did, from the JSON that Ansible prints of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.checkout import PROGRAMS, ROOT

# What makes ansible-playbook print JSON.
JSON_OUTPUT = {"ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json"}
REPORT = "ipu.pod.report"
# A line in the table of a plan: of a step, `   3 ▲ update port Ethernet9/1 [disruptive]`, or of the device above it.
STEP = re.compile(r" *\d+ [^\w\s] [a-z]+ (?P<kind>\w+) (?P<name>.+?)(?: \[[a-z ]+\])?$")
DEVICE = re.compile(r"[\w-]+$")
# Where the JSON begins; with -v other lines are before it.
BEGIN = re.compile(r"^\{$", re.MULTILINE)
# All that Ansible can say of a run, and the difference of each file.
LOUD = ("-vvv", "--diff")
# Where files with keys are; of writing them nothing is told.
SECRET = {"/etc/vipu", "/etc/vipu/certs"}


def environment_in(directory: Path) -> dict[str, str]:
    """The environment in which Ansible's programs, started in another directory, find the checkout."""
    return {
        **os.environ,
        "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
        "ANSIBLE_CONFIG": f"{ROOT}/ansible.cfg",
        "PWD": str(directory),
    }


def run_playbook(
    playbook: str | Path,
    *options: str,
    inventory: Path | None = None,
    directory: Path = ROOT,
    programs: Path = PROGRAMS,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run a playbook to its end; whether it succeeds is the caller's to see.

    Args:
        playbook: its path, or the name of one in the folder of playbooks.
        options: of ansible-playbook.
        inventory: without one, what ansible.cfg says or ``options``.
        directory: where it is started.
        programs: of which Ansible.
        environment: more variables.
    """
    path = playbook if isinstance(playbook, Path) else ROOT / "playbooks" / f"{playbook}.yml"
    where = ["-i", str(inventory)] if inventory else []
    return subprocess.run(
        [f"{programs}/ansible-playbook", *where, str(path), *options],
        cwd=directory,
        env={**environment_in(directory), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


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
    def changes(self) -> list[tuple[str, str]]:
        """Host and name of the tasks that changed something, sorted."""
        return sorted((host, task) for host, task, result in self.tasks if result.get("changed"))

    @property
    def reported(self) -> list[str]:
        """The lines that a person sees of it."""
        return [line for _, _, result in self.tasks if result.get("action") == REPORT for line in result["lines"]]

    @property
    def predicted(self) -> set[tuple[str, str]]:
        """Device and name of everything that would change, from the table of a plan or of check mode."""
        found, device = set(), ""
        for line in self.reported:
            step = STEP.match(line)
            if step:
                found.add((device, step["name"]))
            elif DEVICE.match(line):
                device = line
        return found

    @property
    def done(self) -> set[tuple[str, str]]:
        """Device and name of everything that was changed, as modules on devices say; of files with keys they don't."""
        return {
            (host, name)
            for host, task, result in self.tasks
            for each in result.get("results", (result,))
            if each.get("changed")
            for name in _changed_by(each, task)
        }

    @property
    def messages(self) -> str:
        """The messages of all tasks that failed and hosts that could not be reached."""
        return "\n".join(
            f"{host}: {result.get('msg', '')}"
            for host, _, task in self.tasks
            # A task with a loop says what went wrong in the results of its items.
            for result in (task, *task.get("results", ()))
            if result.get("failed") or result.get("unreachable")
        )


def did_what_was_predicted(check: PlaybookRun, run: PlaybookRun) -> None:
    """Fail the test unless a run has changed what check mode has predicted, and nothing else."""
    assert run.done - check.predicted == set()
    assert {name for _, name in check.predicted - run.done if name.rpartition("/")[0] not in SECRET} == set()


def read_run(name: str, done: subprocess.CompletedProcess[str]) -> PlaybookRun:
    """Read the run of a playbook that printed JSON."""
    return playbook_run(name, done.returncode, done.stdout, done.stderr)


def playbook_run(name: str, code: int, output: str, errors: str) -> PlaybookRun:
    """Read the run of a playbook from what it printed; what is no JSON fails the test."""
    begin = BEGIN.search(output)
    try:
        return PlaybookRun(code, json.loads(output[begin.start() if begin else 0 :]))
    except ValueError:
        pytest.fail(f"{name} printed no JSON: {output[-2000:]}{errors[-2000:]}")


def _changed_by(result: dict[str, Any], task: str) -> list[str]:
    """The names in the plan of one of our modules; of others what they were asked to change."""
    if "censored" in result:
        return []
    if "plan" in result:
        return [step["name"] for step in result["plan"]]
    # The name of a task of a role has that of the role in front.
    return [next((str(result[key]) for key in ("dest", "path", "name") if key in result), task.rpartition(" : ")[2])]
