# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of the runs on a pod, as JSON lines: one when a run starts, one when it ends. Pure.

A run without an end failed, was killed, or is still at work.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Sequence

from .._plan.converge import Refused
from .._text.table import aligned
from .run import Run, spoken

Record = Dict[str, Any]

FILE = "runs.jsonl"
STARTED, ENDED = "started", "ended"
# How a run has ended that has come to its end.
ENTIRELY_DONE, PARTLY_DONE, NOT_VERIFIED = OUTCOMES = ("done", "partly done", "not verified")
STEP_FIELDS = ("device", "layer", "action", "kind", "name", "reason", "risk")


def records_from(text: str, path: str) -> list[Record]:
    """The records in a file. Raises Refused: a line is none; ``path`` says where."""
    records = [_record_from(line) for line in text.splitlines()]
    if None in records:
        raise Refused(f"{path}: line {records.index(None) + 1} is no record of a run; move the file away")
    return [record for record in records if record is not None]


def _record_from(line: str) -> Record | None:
    """The record in a line, or None if it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and {"event", "run"} <= record.keys() else None


def text_of(records: Sequence[Record]) -> str:
    """The records as they stand in their file."""
    return "".join(json.dumps(record) + "\n" for record in records)


def start(records: Sequence[Record], run: Run, pods: Sequence[str], limit: str, now: str) -> list[Record]:
    """The records once the run has started, or goes on after an end; as they are if it is at work already."""
    if [record["event"] for record in _of(records, run)][-1:] == [STARTED]:
        return list(records)
    who = {"user": run.user, "host": run.host, "process": run.process, "playbook": run.playbook}
    return [*records, {"event": STARTED, "run": run.identity, "at": now, **who, "pods": list(pods), "limit": limit}]


def end(
    records: Sequence[Record], run: Run, steps: Sequence[Record] | None, now: str, result: str = ENTIRELY_DONE
) -> list[Record]:
    """The records once the run has come to its end, with what is known of it now in place of what was.

    ``steps`` are None if nobody recorded them.
    """
    known = [record for record in _of(records, run)[-1:] if record["event"] == ENDED]
    done = None if steps is None else [{field: step.get(field) for field in STEP_FIELDS} for step in steps]
    ended = {"event": ENDED, "run": run.identity, "at": now, "steps": done, "result": result}
    return [*(record for record in records if record not in known), ended]


def _of(records: Sequence[Record], run: Run) -> list[Record]:
    return [record for record in records if record["run"] == run.identity]


def latest(records: Sequence[Record], runs: int) -> list[Record]:
    """The records of the latest runs."""
    kept = list(dict.fromkeys(record["run"] for record in reversed(records)))[:runs]
    return [record for record in records if record["run"] in kept]


def runs_of(records: Sequence[Record], at_work: Sequence[str]) -> list[Record]:
    """One entry for each run, the latest last; ``at_work`` are the identities of those that hold a lock."""
    by_run: dict[str, list[Record]] = {}
    for record in records:
        by_run.setdefault(record["run"], []).append(record)
    return [_run_of(each, run in at_work) for run, each in by_run.items() if each[0]["event"] == STARTED]


def _run_of(records: Sequence[Record], is_at_work: bool) -> Record:
    """One run, from all its records: it may have ended and gone on, and its last record says how it stands."""
    first, last = records[0], records[-1]
    unended = "at work" if is_at_work else "did not end"
    steps = [record["steps"] for record in records if record.get("steps") is not None]
    return {
        **{key: value for key, value in first.items() if key not in ("event", "run", "at")},
        "started": first["at"],
        "ended": last["at"] if last["event"] == ENDED else None,
        # Before 2.0 an end meant that all was done.
        "result": last.get("result", ENTIRELY_DONE) if last["event"] == ENDED else unended,
        "steps": steps[-1] if steps else None,
    }


def table_of(runs: Sequence[Record]) -> list[str]:
    """The runs as lines of a table for a person."""
    rows = [("STARTED", "BY", "PLAYBOOK", "PODS", "LIMIT", "RESULT", "STEPS")]
    for run in runs:
        steps = "?" if run["steps"] is None else str(len(run["steps"]))
        who = f"{run['user']}@{run['host']}"
        rows.append(
            (spoken(run["started"]), who, run["playbook"], ",".join(run["pods"]), run["limit"], run["result"], steps)
        )
    return aligned(rows)
