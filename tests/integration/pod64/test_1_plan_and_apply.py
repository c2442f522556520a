# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A POD64 from nothing: what plan.yml and check mode predict is what apply.yml does."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.integration.pod64.reviewer import CONTROLLER, SERVERS, SWITCH

DEVICES = {SWITCH, CONTROLLER, *SERVERS}
RECORD = "/var/lib/ipu-pod/runs.jsonl"


@pytest.fixture(scope="module")
def plan(first: dict[str, Any]) -> dict[str, Any]:
    """The plan for a fresh pod."""
    document: dict[str, Any] = first["plan"]
    return document


@pytest.fixture(scope="module")
def real(first: dict[str, Any]) -> Any:
    """The run that has carried it out."""
    return first["apply"]


def test_the_first_plan_holds_every_device_and_touches_nothing(first: dict[str, Any], plan: dict[str, Any]) -> None:
    assert first["untouched"]
    assert (plan["unseen"], plan["not_ours"]) == ([], [])
    assert {step["device"] for step in plan["steps"]} == DEVICES
    kinds = Counter(step["kind"] for step in plan["steps"])
    assert (kinds["port"], kinds["agent"], kinds["partition"], kinds["roce"]) == (20, 16, 2, 4)


def test_check_mode_shows_the_plan(first: dict[str, Any]) -> None:
    assert (first["check"].code, first["check"].messages) == (0, "")
    *table, last = first["check"].reported
    assert table == first["output"].splitlines()
    assert last.startswith("nothing was changed; 6 devices looked at in ")


def test_the_plan_is_carried_out_exactly(real: Any, plan: dict[str, Any]) -> None:
    """apply.yml decides once more when it has the locks, and refuses another plan than the saved one."""
    assert (real.code, real.messages) == (0, "")
    assert {host for host, changed in real.changed.items() if changed} == DEVICES
    assert real.reported[-1].startswith(f"{len(plan['steps'])} steps on 6 devices done and verified; ")


def test_check_mode_predicts_what_changes_on_which_host(first: dict[str, Any], real: Any) -> None:
    assert first["check"].predicted == real.done


def test_the_plan_predicts_the_plan_of_every_module(real: Any, plan: dict[str, Any]) -> None:
    plans = [(host, result["plan"]) for host, _task, result in real.tasks if "plan" in result]
    # Of the switch, NICs, RoCE, V-IPU, IPUoF files, and the networks of containers, of which there are none.
    assert len(plans) == 1 + 4 + 4 + 2 + 4 + 4
    planned = [words(step["device"], step) for step in plan["steps"]]
    by_modules = [words(host, step) for host, steps in plans for step in steps]
    for device in DEVICES:
        ours = [step for step in by_modules if step[0] == device]
        assert [step for step in planned if step in ours] == ours


def words(device: str, step: dict[str, Any]) -> tuple[str, ...]:
    """The fields of a step that a module and the plan both report."""
    return (device, *(step[key] for key in ("action", "name", "reason", "risk")))


def test_the_plan_predicts_the_state_after(real: Any, plan: dict[str, Any]) -> None:
    after = {
        (host, "roce" if result["action"] == "ipu.pod.rnic_roce" else kind, name): fields
        for host, _task, result in real.tasks
        for kind, names in result.get("after", {}).items()
        for name, fields in names.items()
    }
    steps = {(step["device"], step["kind"], step["name"]): step["to"] for step in plan["steps"]}
    # Of agents, clusters, allocations, partitions, the switch, NICs, RoCE and IPUoF files.
    assert len(steps.keys() & after.keys()) == 16 + 1 + 1 + 2 + 24 + 4 + 4 + 3 * 4
    for thing in steps.keys() & after.keys():
        assert {**after[thing], **steps[thing]} == after[thing]


def test_a_second_run_changes_nothing_and_takes_no_lock(up: Any) -> None:
    run = up.pod.playbook("site", "--diff")
    assert (run.code, run.messages) == (0, "")
    assert run.changed == dict.fromkeys(run.changed, 0)
    (line,) = run.reported
    assert line.startswith("nothing changed; 6 devices looked at in ")
    started, ended = [json.loads(line) for line in up.pod.inside(CONTROLLER, f"cat {RECORD}").splitlines()]
    assert (started["event"], ended["event"]) == ("started", "ended")
