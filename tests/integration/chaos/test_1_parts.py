# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the chaos, without a pod: seeds, the moment when something happens, and what is said of a failure."""

from __future__ import annotations

from itertools import islice, pairwise
from textwrap import indent
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from tests.integration.chaos.declarations import ALWAYS, EDITS
from tests.integration.chaos.disaster import CELLS, Moment, seed_of, seeds
from tests.integration.chaos.run import Run
from tests.integration.chaos.stages import NUMBERED, STAGES, stage_of
from tests.integration.chaos.test_2_seeds import no_sentence, not_true

REMEDY = "it does not answer; start it"


def test_every_seed_declares_what_may_be_declared(declared: dict[str, Any]) -> None:
    found = list(islice(seeds(declared), len(CELLS)))
    for earlier, later in pairwise(found):
        assert later.before == earlier.after != earlier.before
        parse_declaration(later.after)
    assert {seed.edit for seed in found} == EDITS.keys()
    assert {(seed.kind, seed.stage) for seed in found} == set(CELLS)
    assert seed_of(17, declared) == found[17]
    assert {stage for name in ALWAYS for stage in EDITS[name][1]} == set(NUMBERED)


@pytest.mark.parametrize(
    ("tasks_before", "run", "task"),
    [
        (0, ["look", "look", "8", "8", "9", "verify"], 2),
        (1, ["look", "look", "8", "8", "9", "verify"], 3),
        (5, ["look", "look", "8", "8", "9", "verify"], 4),
        (0, ["look", "7", "9", "unlock", "verify", "verify"], 4),
    ],
)
def test_it_happens_once_in_its_stage_or_when_that_has_ended(tasks_before: int, run: list[str], task: int) -> None:
    moment = Moment("8", tasks_before)
    assert [number for number, stage in enumerate(run) if moment.has_come(stage)] == [task]
    assert moment.met == ("8" if "8" in run else "verify")


def test_a_stage_is_known_by_the_name_of_its_play() -> None:
    assert stage_of("9/14 Configure ToR switches") == "9"
    assert stage_of("Report") == ""
    assert len(set(STAGES)) == 16


def run(code: int | None, *messages: str, claimed: str = "") -> Run:
    said = "".join(f"FAILED ctrl001: a task\n{indent(message, '  ')}\n" for message in messages)
    reports = [{"kind": "report", "view": "stage", "host": claimed, "lines": ["something"]}] if claimed else []
    return Run(code, f"14/14 A stage\n{said}\nPLAY RECAP ***\n", reports)


def test_a_failure_is_reported_in_sentences_with_a_remedy() -> None:
    assert run(2, f"{REMEDY}\nNothing has been touched.", "why").failures == [
        f"ctrl001: {REMEDY}\nNothing has been touched.",
        "ctrl001: why",
    ]
    assert list(no_sentence(run(0))) == []
    assert list(no_sentence(run(2, f"{REMEDY}\nNothing has been touched."))) == []
    for wrong in (run(2), run(2, "it does not answer"), run(2, f"{REMEDY} Traceback (most recent call last)")):
        assert len(list(no_sentence(wrong))) == 1


def test_a_report_of_a_device_is_compared_with_it() -> None:
    before = {"pod001-tor": "a", "ctrl001": "b"}
    assert list(not_true([run(0)], before, before, [])) == []
    assert list(not_true([run(0, claimed="ctrl001")], before, {**before, "ctrl001": "c"}, [])) == []
    assert list(not_true([run(2, claimed="ctrl001")], before, before, [])) == [
        "ctrl001 is said to be changed, and is as it was"
    ]
    assert list(not_true([run(0)], before, {**before, "pod001-tor": "c"}, [])) == [
        "pod001-tor is changed, and nothing is said of it"
    ]
