# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output of a run without -v, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from ansible_collections.ipu.pod.plugins.callback import outcome, report
from ansible_collections.ipu.pod.plugins.module_utils._text.line import LONGEST
from tests.support.checkout import ROOT
from tests.support.hostile import HOSTILE, MARKER, is_seen, nothing_ran

PROGRAM = Path(sys.executable).parent / "ansible-playbook"
# What a user may say of a server, and what no shell or template may run.
TEXT = "the first line\n{{ no template }}"
TASKS: list[dict[str, Any]] = [
    {"name": "Report", "ansible.builtin.debug": {"msg": ["one", "two"]}},
    {"name": "Untold", "ansible.builtin.set_fact": {"a": "a secret of the house"}},
    {"name": "Each", "ansible.builtin.debug": {"msg": "item {{ item }}"}, "loop": ["a", "b"]},
    {"name": "Ignored", "ansible.builtin.fail": {"msg": "an ignored failure"}, "ignore_errors": True},
    {"name": "Skipped", "ansible.builtin.debug": {"msg": "never"}, "when": False},
    {"name": "Change it", "ansible.builtin.command": {"cmd": "true"}},
    {"name": "Fails", "ansible.builtin.fail": {"msg": "{{ lookup('ansible.builtin.file', text) }}"}},
]
SHOWN = [
    *("one", "two", "item a", "item b", "localhost: Change it", "FAILED localhost: Fails"),
    *(f"  {line}" for line in TEXT.splitlines()),
]


def run(folder: Path, tasks: list[dict[str, Any]], *options: str) -> subprocess.CompletedProcess[str]:
    """A playbook with these tasks, with the configuration of the checkout."""
    playbook = folder / "playbook.yml"
    play = {"name": "A play", "hosts": "localhost", "gather_facts": False, "tasks": tasks}
    playbook.write_text(json.dumps([play]))
    text = folder / "text"
    text.write_text(TEXT)
    return subprocess.run(
        [PROGRAM, playbook, "-e", f"text={text}", *options],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_only_what_is_meant_for_people_is_shown(tmp_path: Path) -> None:
    done = run(tmp_path, TASKS)
    assert done.returncode == 2
    lines = done.stdout.splitlines()
    assert lines[: len(SHOWN)] == SHOWN
    # Then who failed, and nothing else.
    assert [line.split()[0] for line in lines[len(SHOWN) :] if line] == ["PLAY", "localhost"]


def test_with_v_it_is_ansibles_own_output(tmp_path: Path) -> None:
    shown = run(tmp_path, TASKS, "-v").stdout
    for words in ("TASK [Untold]", "a secret of the house", "PLAY [A play]", "an ignored failure", "PLAY RECAP"):
        assert words in shown


def test_a_run_that_has_changed_nothing_says_so(tmp_path: Path) -> None:
    done = run(tmp_path, TASKS[1:2])
    assert (done.returncode, done.stdout) == (0, "nothing changed\n")


def test_the_exit_code_is_what_the_playbook_has_left(tmp_path: Path) -> None:
    stats = {"name": "Leave it", "ansible.builtin.set_stats": {"data": {"exit_code": 3}, "aggregate": False}}
    assert run(tmp_path, [stats]).returncode == 3


class Shown:
    """Stands for Ansible's display."""

    def __init__(self) -> None:
        self.verbosity = 0
        self.lines: list[str] = []

    def display(self, line: str, **_how: Any) -> None:
        self.lines.append(line)


@pytest.fixture
def shown() -> Iterator[Shown]:
    one = Shown()
    with mock.patch("ansible.plugins.callback.global_display", one):
        yield one


def result(action: str, **fields: Any) -> Any:
    """The result of a task, as a callback gets it."""
    usual = {"loop": None, "ignore_errors": False, "ignore_unreachable": False, "args": {}, "delegate_to": None}
    task = {"action": action, **usual, **fields}
    name = task.pop("name", "A task")
    result_of_task = task.pop("result", {})
    return SimpleNamespace(
        task=SimpleNamespace(get_name=lambda: name, **task),
        host=SimpleNamespace(get_name=lambda: "p-tor"),
        result=result_of_task,
        exception=None,
    )


@pytest.mark.parametrize(
    ("result_of_task", "lines"),
    [
        ({"lines": ["p-tor: vlan 101 added", "done"]}, ["p-tor: vlan 101 added", "done"]),
        ({"lines": []}, []),
        ({}, []),
    ],
)
def test_a_report_is_shown_line_by_line(shown: Shown, result_of_task: Any, lines: list[str]) -> None:
    callback = report.CallbackModule()
    callback.v2_runner_on_ok(result("ipu.pod.report", result=result_of_task))
    callback.v2_runner_on_ok(result("ansible.builtin.command", result={"stdout": "never", "lines": ["never"]}))
    assert shown.lines == lines


@pytest.mark.parametrize(
    ("result_of_task", "message"),
    [
        ({"msg": "why"}, "why"),
        ({"stderr": "its own words"}, "its own words"),
        ({"censored": "the output has been hidden"}, "the output has been hidden"),
        ({}, "failed without a word"),
        ({"msg": "non-zero return code", "rc": 2, "stdout": "", "stderr": "no config\n"}, "exit code 2: no config"),
        ({"msg": "non-zero return code", "rc": 1, "stdout": "not here", "stderr": ""}, "exit code 1: not here"),
        ({"msg": "non-zero return code", "rc": 1}, "exit code 1 without a word"),
        (
            {"msg": "Task failed: [Errno 28] No space left on device"},
            "Task failed: [Errno 28] No space left on device; free space on the disk that is full, and run the same "
            "playbook again",
        ),
    ],
)
def test_a_failure_says_who_where_and_why(shown: Shown, result_of_task: Any, message: str) -> None:
    callback = report.CallbackModule()
    for happened in (
        callback.v2_runner_on_failed,
        callback.v2_runner_on_unreachable,
        callback.v2_runner_item_on_failed,
    ):
        shown.lines.clear()
        happened(result("x", name="Configure the switch", result=result_of_task))
        assert shown.lines == ["FAILED p-tor: Configure the switch", f"  {message}"]


def test_who_cannot_become_root_gets_the_remedy(shown: Shown) -> None:
    callback = report.CallbackModule()
    for message in ("Task failed: Incorrect su password", "Missing sudo password"):
        callback.v2_runner_on_failed(result("x", result={"msg": message, "failed": True}))
        remedy = "correct how the inventory says to become root (ansible_become and its password)"
        assert shown.lines[-1] == f"  {message}; {remedy}"
    callback.v2_runner_on_failed(result("x", result={"msg": "Incorrect", "failed": True}))
    assert shown.lines[-1] == "  Incorrect"


def test_a_lost_host_is_reported_with_the_remedy(shown: Shown) -> None:
    callback = report.CallbackModule()
    lost = {"msg": "root@10.3.1.200: Permission denied (publickey)", "unreachable": True}
    callback.v2_runner_on_unreachable(result("x", name="Renew the locks", delegate_to="ctrl001", result=lost))
    assert shown.lines == [
        "FAILED p-tor -> ctrl001: Renew the locks",
        "  root@10.3.1.200: Permission denied (publickey); correct how the inventory says to log in",
    ]
    # Of a loop, an item has said it.
    shown.lines.clear()
    loop = {**lost, "msg": "One or more items failed", "results": [lost]}
    callback.v2_runner_on_unreachable(result("x", loop=["ctrl001"], result=loop))
    callback.v2_playbook_on_no_hosts_remaining()
    assert shown.lines == []


def test_ignored_failures_are_reported_by_the_decision_and_not_here(shown: Shown) -> None:
    callback = report.CallbackModule()
    callback.v2_runner_on_failed(result("x", result={"msg": "why"}), ignore_errors=True)
    callback.v2_runner_item_on_failed(result("x", ignore_errors=True, result={"msg": "why"}))
    callback.v2_runner_on_unreachable(result("x", ignore_unreachable=True, result={"msg": "why"}))
    assert shown.lines == []


STAGE = "9/14 Configure ToR switches"


def play(name: str) -> Any:
    return SimpleNamespace(get_name=lambda: name)


def test_a_stage_is_shown_once_when_its_first_task_begins_and_its_lines_below_it(shown: Shown) -> None:
    callback = report.CallbackModule()
    for name in ("Look", "8/14 Nobody has anything to do here", STAGE, STAGE):
        callback.v2_playbook_on_play_start(play(name))
        if name != "8/14 Nobody has anything to do here":
            callback.v2_playbook_on_task_start(None, False)
            callback.v2_playbook_on_task_start(None, False)
    callback.v2_runner_on_ok(result("ansible.builtin.command", result={"changed": True}))
    callback.v2_runner_on_ok(result("ipu.pod.report", args={"view": "stage"}, result={"lines": ["p-tor: vlan 101"]}))
    assert shown.lines == [STAGE, "  p-tor: vlan 101"]


def test_changes_outside_of_stages_are_shown_by_the_name_of_their_task(shown: Shown) -> None:
    callback = report.CallbackModule()
    callback.v2_playbook_on_play_start(play("Probe"))
    for changed in (True, False):
        callback.v2_runner_on_ok(result("ansible.builtin.copy", name="Write it", result={"changed": changed}))
    assert shown.lines == ["p-tor: Write it"]


@pytest.mark.parametrize(
    ("before", "is_shown"),
    [
        ([], True),
        ([result("ipu.pod.report", result={"lines": []})], False),
        ([result("ansible.builtin.copy", result={"changed": True})], False),
        ([result("ansible.builtin.copy", result={"changed": False})], True),
    ],
)
def test_where_no_report_says_it_the_end_does(shown: Shown, before: list[Any], is_shown: bool) -> None:
    callback = report.CallbackModule()
    for each in before:
        callback.v2_runner_on_ok(each)
    shown.lines.clear()
    callback.v2_playbook_on_stats(SimpleNamespace(failures={}, dark={}))
    assert shown.lines == ["nothing changed"] * is_shown


@pytest.mark.parametrize(
    ("states", "failed", "is_shown"),
    [
        ([], True, False),
        (["held"], False, False),
        (["held"], True, True),
        (["held", "free"], True, False),
        (["free"], True, False),
    ],
)
@pytest.mark.parametrize("ways", ["failures", "dark"])
def test_what_to_do_after_a_failure_in_the_middle(
    shown: Shown, states: list[str], failed: bool, is_shown: bool, ways: str
) -> None:
    callback = outcome.CallbackModule()
    for state in states:
        callback.v2_runner_on_ok(result("ipu.pod.pod_lock", args={"state": state}))
    callback.v2_runner_on_ok(result("ansible.builtin.ping"))
    stats = {"failures": {}, "dark": {}, "custom": {}, ways: {"p-tor": 1} if failed else {}}
    callback.v2_playbook_on_stats(SimpleNamespace(**stats))
    assert shown.lines == [outcome.HALF_WAY] * is_shown


def test_the_exit_code_ends_the_process_also_as_a_text(shown: Shown) -> None:
    stats = SimpleNamespace(failures={}, dark={}, custom={"_run": {"exit_code": "2"}})
    with pytest.raises(SystemExit) as ended:
        outcome.CallbackModule().v2_playbook_on_stats(stats)
    assert ended.value.code == 2
    assert shown.lines == []


@pytest.mark.parametrize("options", [[], ["-v"]], ids=["short", "verbose"])
def test_hostile_text_neither_runs_nor_steers_the_terminal(tmp_path: Path, options: list[str]) -> None:
    command = {"cmd": "sh -c 'cat said >&2; exit 1'", "chdir": str(tmp_path)}
    tasks: list[dict[str, Any]] = [
        {"name": "Fact", "ansible.builtin.set_fact": {"said": "{{ lookup('ansible.builtin.file', 'hostile') }}"}},
        {"name": "Text", "ansible.builtin.debug": {"msg": "{{ said }}"}},
        {"name": "Lines", "ansible.builtin.debug": {"msg": "{{ said.splitlines() }}"}},
        {"name": "Command", "ansible.builtin.command": command},
    ]
    (tmp_path / "hostile").write_bytes("\n".join(HOSTILE.values()).encode(errors="surrogateescape"))
    # Ansible itself refuses the answer of a module that is no text.
    (tmp_path / "said").write_bytes("\n".join(HOSTILE.values()).encode(errors="ignore"))
    done = run(tmp_path, tasks, *options)
    assert done.returncode == 2
    assert "FAILED localhost: Command" in done.stdout or options
    assert list(filter(is_seen, done.stdout.split("\n"))) == done.stdout.split("\n")
    assert max(map(len, done.stdout.split("\n"))) <= LONGEST + 2 or options
    assert nothing_ran(tmp_path)
    assert not (ROOT / MARKER).exists()
