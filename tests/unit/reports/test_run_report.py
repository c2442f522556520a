# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run: a line for each stage and device, and one at the end."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._reports.run_report import (
    done_steps,
    outcome_of,
    report_lines,
    stage_lines,
    with_done,
)
from tests.support.reviewed_pod import plan, step

PORT, VLAN = step(1, "p-tor", "port", "Et1"), step(2, "p-tor", "vlan", "101")
NIC = step(3, "p-poplar1", "interface", "rnic0")
STAGES = {"switches": {"p-tor": [PORT, VLAN]}, "servers": {"p-poplar1": [NIC]}}
ALL = {("switches", "p-tor"), ("servers", "p-poplar1")}
VERIFIED = {*ALL, ("verification", "p-poplar1")}
READING: dict[str, Any] = {
    "looked_at": ["p-tor", "p-poplar1", "ctrl"],
    "notes": [],
    "left_out": [],
    "degraded": [],
    "verifying": ["p-poplar1"],
    "stages": STAGES,
}
LOOKED = "3 devices looked at in 4 s"


def lines(done: Any = frozenset(ALL), is_predicted: bool = False, **reading: Any) -> list[str]:
    return report_lines(plan(PORT, VLAN, NIC), {**READING, **reading}, done, 4, is_predicted)


def test_a_device_has_a_line_in_a_stage_in_which_it_does_something() -> None:
    (line,) = stage_lines(STAGES, "switches", "p-tor")
    assert line.startswith("p-tor: Et1 ")
    assert stage_lines(STAGES, "switches", "p-poplar1") == stage_lines(STAGES, "vpods", "p-tor") == []


@pytest.mark.parametrize(
    ("done", "reading", "last"),
    [
        (VERIFIED, {}, f"3 steps on 2 devices done and verified; {LOOKED}"),
        (
            VERIFIED,
            {"verifying": ["p-poplar1", "p-poplar2"]},
            f"3 steps on 2 devices done and not verified by p-poplar2; {LOOKED}",
        ),
        (ALL, {"verifying": []}, f"3 steps on 2 devices done; {LOOKED}"),
        (
            {("switches", "p-tor")},
            {},
            f"only 2 steps on 1 device done, of 3; run again without --tags and --skip-tags; {LOOKED}",
        ),
        (set(), {"stages": {}}, f"nothing changed; {LOOKED}"),
        (set(), {"stages": {}, "looked_at": ["p-tor"]}, "nothing changed; 1 device looked at in 4 s"),
    ],
)
def test_the_last_line_says_what_was_done(done: Any, reading: Any, last: str) -> None:
    assert lines(done, **reading) == [last]


@pytest.mark.parametrize(
    ("done", "verifying", "result"),
    [
        (VERIFIED, ["p-poplar1"], "done"),
        (ALL, [], "done"),
        (ALL, ["p-poplar1"], "not verified"),
        (VERIFIED, ["p-poplar1", "p-poplar2"], "not verified"),
        ({("switches", "p-tor")}, [], "partly done"),
    ],
)
def test_the_record_says_how_far_the_run_has_come(done: Any, verifying: list[str], result: str) -> None:
    assert outcome_of({**READING, "verifying": verifying}, done) == result


def test_what_is_only_predicted_is_shown_as_the_plan() -> None:
    found = lines(set(), is_predicted=True)
    assert found[-1] == f"nothing was changed; {LOOKED}"
    assert any("update port Et1" in line for line in found)
    assert lines(set(), is_predicted=True, stages={}) == [f"nothing changed; {LOOKED}"]


@pytest.mark.parametrize("is_predicted", [False, True])
def test_what_else_is_known_stands_before_the_last_line(is_predicted: bool) -> None:
    asides = {"notes": ["p-tor: a note"], "left_out": ["Left out by --limit: x"], "degraded": ["p-ipum7 is excluded"]}
    assert lines(is_predicted=is_predicted, **asides)[-4:-1] == [
        "p-tor: a note",
        "Left out by --limit: x",
        "degraded: p-ipum7 is excluded",
    ]


def test_what_was_done_is_known_by_stage_and_device() -> None:
    assert done_steps(STAGES, ALL) == [PORT, VLAN, NIC]
    assert done_steps(STAGES, {("servers", "p-poplar1"), ("servers", "p-tor")}) == [NIC]
    assert done_steps(STAGES, set()) == []


def test_a_plan_that_is_made_again_on_the_way_remembers_what_is_done() -> None:
    again = {"servers": {"p-poplar1": [NIC]}}
    found = with_done(again, {**STAGES, "vpods": {"p-poplar1": [NIC]}}, {("switches", "p-tor")})
    assert found == STAGES
    assert again == {"servers": {"p-poplar1": [NIC]}}
    assert with_done(again, {}, {("switches", "p-tor")}) == again
