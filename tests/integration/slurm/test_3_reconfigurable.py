# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All jobs share one reconfigurable partition; the cluster comes to it with a job that still runs the other way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.integration.slurm import events
from tests.integration.slurm.cluster import Slurm

WAY = events.Way(asks="--ipus=16", ipus=16, names=("whole",), shared=True, gives_back=False, without=False)
BROKEN = "pod001-poplar4"


@pytest.fixture(scope="module", autouse=True)
def way(declared: Any, slurm: Slurm) -> None:
    """The layout is changed under a running job, and a server that somebody has drained stays so."""
    job = slurm.batch("--ipus=4 -w pod001-poplar1")
    slurm.wait_for("RUNNING", job)
    slurm.root(f"scontrol update NodeName={BROKEN} State=DRAIN Reason=memory")
    declared.change(whole={"ipus": 64, "reconfigurable": True})
    with ThreadPoolExecutor() as pool:
        run = pool.submit(declared.done, "slurm_layout", slurm_way="reconfigurable")
        slurm.until("sinfo -h -n pod001-poplar1 -o %T | grep -q draining", "no server is drained")
        later = slurm.batch("--ipus=4")
        assert f"slurm_{job.id}" in slurm.partitions()
        slurm.release(job)
        run.result()
    assert slurm.ends(job) == ["COMPLETED"]
    slurm.wait_for("RUNNING", later)
    events.has_its_ipus(slurm, WAY, later)
    slurm.release(later)
    assert slurm.ends(later) == ["COMPLETED"]
    assert "memory" in slurm.root(f"sinfo -R -h -n {BROKEN}")
    slurm.root(f"scontrol update NodeName={BROKEN} State=RESUME")


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("event", events.COMMON, ids=events.title)
def test_everyday_life(slurm: Slurm, event: events.Event) -> None:
    event(slurm, WAY)


@pytest.mark.usefixtures("at_rest")
def test_jobs_ask_for_no_more_than_the_partition_has(slurm: Slurm) -> None:
    assert "64" in slurm.refusal("sbatch --ipus=128 --wrap=true")
