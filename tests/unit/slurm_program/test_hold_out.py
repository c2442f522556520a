# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The licences that are held out are those of IPUs that nobody can have."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.hold_out import hold_out, licences_away
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import Settings
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.slurm import Slurm
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from tests.support.slurm_settings import settings

MACHINES = [f"m{number}" for number in range(1, 17)]
PAIRS = {f"n{number}": MACHINES[2 * number : 2 * number + 2] for number in range(8)}
ALL = {"name": "all", "ipus": 32, "gcds": 1, "replicas": 1, "nodes": ["n0"]}


def state(down: tuple[str, ...] = (), **partitions: tuple[str, int]) -> State:
    """A controller with the vPOD's allocation, and partitions by name with their allocation and size."""
    return {
        "agent": {name: {"status": "Down" if name in down else "Up"} for name in MACHINES},
        "allocation": {"jobs": {"agents": MACHINES}},
        "partition": {name: {"allocation": place, "size": size} for name, (place, size) in partitions.items()},
    }


class FakeLicences:
    """Licences, a number of which are held out of Slurm."""

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.changes = 0

    def held_out(self) -> int:
        return self.count

    def hold_out(self, count: int) -> None:
        self.count, self.changes = count, self.changes + 1


def held(there: State | DeviceError, before: int = 0, **changes: Any) -> tuple[int, str]:
    """How many are held out then, and what was said."""

    class FakeController:
        def read(self, kinds: tuple[str, ...]) -> State:
            assert kinds == ("agent", "allocation", "partition")
            if isinstance(there, DeviceError):
                raise there
            return there

    licences = FakeLicences(before)
    summary = hold_out(settings(**changes), cast("Controller", FakeController()), cast("Slurm", licences))
    assert licences.changes == (1 if summary else 0)
    return licences.count, summary


def test_nothing_is_held_out_of_a_vpod_in_order() -> None:
    assert held(state(slurm_12=("jobs", 16), hers=("other", 16))) == (0, "")


def test_machines_that_are_down_and_partitions_that_are_no_jobs() -> None:
    there = state(down=("m16",), slurm_12=("jobs", 16), hers=("jobs", 8))
    why = "m16: Down; partition hers: no job's, with 8 IPUs"
    assert held(there) == (12, f"holds out 12 of 64 IPUs, 0 before: {why}")
    assert held(there, before=12) == (12, "")


def test_what_can_be_had_again_is_given_free() -> None:
    assert held(state(), before=12) == (0, "holds out 0 of 64 IPUs, 12 before: all of them can be had")


def test_without_an_allocation_nothing_can_be_had() -> None:
    there = state()
    there["allocation"] = {}
    assert held(there) == (64, "holds out 64 of 64 IPUs, 0 before: allocation jobs: not there")


def test_an_agent_that_was_removed_is_not_up() -> None:
    there = state()
    del there["agent"]["m3"]
    assert held(there)[0] == 4


def test_a_controller_that_does_not_answer_changes_nothing() -> None:
    with pytest.raises(DeviceError):
        held(DeviceError("no answer"), before=4)


def test_a_reconfigurable_partition_that_is_smaller_than_its_vpod_loses_only_what_is_missing() -> None:
    changes = {"way": "reconfigurable", "partitions": [ALL], "ipus": 32}
    assert held(state(down=("m16",), all=("jobs", 32)), **changes) == (0, "")
    assert held(state(down=("m16",), all=("jobs", 32), hers=("jobs", 32)), **changes)[0] == 4


def test_mapped_machines_in_allocations_of_others_cannot_be_had() -> None:
    there = state(down=("m1",), c12p=("c12", 4))
    there["allocation"] = {"hers": {"agents": ["m3", "m4"]}, "c12": {"agents": ["m5"]}}
    why = "m1: Down; m[3-4]: in allocation hers"
    assert held(there, way="mapping", allocation="", mapping=PAIRS) == (
        12,
        f"holds out 12 of 64 IPUs, 0 before: {why}",
    )


def test_declared_partitions_have_no_licences() -> None:
    assert held(DeviceError("is not asked"), way="static", partitions=[ALL]) == (0, "")


def test_never_more_than_there_are() -> None:
    found: Settings = settings()
    assert licences_away(found, 16, [(64, "a"), (4, "b")]) == 64
