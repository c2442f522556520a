# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of runs: one start and one end each, the latest are kept, and a run without an end says so."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._runs.records import (
    end,
    latest,
    records_from,
    runs_of,
    start,
    table_of,
    text_of,
)
from ansible_collections.ipu.pod.plugins.module_utils._runs.run import Run
from tests.support.hostile import HOSTILE, is_seen

STEP = {
    "device": "pod001-tor",
    "layer": "switch",
    "action": "update",
    "kind": "port",
    "name": "Ethernet9/1",
    "reason": "vlan is 1, wanted 101",
    "risk": "disruptive",
}


def run(number: int) -> Run:
    return Run("alice", "control1", number, "100", "boot pid:[1]", "site.yml")


def three_runs() -> list[dict[str, Any]]:
    """The first one ended, the second one did not, the third one ended and nobody recorded its steps."""
    records: list[dict[str, Any]] = []
    records = start(records, run(1), ["pod001"], "", "2026-11-21T12:00:00Z")
    records = end(records, run(1), [{**STEP, "from": {"secret": 1}, "observed": {}}], "2026-11-21T12:05:00Z")
    records = start(records, run(2), ["pod001", "pod002"], "pod001-tor", "2026-11-21T13:00:00Z")
    records = start(records, run(3), ["pod001"], "", "2026-11-21T14:00:00Z")
    return end(records, run(3), None, "2026-11-21T14:05:00Z")


def test_a_run_starts_once() -> None:
    once = start([], run(1), ["pod001"], "", "2026-11-21T12:00:00Z")
    assert start(once, run(1), ["pod001"], "", "2026-11-21T12:01:00Z") == once


def test_a_step_is_kept_without_what_was_read() -> None:
    assert three_runs()[1]["steps"] == [STEP]


def test_a_table_for_a_person() -> None:
    assert table_of(runs_of(three_runs(), [])) == [
        "STARTED                  BY              PLAYBOOK  PODS           LIMIT       RESULT       STEPS",
        "2026-11-21 12:00:00 UTC  alice@control1  site.yml  pod001                     done         1",
        "2026-11-21 13:00:00 UTC  alice@control1  site.yml  pod001,pod002  pod001-tor  did not end  ?",
        "2026-11-21 14:00:00 UTC  alice@control1  site.yml  pod001                     done         ?",
    ]


def test_the_last_record_of_a_run_says_how_it_stands() -> None:
    records = start([], run(1), ["pod001"], "", "2026-11-21T12:00:00Z")
    records = end(records, run(1), [STEP], "2026-11-21T12:05:00Z", "not verified")
    assert [(each["result"], each["steps"]) for each in runs_of(records, [])] == [("not verified", [STEP])]
    records = end(records, run(1), [STEP], "2026-11-21T12:06:00Z")
    assert [(each["result"], each["ended"]) for each in runs_of(records, [])] == [("done", "2026-11-21T12:06:00Z")]
    assert [record["event"] for record in records] == ["started", "ended"]
    # It takes the locks once more.
    records = start(records, run(1), ["pod001"], "", "2026-11-21T12:07:00Z")
    (goes_on,) = runs_of(records, [])
    assert (goes_on["result"], goes_on["ended"], goes_on["steps"]) == ("did not end", None, [STEP])
    assert goes_on["started"] == "2026-11-21T12:00:00Z"


def test_an_end_from_before_results_were_recorded_was_a_good_one() -> None:
    records = three_runs()
    for record in records:
        record.pop("result", None)
    assert [each["result"] for each in runs_of(records, [])] == ["done", "did not end", "done"]


def test_a_run_that_holds_a_lock_is_at_work() -> None:
    assert [each["result"] for each in runs_of(three_runs(), [run(2).identity])] == ["done", "at work", "done"]


def test_the_latest_runs_are_kept_whole() -> None:
    kept = latest(three_runs(), 2)
    assert [(record["event"], record["run"] == run(3).identity) for record in kept] == [
        ("started", False),
        ("started", True),
        ("ended", True),
    ]


def test_a_record_is_what_its_lines_say() -> None:
    assert records_from(text_of(three_runs()), "runs.jsonl") == three_runs()


@pytest.mark.parametrize("line", ["{", "1", "[" * 10_000, '{"event": "started"}'])
def test_a_line_that_is_no_record_is_named(line: str) -> None:
    with pytest.raises(Refused, match=r"runs.jsonl: line 2 is no record of a run; move the file away"):
        records_from('{"event": "started", "run": "x"}\n' + line, "runs.jsonl")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_run_is_one_row_of_the_table_whatever_its_record_says(text: str) -> None:
    records = [{**record, "user": text, "limit": text, "result": text} for record in three_runs()]
    table = table_of(runs_of(records_from(text_of(records), "runs.jsonl"), []))
    assert len(table) == 4
    assert list(filter(is_seen, table)) == table
