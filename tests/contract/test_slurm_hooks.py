# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hooks on the Slurm controller against the simulated V-IPU controller, with Slurm's answers made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.directory import Directory
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.hooks import (
    LEAVING_LIMIT,
    PROCESSES_LIMIT,
    ROOM_LIMIT,
    Hooks,
)
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.program import way_of
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.ways import Way
from tests.support.in_memory.controller import InProcess
from tests.support.in_memory.slurm import NODES, FakeJob, FakeSlurm
from tests.support.slurm_settings import settings

MACHINES = [f"pod001-ipum{number}" for number in range(1, 17)]


class Bed:
    """A pod of 64 IPUs, a Slurm cluster, and the hooks of one way between them."""

    def __init__(self, directory: Path, **changes: Any) -> None:
        self.vipu = InProcess()
        for number, name in enumerate(MACHINES, 1):
            self.vipu.controller.create_agent(name, f"10.2.1.{number}", 8080)
        self.admin("create", "cluster", "c001", "--agents", ",".join(MACHINES), "--topology", "torus")
        if not changes.get("mapping") and not changes.get("allocation"):
            self.admin("create", "allocation", "jobs", "--size", "64")
        self.slurm = FakeSlurm()
        self.log: list[str] = []
        self.directory = Directory(str(directory))
        self.way: Way = way_of(settings(**changes), self.vipu.client, self.slurm.client, self.directory)
        self.during_wait: Callable[[], None] = lambda: None
        self.hooks = Hooks(
            self.way, self.slurm.client, self.directory, self.log.append, lambda: self.slurm.now, self._wait
        )
        self.vipu.calls.clear()

    def admin(self, *words: str) -> None:
        code, _output, errors = self.vipu.run(["vipu-admin", "-H", "localhost", "-P", "8091", *words])
        assert code == 0, errors

    def start(self, job: FakeJob) -> int:
        """The job's prolog; what it needs while it waits comes from `during_wait`."""
        self.slurm.add(job)
        return self.hooks.prolog(job.id)

    def end(self, number: int) -> int:
        """The job's epilog, when all its nodes have finished."""
        self.slurm.jobs[number].state, self.slurm.jobs[number].nodes = "COMPLETING", ()
        code = self.hooks.epilog(number)
        del self.slurm.jobs[number]
        return code

    def reap(self) -> None:
        self.hooks.reap()

    @property
    def partitions(self) -> dict[str, tuple[int, int, int]]:
        found = self.vipu.client.read(("partition",))["partition"]
        return {name: (fields["size"], fields["gcds"], fields["replicas"]) for name, fields in found.items()}

    @property
    def allocations(self) -> dict[str, list[str]]:
        return {name: list(a.agent_ids) for name, a in self.vipu.controller.state().allocations.items()}

    @property
    def users(self) -> list[str]:
        return list(self.vipu.controller.state().users)

    def notes(self, number: int) -> str:
        return self.slurm.jobs[number].note

    def _wait(self, seconds: float) -> None:
        self.slurm.now += seconds
        self.during_wait()


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    return Bed(tmp_path)


@pytest.fixture
def static(tmp_path: Path) -> Iterator[Bed]:
    partitions = [
        {"name": name, "ipus": ipus, "gcds": gcds, "replicas": gcds, "nodes": nodes}
        for name, ipus, gcds, nodes in [
            ("a", 4, 1, NODES[:1]),
            ("b", 4, 1, NODES[:1]),
            ("c", 4, 1, NODES[1:2]),
            ("x", 16, 2, NODES[2:]),
        ]
    ]
    bed = Bed(tmp_path, way="static", partitions=partitions)
    for entry in partitions:
        shape = ("--size", str(entry["ipus"]), "--num-gcds", str(entry["gcds"]))
        bed.admin("create", "partition", str(entry["name"]), "--allocation", "jobs", *shape)
    bed.vipu.calls.clear()
    return bed


def mapping_bed(directory: Path, **changes: Any) -> Bed:
    mapping = {node: MACHINES[4 * number : 4 * number + 4] for number, node in enumerate(NODES)}
    return Bed(directory, way="mapping", allocation="", mapping=mapping, **changes)


@pytest.fixture
def mapping(tmp_path: Path) -> Bed:
    return mapping_bed(tmp_path)


@pytest.fixture
def with_users(tmp_path: Path) -> Bed:
    return mapping_bed(tmp_path, job_users=True)


@pytest.fixture
def shared(tmp_path: Path) -> Bed:
    partition = {"name": "all", "ipus": 64, "gcds": 1, "replicas": 1, "nodes": NODES}
    bed = Bed(tmp_path, way="reconfigurable", partitions=[partition])
    bed.admin("create", "partition", "all", "--allocation", "jobs", "--size", "64", "--reconfigurable")
    bed.vipu.calls.clear()
    return bed


# Each way


def test_dynamic_makes_the_partition_that_was_asked_for_and_removes_it(bed: Bed) -> None:
    assert bed.start(FakeJob(5, 16, NODES, note="ipu.pod ipus=16 gcds=4 replicas=8")) == 0
    (call,) = bed.vipu.calls
    assert " ".join(call) == ("create partition slurm_5 --size 16 --allocation jobs --num-gcds 4 --gcd-sync-replicas 8")
    assert bed.partitions == {"slurm_5": (16, 4, 8)}
    assert bed.notes(5) == "ipu.pod ipus=16 gcds=4 replicas=8 partition=slurm_5"
    assert bed.end(5) == 0
    assert bed.partitions == {}


@pytest.mark.parametrize(
    "note",
    [
        "",
        "ipu.pod ipus=64 gcds=4 replicas=4",
        "ipu.pod ipus=16 gcds=3",
        "ipu.pod ipus=16 gcds=32 replicas=32",
        "ipu.pod ipus=16 gcds=4 replicas=2",
        "ipu.pod gcds=2",
    ],
)
def test_dynamic_gives_what_slurm_has_counted_whatever_the_note_says(bed: Bed, note: str) -> None:
    assert bed.start(FakeJob(5, 16, note=note)) == 0
    assert bed.partitions == {"slurm_5": (16, 1, 1)}


def test_static_claims_partitions_of_the_jobs_nodes_and_resets_them(static: Bed) -> None:
    assert static.start(FakeJob(5, nodes=NODES[:2], gres={NODES[0]: "vipu:4(CNT:2)", NODES[1]: "vipu:4(CNT:1)"})) == 0
    assert static.notes(5) == "ipu.pod ipus=12 gcds=1 replicas=1 partition=a partitions=a,b,c"
    assert static.vipu.calls == [["--showjson", "list", "partitions"]]
    assert static.end(5) == 0
    assert [call for call in static.vipu.calls if call[0] == "reset"] == [
        ["reset", "partition", name] for name in "abc"
    ]
    assert static.way.held() == set()


def test_static_gives_a_partition_of_several_gcds_to_its_nodes_together(static: Bed) -> None:
    both = {NODES[2]: "vipu:16(CNT:1)", NODES[3]: "vipu:16(CNT:1)"}
    assert static.start(FakeJob(5, nodes=NODES[2:], gres=both)) == 0
    assert static.notes(5) == "ipu.pod ipus=16 gcds=2 replicas=2 partition=x partitions=x"
    assert static.start(FakeJob(6, nodes=NODES[2:3], gres={NODES[2]: "vipu:16(CNT:1)"})) == 1
    assert static.notes(6) == (
        "ipu.pod waits=partitions are in use, or belong to other nodes: 1 of 16 IPUs on pod001-poplar3"
    )


def test_static_gives_each_partition_to_one_job(static: Bed) -> None:
    assert static.start(FakeJob(5, gres={NODES[0]: "vipu:4(CNT:1)"})) == 0
    assert static.start(FakeJob(6, gres={NODES[0]: "vipu:4(CNT:2)"})) == 1
    assert static.start(FakeJob(7, gres={NODES[0]: "vipu:4(CNT:1)"})) == 0
    assert (static.notes(5)[-1], static.notes(7)[-1]) == ("a", "b")


def test_static_makes_anew_what_jobs_have_changed(static: Bed) -> None:
    job = FakeJob(5, gres={NODES[0]: "vipu:4(CNT:2)"})
    static.admin("remove", "partition", "a")
    assert static.start(job) == 0
    assert static.partitions["a"] == (4, 1, 1)
    static.admin("remove", "partition", "b")
    static.admin("create", "partition", "b", "--size", "2", "--allocation", "jobs")
    assert static.end(5) == 0
    assert static.partitions["b"] == (4, 1, 1)


def test_mapping_makes_an_allocation_of_the_nodes_machines(mapping: Bed) -> None:
    assert mapping.start(FakeJob(5, nodes=NODES[:2])) == 0
    assert mapping.allocations == {"c5": MACHINES[:8]}
    assert mapping.notes(5) == "ipu.pod ipus=32 allocation=c5"
    mapping.admin("create", "partition", "my-own", "--size", "4", "--allocation", "c5")
    assert mapping.end(5) == 0
    assert (mapping.allocations, mapping.partitions) == ({}, {})


def test_mapping_makes_a_partition_where_ipus_are_asked_for(mapping: Bed) -> None:
    assert mapping.start(FakeJob(5, 32, NODES[2:], note="ipu.pod ipus=32 gcds=2 replicas=2")) == 0
    assert mapping.partitions == {"p5": (32, 2, 2)}
    assert mapping.notes(5) == "ipu.pod ipus=32 allocation=c5 gcds=2 replicas=2 partition=p5"
    assert mapping.end(5) == 0
    assert (mapping.allocations, mapping.partitions) == ({}, {})


def test_mapping_gives_each_job_a_user_whose_key_is_for_root_alone(with_users: Bed) -> None:
    assert with_users.start(FakeJob(5)) == 0
    assert with_users.users == ["j5"]
    sealed = with_users.notes(5).partition("access=")[2]
    assert len(with_users.slurm.client.secret_of(sealed)) > 8
    assert with_users.slurm.client.secret_of(sealed) not in " ".join(with_users.log)
    assert with_users.end(5) == 0
    assert (with_users.users, with_users.allocations) == ([], {})


def test_mapping_leaves_jobs_of_other_slurm_partitions_and_nodes_alone(tmp_path: Path) -> None:
    mapping = mapping_bed(tmp_path, slurm_partitions=["ipu"])
    assert mapping.start(FakeJob(5, partition="cpu")) == 0
    assert mapping.end(5) == 0
    assert mapping.start(FakeJob(6, nodes=("another",))) == 0
    assert mapping.vipu.calls == []


def test_reconfigurable_shares_the_one_partition(shared: Bed) -> None:
    assert [shared.start(FakeJob(number, 32)) for number in (5, 6)] == [0, 0]
    assert shared.notes(5) == "ipu.pod ipus=32 partition=all"
    assert [shared.end(number) for number in (5, 6)] == [0, 0]
    assert shared.partitions == {"all": (64, 1, 1)}
    shared.admin("remove", "partition", "all")
    assert shared.start(FakeJob(7, 4)) == 1
    assert shared.notes(7) == "ipu.pod waits=partition all is not there; run vpods.yml, or wait until it is up"


@pytest.mark.parametrize("name", ["bed", "static", "shared"])
def test_a_job_without_ipus_costs_no_request(name: str, request: pytest.FixtureRequest) -> None:
    bed: Bed = request.getfixturevalue(name)
    assert bed.start(FakeJob(5, gres={NODES[0]: ""})) == 0
    assert bed.end(5) == 0
    assert (bed.vipu.calls, bed.slurm.commands) == ([], [])


# No room


def test_a_batch_job_that_finds_no_block_goes_back_and_says_why(bed: Bed) -> None:
    for number, index in enumerate((0, 2)):
        bed.admin("create", "partition", f"mine{number}", "--size", "16", "--allocation", "jobs", "--index", str(index))
    assert bed.start(FakeJob(5, 32, note="ipu.pod ipus=32 gcds=1 replicas=1")) == 1
    reason = (
        "create partition (slurm_5): failed: no free block of 32 IPUs in allocation 'jobs': 32 of its 64 IPUs are free."
    )
    assert bed.notes(5) == f"ipu.pod ipus=32 gcds=1 replicas=1 waits={reason}"
    assert bed.log == [f"job 5 does not start: {reason}"]
    assert bed.slurm.now == 0
    bed.admin("remove", "partition", "mine0")
    assert bed.hooks.prolog(5) == 0
    assert bed.notes(5) == "ipu.pod ipus=32 gcds=1 replicas=1 partition=slurm_5"


@pytest.mark.parametrize(
    "job", [FakeJob(5, 64, batch=False), FakeJob(5, 64, requeue=False)], ids=["srun", "no-requeue"]
)
def test_a_job_that_would_be_lost_waits_until_there_is_room(bed: Bed, job: FakeJob) -> None:
    bed.admin("create", "partition", "mine", "--size", "4", "--allocation", "jobs")

    def free_it() -> None:
        if bed.slurm.now > 100 and "mine" in bed.partitions:
            bed.admin("remove", "partition", "mine")

    bed.during_wait = free_it
    assert bed.start(job) == 0
    assert bed.slurm.now > 100
    why, end = bed.log
    assert why.startswith("job 5 does not start: create partition (slurm_5): failed: no free block")
    assert end == "job 5: has slurm_5 with 64 IPUs"


def test_the_user_of_a_waiting_job_is_notified_once_of_the_reason(bed: Bed) -> None:
    bed.admin("create", "partition", "mine", "--size", "4", "--allocation", "jobs")
    bed.during_wait = lambda: bed.admin("remove", "partition", "mine") if bed.slurm.now == 10 else None
    assert bed.start(FakeJob(5, 64, batch=False)) == 0
    (notification,) = [command for command in bed.slurm.commands if command[1] == "notify"]
    assert notification[2] == "5"
    assert notification[3].startswith("create partition (slurm_5): failed: no free block of 64 IPUs")
    assert notification[3].endswith("; waits for room, 10 minutes at most")


@pytest.mark.parametrize(
    "job", [FakeJob(5, 64, batch=False), FakeJob(5, 64, requeue=False)], ids=["srun", "no-requeue"]
)
def test_but_it_does_not_keep_its_nodes_for_ever_and_says_so(bed: Bed, job: FakeJob) -> None:
    bed.admin("create", "partition", "mine", "--size", "4", "--allocation", "jobs")
    bed.during_wait = lambda: pytest.fail("it waits on") if bed.slurm.now > ROOM_LIMIT + 5 else None
    assert bed.start(job) == 1
    assert ROOM_LIMIT <= bed.slurm.now < ROOM_LIMIT + 5
    why = "there was no room for its IPUs in 10 minutes; submit it again, or with sbatch"
    assert bed.log[-1] == f"job 5 ends: {why}"
    told = [command[3] for command in bed.slurm.commands if command[1] == "notify"]
    assert told[1:] == ([] if job.batch else [f"this job ends: {why}"])
    assert list(bed.partitions) == ["mine"]


def test_a_job_that_is_cancelled_while_it_waits_stops_waiting(bed: Bed) -> None:
    bed.admin("create", "partition", "mine", "--size", "4", "--allocation", "jobs")
    bed.during_wait = lambda: setattr(bed.slurm.jobs[5], "state", "COMPLETING")
    assert bed.start(FakeJob(5, 64, batch=False)) == 1


def test_a_batch_job_waits_for_a_partition_that_is_on_its_way_out(bed: Bed) -> None:
    assert bed.start(FakeJob(4, 64)) == 0
    bed.slurm.jobs[4].state = "COMPLETING"
    bed.during_wait = lambda: bed.end(4) and None if 4 in bed.slurm.jobs else None
    assert bed.start(FakeJob(5, 64)) == 0
    assert bed.partitions == {"slurm_5": (64, 1, 1)}


def test_a_batch_job_does_not_wait_for_it_for_ever(bed: Bed) -> None:
    assert bed.start(FakeJob(4, 64)) == 0
    bed.slurm.jobs[4].state = "COMPLETING"
    assert bed.start(FakeJob(5, 64)) == 1
    assert LEAVING_LIMIT <= bed.slurm.now < LEAVING_LIMIT + 5


def test_mapping_waits_for_the_machines_of_a_job_that_is_on_its_way_out(mapping: Bed) -> None:
    assert mapping.start(FakeJob(4)) == 0
    mapping.slurm.jobs[4].state = "COMPLETING"
    mapping.during_wait = lambda: mapping.end(4) and None if 4 in mapping.slurm.jobs else None
    assert mapping.start(FakeJob(5)) == 0
    assert mapping.allocations == {"c5": MACHINES[:4]}


# Failures


@pytest.mark.parametrize("batch", [True, False])
def test_a_controller_that_does_not_answer_ends_the_prolog(bed: Bed, batch: bool) -> None:
    bed.vipu._alive = False
    assert bed.start(FakeJob(5, 16, batch=batch)) == 1
    assert "no V-IPU controller at localhost:8091" in bed.notes(5)
    bed.vipu.start()
    assert bed.partitions == {}


def test_nothing_is_left_when_the_note_cannot_be_written(bed: Bed) -> None:
    bed.slurm.refused.add("scontrol update")
    assert bed.start(FakeJob(5, 16)) == 1
    assert bed.partitions == {}


def test_dynamic_makes_a_partition_elsewhere_where_a_machine_is_down(bed: Bed) -> None:
    bed.vipu.fleet.down.add(MACHINES[0])
    bed.vipu.controller.poll()
    assert bed.start(FakeJob(5, 16)) == 0
    (partition,) = bed.vipu.controller.state().partitions.values()
    assert (partition.id, partition.ready_state) == ("slurm_5", "PS_ACTIVE")
    assert MACHINES[0] not in bed.vipu.controller.state().agents_of(partition)


def test_dynamic_leaves_nothing_where_no_place_comes_up(bed: Bed) -> None:
    bed.vipu.failing.add("slurm_5")
    assert bed.start(FakeJob(5, 32)) == 1
    assert "IPU-Link training failed" in bed.notes(5)
    assert bed.partitions == {}


def test_mapping_leaves_nothing_half_made(with_users: Bed) -> None:
    with_users.vipu.failing.add("p5")
    assert with_users.start(FakeJob(5, 16, note="ipu.pod ipus=16 gcds=1")) == 1
    assert (with_users.partitions, with_users.allocations, with_users.users) == ({}, {}, [])


def test_mapping_leaves_nothing_whose_key_cannot_be_handed_over(with_users: Bed) -> None:
    with_users.slurm.refused.add("munge --restrict-uid=0")
    assert with_users.start(FakeJob(5, 16, note="ipu.pod ipus=16 gcds=1")) == 1
    assert (with_users.partitions, with_users.allocations, with_users.users) == ({}, {}, [])


def test_static_releases_what_it_could_not_put_right(static: Bed) -> None:
    static.admin("remove", "partition", "a")
    static.vipu.failing.add("a")
    assert static.start(FakeJob(5, gres={NODES[0]: "vipu:4(CNT:1)"})) == 1
    assert static.way.held() == set()


@pytest.mark.parametrize("name", ["bed", "with_users"])
def test_a_second_prolog_takes_over_what_a_killed_one_has_left(name: str, request: pytest.FixtureRequest) -> None:
    bed: Bed = request.getfixturevalue(name)
    job = FakeJob(5, 16, note="ipu.pod ipus=16 gcds=1 replicas=1")
    assert bed.start(job) == 0
    assert bed.hooks.prolog(5) == 0
    assert [size for size, _gcds, _replicas in bed.partitions.values()] == [16]
    assert bed.end(5) == 0
    assert (bed.partitions, bed.users) == ({}, [])


def test_a_second_static_prolog_keeps_to_its_claim(static: Bed) -> None:
    job = FakeJob(5, gres={NODES[0]: "vipu:4(CNT:1)"})
    assert (static.start(job), static.hooks.prolog(5)) == (0, 0)
    assert static.notes(5).endswith("partition=a partitions=a")


def test_a_second_epilog_finds_nothing_to_do(bed: Bed) -> None:
    bed.start(FakeJob(5, 16))
    bed.end(5)
    assert bed.hooks.epilog(5) == 0
    assert bed.log == ["job 5: has slurm_5 with 16 IPUs", "job 5: gave its IPUs back"]


def test_the_epilog_waits_for_the_jobs_processes(bed: Bed) -> None:
    bed.start(FakeJob(5, 16, NODES[:2]))
    job = bed.slurm.jobs[5]
    job.state = "COMPLETING"

    def one_node_ends() -> None:
        assert bed.partitions
        job.nodes = job.nodes[1:]

    bed.during_wait = one_node_ends
    assert bed.hooks.epilog(5) == 0
    assert bed.partitions == {}


def test_the_epilog_does_not_wait_for_a_dead_node_for_ever(bed: Bed) -> None:
    bed.start(FakeJob(5, 16))
    bed.slurm.jobs[5].state = "COMPLETING"
    assert bed.hooks.epilog(5) == 0
    assert bed.slurm.now >= PROCESSES_LIMIT
    assert "its nodes have not finished after 600 s" in bed.log[1]
    assert bed.partitions == {}


# The names of others


def test_another_slurm_clusters_partition_of_the_same_name_is_left_alone(tmp_path: Path) -> None:
    bed = Bed(tmp_path, allocation="mine")
    for name in ("mine", "theirs"):
        bed.admin("create", "allocation", name, "--size", "32")
    bed.admin("create", "partition", "slurm_5", "--size", "4", "--allocation", "theirs")
    assert bed.start(FakeJob(5, 16)) == 1
    assert "already exists" in bed.notes(5)
    assert bed.end(5) == 0
    bed.reap()
    assert bed.partitions == {"slurm_5": (4, 1, 1)}


def test_a_partition_of_the_declared_name_in_another_allocation_is_left_alone(tmp_path: Path) -> None:
    partition = {"name": "a", "ipus": 4, "gcds": 1, "replicas": 1, "nodes": NODES[:1]}
    bed = Bed(tmp_path, way="static", allocation="mine", partitions=[partition])
    for name in ("mine", "theirs"):
        bed.admin("create", "allocation", name, "--size", "32")
    bed.admin("create", "partition", "a", "--size", "8", "--allocation", "theirs")
    assert bed.start(FakeJob(5, gres={NODES[0]: "vipu:4(CNT:1)"})) == 1
    assert "already exists" in bed.notes(5)
    assert (bed.partitions, bed.way.held()) == ({"a": (8, 1, 1)}, set())


def test_an_allocation_of_machines_that_are_not_mapped_is_left_alone(tmp_path: Path) -> None:
    bed = Bed(tmp_path, way="mapping", allocation="", mapping={NODES[0]: MACHINES[:4]})
    bed.admin("create", "allocation", "c5", "--agents", ",".join(MACHINES[4:8]))
    assert bed.way.held() == set()
    bed.reap()
    bed.slurm.add(FakeJob(5))
    bed.end(5)
    assert bed.allocations == {"c5": MACHINES[4:8]}


# Reaping


@pytest.mark.parametrize("name", ["bed", "with_users", "static"])
def test_what_a_gone_job_has_left_behind_is_taken_back(name: str, request: pytest.FixtureRequest) -> None:
    bed: Bed = request.getfixturevalue(name)
    before = bed.partitions
    for number, node in ((5, NODES[0]), (6, NODES[1])):
        assert bed.start(FakeJob(number, 16 * (name != "static"), (node,), gres={node: "vipu:4(CNT:1)"})) == 0
    del bed.slurm.jobs[5]
    bed.reap()
    assert bed.way.held() == {6}
    del bed.slurm.jobs[6]
    bed.reap()
    assert (bed.way.held(), bed.partitions, bed.users) == (set(), before, [])


def test_one_that_cannot_be_taken_back_is_not_in_the_way_of_the_others(bed: Bed, monkeypatch: Any) -> None:
    for number in (5, 6):
        bed.start(FakeJob(number, 16))
    bed.slurm.jobs.clear()
    real = bed.way.give_back

    def give_back(number: int) -> bool:
        if number == 5:
            raise DeviceError("it is stuck")
        return real(number)

    monkeypatch.setattr(bed.way, "give_back", give_back)
    with pytest.raises(DeviceError, match=r"^job 5: it is stuck$"):
        bed.reap()
    assert list(bed.partitions) == ["slurm_5"]


def test_nothing_is_taken_back_while_slurm_does_not_answer(bed: Bed) -> None:
    bed.start(FakeJob(5, 16))
    bed.slurm.jobs.clear()
    bed.slurm.silent_until = 1e9
    with pytest.raises(DeviceError, match="Unable to contact slurm controller"):
        bed.reap()
    assert list(bed.partitions) == ["slurm_5"]
