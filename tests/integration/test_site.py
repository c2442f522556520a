# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""site.yml on the simulated POD64, from nothing: what plan and check mode foretell is what happens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

DEVICES = {"pod001-tor", "ctrl001", *(f"pod001-poplar{n}" for n in range(1, 5))}
RECORD = "/var/lib/ipu-pod/runs.jsonl"


@pytest.fixture(scope="module")
def plan(fresh_pod: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The plan for a fresh pod."""
    directory: Path = tmp_path_factory.mktemp("plan")
    code, said = fresh_pod.say("plan", "-e", f"plan_directory={directory}")
    assert code == 0, said
    document: dict[str, Any] = json.loads((directory / "plan.json").read_text())
    return {**document, "said": said}


@pytest.fixture(scope="module")
def runs(fresh_pod: Any, plan: dict[str, Any]) -> dict[str, Any]:
    """A dry run on the pod of that plan, the real run that follows, and a second one."""
    assert plan["steps"]
    before = fresh_pod.fingerprint()
    writes = fresh_pod.write_requests()
    found = {"check": fresh_pod.playbook("site", "--check", "--diff")}
    assert fresh_pod.fingerprint() == before
    assert fresh_pod.write_requests() == writes
    found["real"] = fresh_pod.playbook("site", "--diff")
    found["second"] = fresh_pod.playbook("site", "--diff")
    return found


def test_all_three_runs_succeed(runs: dict[str, Any]) -> None:
    assert {name: (run.code, run.messages) for name, run in runs.items()} == dict.fromkeys(runs, (0, ""))


def test_check_mode_shows_the_plan(runs: dict[str, Any], plan: dict[str, Any]) -> None:
    *table, last = runs["check"].told
    assert table == plan["said"].splitlines()
    assert last.startswith("nothing was changed; 6 devices looked at in ")


def test_check_mode_foretells_what_changes_on_which_host(runs: dict[str, Any]) -> None:
    assert runs["check"].foretold == runs["real"].done


def test_the_plan_foretells_the_plan_of_every_module(runs: dict[str, Any], plan: dict[str, Any]) -> None:
    plans = [(host, result["plan"]) for host, _task, result in runs["real"].tasks if "plan" in result]
    assert len(plans) == 1 + 4 + 4 + 2 + 4
    planned = [words(step["device"], step) for step in plan["steps"]]
    by_modules = [words(host, step) for host, steps in plans for step in steps]
    for device in DEVICES:
        ours = [step for step in by_modules if step[0] == device]
        assert [step for step in planned if step in ours] == ours


def words(device: str, step: dict[str, Any]) -> tuple[str, ...]:
    """What a module and the plan both say of a step."""
    return (device, *(step[key] for key in ("action", "name", "reason", "risk")))


def test_the_plan_foretells_the_state_after(runs: dict[str, Any], plan: dict[str, Any]) -> None:
    after = {
        (host, "roce" if result["action"] == "ipu.pod.rnic_roce" else kind, name): fields
        for host, _task, result in runs["real"].tasks
        for kind, names in result.get("after", {}).items()
        for name, fields in names.items()
    }
    steps = {(step["device"], step["kind"], step["name"]): step["to"] for step in plan["steps"]}
    # Of agents, clusters, allocations, partitions, the switch, NICs, RoCE and IPUoF files.
    assert len(steps.keys() & after.keys()) == 16 + 1 + 1 + 2 + 24 + 4 + 4 + 3 * 4
    for thing in steps.keys() & after.keys():
        assert {**after[thing], **steps[thing]} == after[thing]


def test_the_first_run_changed_every_device_and_says_so(runs: dict[str, Any], plan: dict[str, Any]) -> None:
    assert {host for host, changed in runs["real"].changed.items() if changed} == DEVICES
    assert runs["real"].told[-1].startswith(f"{len(plan['steps'])} steps on 6 devices done and verified; ")


def test_the_second_run_changes_nothing_and_takes_no_lock(fresh_pod: Any, runs: dict[str, Any]) -> None:
    assert runs["second"].changed == dict.fromkeys(runs["second"].changed, 0)
    (line,) = runs["second"].told
    assert line.startswith("nothing changed; 6 devices looked at in ")
    started, ended = [json.loads(line) for line in fresh_pod.inside("ctrl001", f"cat {RECORD}").splitlines()]
    assert (started["event"], ended["event"]) == ("started", "ended")
