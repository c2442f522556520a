# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job is read from what Slurm says, and what a user writes into a name or a comment never counts."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.job import (
    FORMAT,
    Job,
    gres_from,
    jobs_from,
    licenses_from,
)
from tests.support.in_memory.slurm import FakeJob, line_of

# As Slurm 22.05 prints it.
DETAILS = """\
JobId=8 ArrayJobId=4 ArrayTaskId=1 JobName=x Licenses=ipu:64
   UserId=alice(1000) GroupId=alice(1000) MCS_label=N/A
   JOB_GRES=vipu:4:4,vipu:16:2
     Nodes=pod001-poplar[1-2] CPU_IDs=0 Mem=0 GRES=vipu:4(CNT:2),vipu:16(CNT:1)
     Nodes=pod001-poplar3 CPU_IDs=0,2-3 Mem=10 GRES=gpu:a:1(IDX:0)
   OverSubscribe=OK Contiguous=0 Licenses=ipu:4 Network=(null)
"""


def job(**fields: Any) -> Job:
    (found,), not_understood = jobs_from(FakeJob(5, **fields).line())
    assert not not_understood
    return found


def test_a_job_with_everything() -> None:
    found = job(ipus=16, nodes=("n1", "n2"), note="ipu.pod ipus=16 waits=a | b", uid=1001)
    assert found == Job(
        5, "5", 1001, True, True, "CONFIGURING", "ipu", "n1,n2", {"ipu": 16}, {"ipus": "16", "waits": "a | b"}
    )
    assert found.ipus == 16


def test_a_job_with_nothing() -> None:
    found = job(nodes=())
    assert (found.ipus, found.nodes, found.note) == (0, "", {})


def test_a_task_of_an_array_has_a_name_of_its_own() -> None:
    assert job(array=(4, 1)).name == "4_1"


def test_a_part_of_a_heterogeneous_job_has_a_name_of_its_own() -> None:
    line = line_of("6", "5", "N/A", "5", "1", "1000", "1", "0", "PENDING", "ipu", "", "ipu:2", "(null)")
    (found,), _not_understood = jobs_from(line)
    assert found.name == "5+1"


@pytest.mark.parametrize(
    ("batch", "requeue", "returns"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_only_a_batch_job_that_may_returns_to_the_queue(batch: bool, requeue: bool, returns: bool) -> None:
    assert job(batch=batch, requeue=requeue).returns_to_queue is returns


@pytest.mark.parametrize("line", ["what is this", "x|5|N/A|N/A|N/A|0|1|1|RUNNING|ipu|n1|ipu:2|(null)|"])
def test_other_output_is_not_understood(line: str) -> None:
    jobs, (sentence,) = jobs_from(line)
    assert (jobs, sentence.startswith("squeue printed something of ")) == ([], True)


HOSTILE = ["a:b", "a:1:2", "a:-1", "a:1_0", "a=٣", "other:9" * 200, "a:\n7|7|7|x:y", "a:1\n" + FakeJob(7, 64).line()]


@pytest.mark.parametrize("licenses", HOSTILE)
def test_a_job_whose_text_is_not_understood_hides_no_other_and_makes_none_up(licenses: str) -> None:
    others = (FakeJob(4, 8), FakeJob(6, 16, note="ipu.pod ipus=16 waits=ü | x"))
    jobs, (sentence,) = jobs_from(others[0].line() + FakeJob(5, licenses=licenses).line() + others[1].line())
    assert [(job.id, job.ipus) for job in jobs] == [(4, 8), (6, 16)]
    assert sentence.startswith("squeue printed something of job 5 that is not understood: ")
    assert "\n" not in sentence


@pytest.mark.parametrize("licenses", ["a:1|b:1", "a:1|ipu.pod", "a:\n1", "a: 1"])
def test_no_licence_is_taken_for_the_note(licenses: str) -> None:
    assert job(licenses=licenses, note="ipu.pod ipus=4").note == {"ipus": "4"}
    assert job(licenses=licenses).note == {}


def test_a_text_that_is_cut_off_is_not_understood() -> None:
    # Ours is the last.
    licenses = ",".join([*["other:1"] * 50, "ipu:16"])
    assert jobs_from(FakeJob(5, licenses=licenses).line()) == (
        [],
        ["squeue printed something of job 5 that is not understood: Licenses is cut off"],
    )


def test_no_field_that_users_fill_with_text_is_asked_for_but_the_note() -> None:
    assert {name.partition(":")[0] for name in FORMAT.split(",")}.isdisjoint({"Name", "Comment", "WorkDir", "Command"})


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ("", {}),
        ("ipu", {"ipu": 1}),
        ("ipu:16,matlab:2", {"ipu": 16, "matlab": 2}),
        ("ipu:4;ipu:8", {"ipu": 12}),
        ("ipu=4", {"ipu": 4}),
        ("a:1|b:1", {"a": 1, "b": 1}),
        ("a: 2,b:,c:+3", {"a": 2, "b": 0, "c": 3}),
    ],
)
def test_licences(shown: str, found: dict[str, int]) -> None:
    assert licenses_from(shown) == found


def test_gres_on_each_node() -> None:
    assert gres_from(DETAILS) == [("pod001-poplar[1-2]", {"4": 2, "16": 1}), ("pod001-poplar3", {})]


def test_gres_in_the_other_spelling() -> None:
    assert gres_from("     Nodes=n1 CPU_IDs=0 Mem=0 GRES=vipu:4:2\n") == [("n1", {"4": 2})]
