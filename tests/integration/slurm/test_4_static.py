# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs take one of several partitions that are there for good."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.slurm import events
from tests.integration.slurm.cluster import Slurm

SERVERS = [f"pod001-poplar{number}" for number in range(1, 5)]
PARTITIONS: dict[str, dict[str, Any]] = {
    "s4a": {"ipus": 4, "poplar_servers": [SERVERS[0]]},
    "s4b": {"ipus": 4, "poplar_servers": [SERVERS[0]]},
    "s4c": {"ipus": 4, "poplar_servers": [SERVERS[1]]},
    "s4d": {"ipus": 4, "poplar_servers": [SERVERS[1]]},
    "s16": {"ipus": 16, "poplar_servers": [SERVERS[1]]},
    "s32": {"ipus": 32, "gcds": 2, "poplar_servers": SERVERS[2:]},
}
WAY = events.Way(
    asks="--gres=vipu:4:1",
    ipus=4,
    names=tuple(PARTITIONS),
    spread="--gres=vipu:32:1 -N2 -n2",
    servers=2,
)


@pytest.fixture(scope="module", autouse=True)
def way(declared: Any, slurm: Slurm) -> None:
    """The layout is changed while nothing runs."""
    declared.change(**PARTITIONS)
    declared.done("slurm_layout", slurm_way="static")
    assert set(slurm.partitions()) == set(PARTITIONS)


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("event", events.COMMON, ids=events.title)
def test_everyday_life(slurm: Slurm, event: events.Event) -> None:
    event(slurm, WAY)


@pytest.mark.usefixtures("at_rest")
def test_a_count_left_out_is_refused_with_what_to_write(slurm: Slurm) -> None:
    """To Slurm, vipu:4 is four partitions of any size."""
    assert "vipu:4:1" in slurm.refusal("sbatch --gres=vipu:4 --wrap=true")
    assert "32" in slurm.refusal("sbatch --gres=vipu:8:1 --wrap=true")


@pytest.mark.usefixtures("at_rest")
def test_a_job_may_have_several_and_gets_the_names_of_all(slurm: Slurm) -> None:
    job = slurm.batch("--gres=vipu:4:2")
    slurm.wait_for("RUNNING", job)
    (report,) = slurm.reports(job)
    both = report["variables"]["IPU_POD_PARTITIONS"].split(",")
    assert report["partition"] == both[0]
    assert sorted(both) in (["s4a", "s4b"], ["s4c", "s4d"])
    slurm.release(job)
    assert slurm.ends(job) == ["COMPLETED"]


@pytest.mark.usefixtures("at_rest")
def test_a_partition_that_a_job_has_changed_is_made_as_declared_again(slurm: Slurm) -> None:
    """As poprun does with its option for that; and a partition is reset for the next job."""
    job = slurm.batch(WAY.asks)
    slurm.wait_for("RUNNING", job)
    (name,) = {report["partition"] for report in slurm.reports(job)}
    slurm.administer(f"remove partition {name}")
    slurm.administer(f"create partition {name} --size 2 --allocation jobs")
    asked = len(slurm.requests())
    slurm.release(job)
    assert slurm.ends(job) == ["COMPLETED"]
    assert len(slurm.partitions()[name].devices) == WAY.ipus
    assert "CreatePartition" in slurm.requests()[asked:]


@pytest.mark.usefixtures("at_rest")
def test_a_partition_that_is_gone_is_made_before_the_next_job_has_it(slurm: Slurm) -> None:
    slurm.administer("remove partition s16")
    job = slurm.batch("--gres=vipu:16:1")
    slurm.wait_for("RUNNING", job)
    (report,) = slurm.reports(job)
    assert (report["partition"], len(report["devices"])) == ("s16", 16)
    slurm.release(job)
    assert slurm.ends(job) == ["COMPLETED"]
