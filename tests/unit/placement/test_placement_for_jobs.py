# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""vPODs whose allocations are those of Slurm's jobs: they have their pins, jobs inside are in nobody's way."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.degraded import degraded
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place, unknown_places
from tests.unit.placement.test_capacity import answer, lines
from tests.unit.placement.test_placement import HOST, document, machines, placed, refused

JOBS = {"ipus": 32, "allocation": "jobs", "ipu_machines": machines(1, 8)}


def test_it_lies_at_its_pins_whatever_jobs_run_there() -> None:
    words = document(jobs=JOBS, alice={"ipus": 32})
    there = {"c7": machines(1, 4), "c12": machines(8, 8)}
    assert placed(words, **there) == placed(words) == {"jobs": machines(1, 8), "alice": machines(9, 16)}


def test_nobody_gets_its_machines_while_no_job_has_them() -> None:
    (problem,) = refused(document(jobs=JOBS, alice={"ipus": 32}), bob=machines(9, 13))
    assert "on p1-ipum9..16, bob (an allocation on v that is not declared, 20 IPUs on p1-ipum9..13) is in" in problem
    (problem,) = refused(document(jobs=JOBS, alice={"ipus": 32}), bob=machines(9, 16), c7=machines(1, 1))
    assert "on p1-ipum1..8, jobs (vpods.jobs, 32 IPUs on p1-ipum1..8) is in the way" in problem


@pytest.mark.parametrize("name", ["bob", "p7", "c", "c7x", "C7"])
def test_what_is_no_jobs_is_in_its_way(name: str) -> None:
    assert refused(document(jobs=JOBS), **{name: machines(3, 3)}) == [
        f"vpods.jobs.ipu_machines: 'p1-ipum3' belongs to {name} (an allocation on v that is not declared, 4 IPUs on "
        "p1-ipum3); pin a free one, or free this one"
    ]


def test_a_job_that_reaches_outside_is_in_its_way() -> None:
    found = refused(document(jobs=JOBS), c7=machines(8, 9))
    assert found == [
        "vpods.jobs.ipu_machines: 'p1-ipum8' belongs to c7 (an allocation on v that is named as Slurm names what it "
        "makes for a job, 8 IPUs on p1-ipum8..9); pin a free one, or end the job"
    ]


def test_it_lies_at_its_pins_also_where_the_controller_says_nothing() -> None:
    declaration = parse_declaration(document(jobs=JOBS))
    assert unknown_places(declaration, {}) == []
    assert place(declaration, {}) == {"jobs": machines(1, 8)}


def test_jobs_elsewhere_are_kept_clear_of() -> None:
    words = document(jobs={**JOBS, "ipus": 16, "ipu_machines": machines(1, 4)}, alice={"ipus": 32})
    (problem,) = refused(words, c7=machines(9, 9), c8=machines(5, 5))
    assert "c7 (an allocation on v that is named as Slurm names what it makes for a job, 4 IPUs on p1-ipum9)" in problem


def test_a_vpod_that_was_for_jobs_waits_for_them() -> None:
    (problem,) = refused(document(alice={"ipus": 8, "ipu_machines": machines(1, 2)}), c7=machines(1, 1))
    assert problem.endswith("; pin a free one, or end the job")


def test_one_that_had_an_allocation_keeps_its_place_and_may_change_places() -> None:
    assert placed(document(jobs=JOBS), jobs=machines(1, 8)) == {"jobs": machines(1, 8)}
    assert placed(document(jobs=JOBS), jobs=machines(9, 16)) == {"jobs": machines(1, 8)}
    words = document(jobs=JOBS, alice={"ipus": 32, "ipu_machines": machines(9, 16)})
    assert placed(words, jobs=machines(9, 16), alice=machines(1, 8)) == {
        "jobs": machines(1, 8),
        "alice": machines(9, 16),
    }


def test_an_allocation_that_cannot_be_removed_from_here_is_in_its_way() -> None:
    words = document(jobs=JOBS)
    words["pods"]["p1"]["managed"] = ["switch", "servers"]
    assert refused(words, jobs=machines(1, 8)) == [
        "vpods.jobs.allocation: v has an allocation of that name, which cannot be removed from here, and jobs cannot "
        "have its IPU-Machines; remove it there, or say own"
    ]
    assert placed(words, c7=machines(1, 2)) == {"jobs": machines(1, 8)}


def test_its_pins_are_a_block() -> None:
    (problem,) = refused(document(jobs={**JOBS, "ipu_machines": machines(5, 12)}))
    assert "vpods.jobs.ipu_machines: p1-ipum5..12 are no aligned block of clusters.c" in problem


def test_a_dead_machine_stays_in_its_block() -> None:
    words = document(jobs=JOBS, alice={"ipus": 4})
    words["pods"]["p1"]["excluded"] = ["p1-ipum7"]
    declaration = parse_declaration(words)
    placement = place(declaration, {HOST: {"c7": machines(1, 2)}})
    assert placement == {"jobs": machines(1, 8), "alice": machines(9, 9)}
    assert degraded(declaration, placement) == [
        "p1-ipum7 is excluded",
        "vPOD jobs has p1-ipum7, which no job may have",
    ]
    ports = {port["name"]: port for port in desired(declaration, placement)["tor_switches"]["p1-tor"]["ports"]}
    assert "Ethernet15/1" not in ports
    assert ports["Ethernet14/1"]["owner"] == "vpod jobs"


def test_capacity_says_how_many_ipus_jobs_have() -> None:
    words = document(jobs=JOBS)
    found = answer(words, 32, c7=machines(1, 2), c8=machines(4, 4))
    rack = found["clusters"]["c"]["racks"]["p1"]
    holder = {"name": "jobs", "ipus": 32, "job_ipus": 12, "excluded": False}
    assert [rack[name] for name in machines(1, 8)] == [holder] * 8
    assert (found["to_come"], found["not_placed"]) == ({}, [])
    assert found["clusters"]["c"]["free_ipus"] == 32
    assert found["fits"] == {"c": machines(9, 16)}
    assert lines(words, c7=machines(1, 2))[1:] == [
        "  p1  jjjj jjjj .... ....  p1-ipum1..16",
        "      j jobs, 32 IPUs, 8 of them in Slurm jobs",
    ]


def test_capacity_says_what_a_job_elsewhere_is() -> None:
    assert any("named as Slurm names" in line for line in lines(document(), 64, c7=machines(1, 1)))
