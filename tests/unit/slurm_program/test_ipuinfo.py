# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output of `ipuinfo`, from the answers of Slurm and V-IPU."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.job import Job
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.note import note_from
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.report import largest_block, report
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.slurm import Slurm
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller, NotDone
from tests.support.slurm_settings import settings

MACHINES = [f"m{number}" for number in range(1, 17)]
ADDRESSES = {f"10.5.1.{number}": f"m{number}" for number in range(1, 17)}
MAPPING = {"n1": ["m1", "m2"], "n2": ["m3", "m4"], "n3": ["m5", "m6"]}


def job(number: int, state: str = "RUNNING", note: str = "", ipus: int = 0, name: str = "", nodes: str = "n1") -> Job:
    licenses = {"ipu": ipus} if ipus else {}
    held = nodes if state != "PENDING" else ""
    return Job(number, name or str(number), 1000, True, True, state, "ipu", held, licenses, note_from(note))


@dataclass
class FakeSlurm:
    """Jobs, and what else Slurm says."""

    jobs_there: Sequence[Job] = ()
    reasons: dict[int, str] = field(default_factory=dict)
    free: int = 64
    out: int = 0
    not_understood: Sequence[str] = ()

    def jobs(self) -> tuple[list[Job], list[str]]:
        return list(self.jobs_there), list(self.not_understood)

    def owners_and_reasons(self) -> dict[int, tuple[str, str]]:
        return {job.id: ("alice", self.reasons.get(job.id, "None")) for job in self.jobs_there}

    def hosts(self, nodes: str) -> list[str]:
        return nodes.split(",") if nodes else []

    def free_licenses(self) -> int:
        return self.free

    def held_out(self) -> int:
        return self.out


@dataclass
class FakeController:
    """Partitions by name: the first IPU of each GCD, counted through the IPU-Machines, and how many it has."""

    partitions: dict[str, tuple[Sequence[int], int]] = field(default_factory=dict)
    gone: Sequence[str] = ()
    down: Sequence[str] = ()
    kinds: Sequence[str] = ("agent", "cluster", "allocation", "user", "partition")

    def read(self, kinds: Sequence[str]) -> State:
        state: State = {
            "agent": {name: {"status": "Down" if name in self.down else "Up"} for name in MACHINES},
            "allocation": {"jobs": {"agents": MACHINES}},
            "partition": {
                name: {"allocation": "jobs", "size": len(gcds) * size, "gcds": len(gcds), "status": "ACTIVE"}
                for name, (gcds, size) in self.partitions.items()
            },
        }
        return {kind: state[kind] for kind in kinds}

    def ipuof_configuration(self, name: str, gcd: int) -> dict[str, Any]:
        if name in self.gone:
            raise NotDone(f"there is no {name}", "")
        gcds, size = self.partitions[name]
        ipus = range(gcds[gcd], gcds[gcd] + size)
        return {"devices": [{"ip": f"10.5.1.{ipu // 4 + 1}", "device_id": ipu % 4} for ipu in ipus]}


def output(slurm: FakeSlurm, controller: FakeController | None, *words: str, **changes: Any) -> str:
    where = settings(ipu_machines=ADDRESSES, **changes)
    return report(where, words, cast("Slurm", slurm), cast("Controller | None", controller))


def test_a_vpod_without_jobs() -> None:
    assert output(FakeSlurm(), FakeController()).splitlines() == [
        "No job has IPUs or waits for some.",
        "",
        "vPOD jobs, dynamic: 64 of 64 IPUs are free, 64 of them in one block",
    ]


def test_who_has_what_and_who_waits() -> None:
    slurm = FakeSlurm(
        [
            job(14, note="ipu.pod ipus=4 gcds=1 partition=slurm_14", ipus=4, name="13_2"),
            job(15, "PENDING", "ipu.pod ipus=32 gcds=1 waits=no free block of 32 IPUs", 32),
            job(16, "PENDING", "ipu.pod ipus=64 gcds=1", 64),
            job(12, note="ipu.pod ipus=16 gcds=2 partition=slurm_12", ipus=16, nodes="n[1-2]"),
            job(17),
        ],
        {15: "BeginTime", 16: "Licenses"},
        free=32,
        out=12,
    )
    controller = FakeController({"slurm_12": ([0, 8], 8), "slurm_14": ([16], 4), "hers": ([48], 8)}, down=["m9"])
    assert output(slurm, controller).splitlines() == [
        "JOB        USER   STATE    PARTITION  IPUS  GCDS  NODES   IPU-MACHINES, OR WHY IT WAITS",
        "12         alice  RUNNING  slurm_12   16    2     n[1-2]  m[1-4]",
        "14 (13_2)  alice  RUNNING  slurm_14   4     1     n1      m5",
        "15         alice  PENDING  -          32    1     -       no free block of 32 IPUs",
        "16         alice  PENDING  -          64    1     -       Licenses",
        "",
        "vPOD jobs, dynamic: 32 of 64 IPUs are free, 8 of them in one block",
        "held out: 12 IPUs that no job can have",
        "  m9: Down",
        "  partition hers: no job's, with 8 IPUs",
    ]


def test_a_job_that_is_not_understood_is_shown_so_beside_the_others() -> None:
    there = job(12, note="ipu.pod ipus=4 gcds=1 partition=slurm_12", ipus=4)
    slurm = FakeSlurm([there], not_understood=["job 5 is not understood"])
    lines = output(slurm, FakeController({"slurm_12": ([0], 4)})).splitlines()
    assert (lines[1].split()[0], lines[-1]) == ("12", "job 5 is not understood")


def test_programs_get_the_same() -> None:
    slurm = FakeSlurm([job(12, note="ipu.pod ipus=4 gcds=1 partition=slurm_12", ipus=4)], free=60)
    found = json.loads(output(slurm, FakeController({"slurm_12": ([0], 4)}), "--json"))
    (only,) = found.pop("jobs")
    assert (only["job"], only["partitions"], only["ipu_machines"]) == (12, ["slurm_12"], ["m1"])
    assert found == {
        "vpod": "jobs",
        "way": "dynamic",
        "ipus": 64,
        "free_ipus": 60,
        "largest_free_block": 32,
        "held_out_ipus": 0,
        "held_out": [],
        "unmapped_ipus": 0,
        "not_understood": [],
        "unknown": "",
    }


def test_a_job_that_is_queued_again_has_no_partition_any_more() -> None:
    again = job(12, "PENDING", "ipu.pod ipus=4 gcds=1 partition=slurm_12", 4)
    assert output(FakeSlurm([again], {12: "BeginTime"}), FakeController()).splitlines()[1].split() == [
        *("12", "alice", "PENDING", "-", "4", "1", "-", "BeginTime")
    ]


def test_a_job_that_runs_does_not_wait() -> None:
    there = job(12, "RUNNING", "ipu.pod ipus=8 allocation=c12")
    shown = output(FakeSlurm([there], {12: "Prolog"}), FakeController(), way="mapping", allocation="", mapping=MAPPING)
    assert shown.splitlines()[1].split() == ["12", "alice", "RUNNING", "c12", "8", "-", "n1", "m[1-2]"]


def test_users_see_partitions_but_no_agents() -> None:
    controller = FakeController({"hers": ([0], 16)}, down=["m9"], kinds=("allocation", "partition"))
    assert output(FakeSlurm(free=44, out=20), controller).splitlines()[2:] == [
        "vPOD jobs, dynamic: 44 of 64 IPUs are free, 32 of them in one block",
        "held out: 20 IPUs that no job can have",
        "  partition hers: no job's, with 16 IPUs",
    ]


def test_what_a_foreign_partition_holds_is_not_free_although_slurm_does_not_know_of_it_yet() -> None:
    slurm = FakeSlurm([job(12, note="ipu.pod ipus=4 gcds=1 partition=slurm_12", ipus=4)], free=56, out=4)
    controller = FakeController({"slurm_12": ([0], 4), "hers": ([16], 16), "slurm_7": ([32], 8)}, down=["m16"])
    assert output(slurm, controller).splitlines()[-5:] == [
        "vPOD jobs, dynamic: 32 of 64 IPUs are free, 8 of them in one block",
        "held out: 28 IPUs that no job can have",
        "  m16: Down",
        "  partition hers: no job's, with 16 IPUs",
        "  partition slurm_7: no job's, with 8 IPUs",
    ]


def test_nor_is_that_of_a_job_on_its_way_out() -> None:
    leaving = job(12, "COMPLETING", "ipu.pod ipus=16 gcds=1 partition=slurm_12", 16)
    lines = output(FakeSlurm([leaving], free=64), FakeController({"slurm_12": ([0], 16)})).splitlines()
    assert "vPOD jobs, dynamic: 48 of 64 IPUs are free, 32 of them in one block" in lines


def test_a_declared_partition_in_whose_place_somebody_else_has_made_one_is_not_free() -> None:
    declared = [{"name": f"s{size}", "ipus": size, "gcds": 1, "replicas": 1, "nodes": ["n1"]} for size in (4, 8, 16)]
    words: dict[str, Any] = {"way": "static", "partitions": declared}
    for foreign, free in ((32, 28), (40, 12), (60, 4)):
        # What is not there is made anew before a job of it, where there is room.
        there = FakeController({"s4": ([0], 4), "hers": ([4], foreign)})
        assert f"vPOD jobs, static: {free} of 64 IPUs are free" in output(FakeSlurm(), there, **words).splitlines()
    assert "vPOD jobs, static: 28 of 64 IPUs are free" in output(FakeSlurm(), None, **words).splitlines()


def test_mapped_machines_in_an_allocation_of_somebody_else_are_not_free() -> None:
    class Theirs(FakeController):
        def read(self, kinds: Sequence[str]) -> State:
            return {**super().read(kinds), "allocation": {"hers": {"agents": ["m3", "m4"]}}}

    lines = output(FakeSlurm(), Theirs(), way="mapping", allocation="", mapping=MAPPING).splitlines()
    assert lines[2:5] == [
        "vPOD jobs, mapping: 16 of 64 IPUs are free",
        "held out: 48 IPUs that no job can have",
        "  m[3-4]: in allocation hers",
    ]


def test_without_v_ipu_slurm_still_knows_a_lot() -> None:
    slurm = FakeSlurm([job(12, note="ipu.pod ipus=16 gcds=2 partition=slurm_12", ipus=16)], free=48)
    expected = ["12", "alice", "RUNNING", "slurm_12", "16", "2", "n1", "-"]
    for controller, why in ((None, "V-IPU cannot be asked from here"), (Silent(), "no answer")):
        lines = output(slurm, controller).splitlines()
        assert lines[1].split() == expected
        assert lines[-2:] == ["vPOD jobs, dynamic: 48 of 64 IPUs are free", f"{why}; this is what Slurm knows"]


class Silent(FakeController):
    """It is off."""

    def read(self, kinds: Sequence[str]) -> State:
        assert kinds
        raise DeviceError("no answer")


def test_a_partition_that_has_just_gone_is_no_error_and_its_place_is_not_known() -> None:
    controller = FakeController({"slurm_12": ([0], 4), "slurm_13": ([4], 4)}, gone=["slurm_12"])
    slurm = FakeSlurm([job(number, ipus=4) for number in (12, 13)], free=56)
    assert output(slurm, controller).splitlines()[-1] == "vPOD jobs, dynamic: 56 of 64 IPUs are free"


def test_where_an_address_is_of_no_known_machine_no_block_is_shown() -> None:
    slurm = FakeSlurm([job(12, note="ipu.pod ipus=4 gcds=1 partition=slurm_12", ipus=4)], free=60)
    where = settings(ipu_machines={"10.5.1.2": "m2"})
    shown = report(where, (), cast("Slurm", slurm), cast("Controller", FakeController({"slurm_12": ([0], 4)})))
    assert shown.splitlines()[1].endswith("10.5.1.1")
    assert shown.splitlines()[-1] == "vPOD jobs, dynamic: 60 of 64 IPUs are free"


def test_declared_partitions_are_free_if_no_job_has_them() -> None:
    declared = [{"name": f"s{size}", "ipus": size, "gcds": 1, "replicas": 1, "nodes": ["n1"]} for size in (4, 8, 16)]
    note = "ipu.pod ipus=12 gcds=1 replicas=1 partition=s4 partitions=s4,s8"
    controller = FakeController({"s4": ([0], 4), "s8": ([8], 8), "s16": ([16], 16)})
    for state, free in (("RUNNING", 16), ("COMPLETING", 16), ("PENDING", 28)):
        lines = output(FakeSlurm([job(12, state, note)]), controller, way="static", partitions=declared).splitlines()
        assert lines[-1] == f"vPOD jobs, static: {free} of 64 IPUs are free"
        if state == "RUNNING":
            assert lines[1].split()[3:] == ["s4,s8", "12", "1", "n1", "m[1,3-4]"]


def test_mapped_ipus_are_free_if_their_node_has_no_ipu_job() -> None:
    there = [job(12, note="ipu.pod ipus=16 allocation=c12", nodes="n1,n3")]
    lines = output(FakeSlurm(there), None, way="mapping", allocation="", mapping=MAPPING).splitlines()
    assert lines[1].endswith("m[1-2,5-6]")
    assert lines[-3:-1] == [
        "vPOD jobs, mapping: 8 of 64 IPUs are free",
        "unmapped: 40 IPUs that belong to no node",
    ]


def test_mapped_ipus_that_are_held_out_are_not_free() -> None:
    # 40 belong to no node.
    lines = output(FakeSlurm(out=48), None, way="mapping", allocation="", mapping=MAPPING).splitlines()
    assert "vPOD jobs, mapping: 16 of 64 IPUs are free" in lines


@pytest.mark.parametrize(
    ("taken", "size"),
    [
        ((), 64),
        ((0,), 32),
        ((0, 32), 16),
        ((8, 24, 40, 56), 8),
        (range(0, 64, 2), 1),
        (range(0, 64, 4), 2),
        (range(64), 0),
    ],
)
def test_a_block_begins_at_a_multiple_of_its_size(taken: Sequence[int], size: int) -> None:
    assert largest_block([number not in taken for number in range(64)]) == size


def test_a_block_beyond_an_ild_is_whole_ilds() -> None:
    assert largest_block([True] * 192) == 192
    assert largest_block([number >= 64 for number in range(192)]) == 128
    assert largest_block([number != 70 for number in range(192)]) == 64
