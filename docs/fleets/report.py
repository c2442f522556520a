# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One report of several jobs of ansible-runner: report.py RESULTS, where each directory holds the artifacts of a job.

A stage has the lines of all jobs, what a job says at its end begins with its name. Ends with 0 when every job is done,
else with 2. Needs nothing but Python.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPORT = "ipu.pod.report"
STAGE = re.compile(r"(\d+)/\d+ ")
LEFT_OUT = "Left out by --limit: "
COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
# Their lines are headlines, or repeat what was said.
HEADLINES = ("playbook_on_task_start", "playbook_on_play_start", "playbook_on_stats")


@dataclass(frozen=True)
class Job:
    """What is known of one job: whether it is done, and its events in their order."""

    name: str
    is_done: bool
    events: list[dict[str, Any]]


def jobs_of(results: Path) -> list[Job]:
    """The jobs in a directory, by name."""
    return [_job(folder) for folder in sorted(results.iterdir()) if folder.is_dir()]


def _job(folder: Path) -> Job:
    code = folder / "rc"
    events = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("job_events/*.json")]
    return Job(
        folder.name,
        code.exists() and code.read_text(encoding="utf-8").strip() == "0",
        sorted(events, key=lambda event: int(event["counter"])),
    )


def report(jobs: list[Job]) -> list[str]:
    """The lines of all of them."""
    stages: dict[str, list[str]] = {}
    ends: list[str] = []
    left_out: list[set[str]] = []
    for job in jobs:
        left_out.append(set())
        for stage, line in lines_of(job):
            if stage:
                stages.setdefault(stage, []).append(f"  {line}")
            elif line.startswith(LEFT_OUT):
                left_out[-1] = set(line.removeprefix(LEFT_OUT).split(", "))
            else:
                ends.append(f"{job.name}: {line}")
        if not job.events:
            ends.append(f"{job.name}: the worker has not answered")
    lines = [each for stage in sorted(stages, key=_number) for each in (stage, *stages[stage])]
    # What one job leaves out is the work of another.
    if nobodys := sorted(set.intersection(*left_out)):
        ends.append(f"{LEFT_OUT}{', '.join(nobodys)}")
    return [*lines, *ends, _end(jobs)]


def _end(jobs: list[Job]) -> str:
    of_all = f"{len(jobs)} job{'s' * (len(jobs) != 1)}"
    failed = [job.name for job in jobs if not job.is_done]
    return f"{len(failed)} of {of_all} failed: {', '.join(failed)}" if failed else f"{of_all} done"


def lines_of(job: Job) -> Iterator[tuple[str, str]]:
    """What a job says: lines of a stage with its name, and others without."""
    for event in job.events:
        data = event["event_data"]
        play = data.get("play", "")
        if event["event"] in HEADLINES:
            continue
        if event["event"] == "runner_on_ok" and data.get("resolved_action") == REPORT:
            for line in data["res"]["lines"]:
                yield (play if STAGE.match(play) else ""), line
        else:
            for line in COLOUR.sub("", event["stdout"]).splitlines():
                if line.strip():
                    yield "", line.rstrip()


def _number(stage: str) -> int:
    found = STAGE.match(stage)
    return int(found.group(1)) if found else 0


def main() -> int:
    """Print the report of the jobs in a directory."""
    jobs = jobs_of(Path(sys.argv[1]))
    print("\n".join(report(jobs)))
    return 0 if jobs and all(job.is_done for job in jobs) else 2


if __name__ == "__main__":
    sys.exit(main())
