# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client of Slurm: what it asks, and that an answer that is none is an error."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.job import Job
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.slurm import HOLDING, PATIENCE, Slurm
from tests.support.in_memory.slurm import FakeJob, FakeSlurm


def slurm(*jobs: FakeJob) -> FakeSlurm:
    return FakeSlurm({job.id: job for job in jobs})


def found(cluster: FakeSlurm, number: int) -> Job:
    job = cluster.client.job(number)
    assert job
    return job


def test_a_job_is_found_among_the_tasks_of_its_array() -> None:
    cluster = slurm(FakeJob(8, 16, array=(4, 1)), FakeJob(4, 8, array=(4, 2)))
    assert (found(cluster, 4).ipus, found(cluster, 8).ipus) == (8, 16)


def test_a_job_that_slurm_has_forgotten() -> None:
    assert slurm().client.job(5) is None


def test_numbers_of_jobs() -> None:
    cluster = slurm(FakeJob(4, state="PENDING"), FakeJob(5, state="RUNNING"), FakeJob(6, state="COMPLETING"))
    assert cluster.client.job_numbers() == {4, 5, 6}
    assert cluster.client.job_numbers(HOLDING) == {5}


def test_a_task_of_an_array_is_changed_alone() -> None:
    cluster = slurm(FakeJob(4, array=(4, 2)), FakeJob(8, array=(4, 1)))
    cluster.client.write_note(found(cluster, 4), {"ipus": "8"})
    assert cluster.commands == [["scontrol", "update", "JobId=4_2", "AdminComment=ipu.pod ipus=8"]]
    assert cluster.jobs[8].note == ""


@pytest.mark.parametrize(
    ("job", "command"),
    [
        (FakeJob(5), ["scontrol", "requeue", "5"]),
        (FakeJob(5, requeue=False), ["scancel", "5"]),
        (FakeJob(5, batch=False), ["scancel", "5"]),
    ],
)
def test_a_job_that_cannot_start(job: FakeJob, command: list[str]) -> None:
    cluster = slurm(job)
    cluster.client.put_back(found(cluster, 5))
    assert cluster.commands == [command]


def test_gres_of_each_node() -> None:
    cluster = slurm(FakeJob(5, nodes=("n1", "n2", "n3"), gres={"n1,n2": "vipu:4(CNT:2)", "n3": ""}))
    assert cluster.client.gres(found(cluster, 5)) == {"n1": {"4": 2}, "n2": {"4": 2}, "n3": {}}


@pytest.mark.parametrize("nodes", ["n1", "n2", "n3"])
def test_a_line_that_the_name_of_a_job_makes_up_is_refused(nodes: str) -> None:
    made_up = {nodes: "vipu:64(CNT:1)", "n1,n2": ""}
    cluster = slurm(FakeJob(5, nodes=("n1", "n2"), gres=made_up))
    with pytest.raises(DeviceError, match="shows other nodes than those of job 5"):
        cluster.client.gres(found(cluster, 5))


@pytest.mark.parametrize("nodes", ["node[1-999999999]", "n[1-999][1-999][1-999]", "n[1-9999999999]", "n[x]"])
def test_what_the_name_of_a_job_makes_up_is_counted_before_it_is_spelled_out(nodes: str) -> None:
    cluster = slurm(FakeJob(5, nodes=("n1",), gres={"n1": "vipu:4(CNT:1)"}, name=f"x\n{made_up_of(nodes)}"))
    with pytest.raises(DeviceError, match="shows other nodes than those of job 5"):
        cluster.client.gres(found(cluster, 5))
    assert cluster.spelled_out in (["n1"], ["n1", "n1"])


def made_up_of(nodes: str) -> str:
    return f"     Nodes={nodes} CPU_IDs=0 Mem=0 GRES=vipu:64(CNT:1)"


def test_a_job_that_is_not_understood_is_an_error_to_itself_alone() -> None:
    cluster = slurm(FakeJob(4, 8), FakeJob(5, licenses="a:b"))
    assert found(cluster, 4).ipus == 8
    with pytest.raises(DeviceError, match="something of job 5 that is not understood: 'a:b' is no licence"):
        cluster.client.job(5)
    jobs, not_understood = cluster.client.jobs()
    assert ([job.id for job in jobs], len(not_understood)) == ([4], 1)


def test_owners_are_found_beside_a_reason_of_several_lines() -> None:
    made_up = f"made up\n{'9' * 5000}|x|y"
    client = Slurm(lambda _argv, _text: (0, f"4|alice|x\n{made_up}\n5|bob|None\n", ""))
    assert client.owners_and_reasons() == {4: ("alice", "x"), 5: ("bob", "None")}


def test_a_slurmctld_that_is_started_anew_is_waited_for() -> None:
    cluster = slurm(FakeJob(5))
    cluster.silent_until = 10
    assert found(cluster, 5).id == 5


def test_but_not_for_ever() -> None:
    cluster = slurm(FakeJob(5))
    cluster.silent_until = 1e9
    with pytest.raises(DeviceError, match=r"squeue --noheader: .*Unable to contact slurm controller"):
        cluster.client.job(5)
    assert PATIENCE <= cluster.now < PATIENCE + 2


def test_a_program_that_fails_says_so() -> None:
    client = Slurm(lambda _argv, _text: (3, "", "no\n way"))
    for call in (lambda: client.job(5), client.job_numbers, lambda: client.hosts("n[1-2]")):
        with pytest.raises(DeviceError, match=r": no way$"):
            call()


@pytest.mark.parametrize(("code", "is_genuine"), [(0, True), (15, True), (17, True), (1, False), (18, False)])
def test_a_secret_that_was_read_before_is_one_still(code: int, is_genuine: bool) -> None:
    client = Slurm(lambda _argv, _text: (code, "key", "unmunge: Error"))
    if is_genuine:
        assert client.secret_of("MUNGE:...:") == "key"
    else:
        with pytest.raises(DeviceError, match=r"^unmunge --metadata=/dev/null: unmunge: Error$"):
            client.secret_of("MUNGE:...:")


def test_a_secret_stands_on_no_command_line() -> None:
    asked: list[list[str]] = []

    def run(argv: list[str], text: str) -> tuple[int, str, str]:
        asked.append(argv)
        return 0, f"sealed {len(text)}\n", ""

    assert Slurm(run).for_root_alone("secret") == "sealed 6"
    assert asked == [["munge", "--restrict-uid=0"]]
