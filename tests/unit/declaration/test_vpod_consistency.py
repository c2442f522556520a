# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""vPODs whose allocations are those of Slurm's jobs: what has to be said of them, and what must not."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from tests.support.vpods_of_a_pod import ALICE, JOBS, document, machines


def problems(vpods: dict[str, Any], **pod: Any) -> list[str]:
    try:
        parse_declaration(document(vpods, **pod))
    except DeclarationError as error:
        return error.problems
    return []


def test_a_vpod_has_its_own_allocation_unless_it_says_otherwise() -> None:
    vpods = parse_declaration(document({"alice": ALICE, "jobs": JOBS})).vpods
    assert [vpod.is_for_jobs for vpod in vpods.values()] == [False, True]
    assert problems({"alice": {**ALICE, "allocation": "own"}}) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"allocation": "mine"},
            "vpods.jobs.allocation: 'mine' is not known; use one of own, jobs",
        ),
        (
            {"ipu_machines": []},
            "vpods.jobs.ipu_machines: is missing; name the IPU-Machines that jobs get, as allocation is jobs",
        ),
        (
            {"ipu_machines": machines(13, 14)},
            "vpods.jobs.ipu_machines: 2 IPU-Machines are 8 IPUs, but ipus is 16; make them agree",
        ),
        (
            {"partitions": {"train": {"ipus": 4}}},
            "vpods.jobs.partitions: each job has its own, as allocation is jobs; leave them out, or say own",
        ),
        (
            {"controller": "dedicated"},
            "vpods.jobs.controller: jobs have allocations on the controller of the cluster; say shared",
        ),
        (
            {"users": ["j7"]},
            "vpods.jobs.users: 'j7' is named as Slurm names what it makes for a job, and jobs have allocations on this "
            "controller; choose another name",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_sentence(words: Any, message: str) -> None:
    assert problems({"jobs": {**JOBS, **words}}) == [message]


def test_names_that_slurm_gives_away_are_free_where_no_job_has_an_allocation() -> None:
    words = {**ALICE, "users": ["j1"], "partitions": {"p1": {"ipus": 4}, "slurm_1": {"ipus": 4}}}
    assert problems({"c7": words}) == []
    found = problems({"c7": words, "jobs": JOBS})
    assert [each.split(":")[0] for each in found] == [
        "vpods.c7",
        "vpods.c7.users",
        "vpods.c7.partitions.p1",
        "vpods.c7.partitions.slurm_1",
    ]


def test_jobs_keep_a_block_of_which_a_machine_is_dead() -> None:
    assert problems({"jobs": JOBS}, excluded=["p-ipum13"]) == []
    (problem,) = problems({"alice": {**ALICE, "ipu_machines": machines(13, 16)}}, excluded=["p-ipum13"])
    assert "'p-ipum13' is out of order" in problem


def test_an_absent_vpod_needs_no_other_keys() -> None:
    assert problems({"jobs": {"state": "absent", "cluster": "c", "allocation": "jobs"}}) == []
