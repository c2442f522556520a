# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""site.yml on the simulated POD64, from nothing: what check mode foretells is what happens."""

from __future__ import annotations

from typing import Any

import pytest


def outcome(run: Any) -> list[tuple[str, str]]:
    """Which task changed which host; a switch's change that was only foretold has not to be confirmed."""
    return sorted((host, task) for host, task, result in run.tasks if result.get("changed"))


def module_diffs(run: Any) -> dict[tuple[str, str], Any]:
    """The diffs of the collection's own modules, which are the ones with a plan."""
    return {(host, task): (result["diff"], result["plan"]) for host, task, result in run.tasks if "plan" in result}


@pytest.fixture(scope="module")
def runs(fresh_pod: Any) -> dict[str, Any]:
    """A dry run on a fresh pod, the real run that follows, and a second one."""
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


def test_check_mode_foretells_which_task_changes_on_which_host(runs: dict[str, Any]) -> None:
    assert outcome(runs["check"]) == outcome(runs["real"])


def test_check_mode_foretells_the_diff_and_the_plan_of_every_module(runs: dict[str, Any]) -> None:
    foretold = module_diffs(runs["check"])
    assert len(foretold) == 1 + 4 + 4 + 2 + 4
    assert foretold == module_diffs(runs["real"])


def test_check_mode_foretells_the_state_after_but_for_computed_fields(runs: dict[str, Any]) -> None:
    real = {(host, task): result["after"] for host, task, result in runs["real"].tasks if "plan" in result}
    for host, task, result in runs["check"].tasks:
        if "plan" in result:
            for kind, names in result["after"].items():
                assert names.keys() == real[host, task][kind].keys()
                for name, fields in names.items():
                    assert {**real[host, task][kind][name], **fields} == real[host, task][kind][name]


def test_the_first_run_changed_every_device(runs: dict[str, Any]) -> None:
    assert {host for host, changed in runs["real"].changed.items() if changed} == {
        "pod001-tor",
        "ctrl001",
        *(f"pod001-poplar{n}" for n in range(1, 5)),
    }


def test_the_second_run_changes_nothing(runs: dict[str, Any]) -> None:
    assert runs["second"].changed == dict.fromkeys(runs["second"].changed, 0)
