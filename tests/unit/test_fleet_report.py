# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one report of several jobs: docs/fleets/report.py, as a program, on results of ansible-runner."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.checkout import ROOT

PROGRAM = ROOT / "docs" / "fleets" / "report.py"
Event = dict[str, Any]


def reported(play: str, *lines: str) -> Event:
    """The event of a task that reports lines."""
    data = {"play": play, "resolved_action": "ipu.pod.report", "res": {"lines": list(lines)}}
    return {"event": "runner_on_ok", "stdout": "\r\n".join(lines), "event_data": data}


def shown(event: str, text: str) -> Event:
    return {"event": event, "stdout": text, "event_data": {"play": "9/14 Configure ToR switches"}}


def result(artifacts: Path, code: str, *events: Event) -> None:
    """Keep the artifacts of a job, as ansible-runner does."""
    (artifacts / "job_events").mkdir(parents=True)
    for counter, event in enumerate(events, start=1):
        (artifacts / "job_events" / f"{counter}-x.json").write_text(json.dumps({"counter": counter, **event}))
    (artifacts / "rc").write_text(code)


def report(folder: Path) -> tuple[int, list[str]]:
    done = subprocess.run([sys.executable, PROGRAM, folder], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_stages_come_in_their_order_with_the_lines_of_all_jobs(tmp_path: Path) -> None:
    headline = shown("playbook_on_task_start", "10/14 Configure Poplar servers")
    result(
        tmp_path / "b", "0", headline, reported("10/14 Configure Poplar servers", "b1: x"), reported("Report", "end")
    )
    result(tmp_path / "a", "0", reported("10/14 Configure Poplar servers", "a1: y"), reported("9/14 Other", "a0: z"))
    assert report(tmp_path) == (
        0,
        ["9/14 Other", "  a0: z", "10/14 Configure Poplar servers", "  a1: y", "  b1: x", "b: end", "2 jobs done"],
    )


def test_what_one_job_leaves_out_is_told_only_where_no_other_does_it(tmp_path: Path) -> None:
    result(tmp_path / "a", "0", reported("Report", "Left out by --limit: b1, c1", "end"))
    result(tmp_path / "b", "0", reported("Report", "Left out by --limit: a1, c1", "end"))
    assert report(tmp_path) == (0, ["a: end", "b: end", "Left out by --limit: c1", "2 jobs done"])


def test_a_failure_is_told_as_its_job_has_shown_it(tmp_path: Path) -> None:
    failure = shown("runner_on_failed", "\x1b[0;31mFAILED tor: Change it\x1b[0m\r\n\x1b[0;31m  no route to host\x1b[0m")
    recap = shown("playbook_on_stats", "\r\nPLAY RECAP ***")
    result(tmp_path / "a", "2", failure, recap)
    result(tmp_path / "b", "0", reported("Report", "end"))
    said = ["a: FAILED tor: Change it", "a:   no route to host", "b: end", "1 of 2 jobs failed: a"]
    assert report(tmp_path) == (2, said)


def test_a_job_without_a_result_has_failed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert report(tmp_path) == (2, ["a: the worker has not answered", "1 of 1 job failed: a"])
