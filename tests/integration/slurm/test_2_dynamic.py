# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs whose partitions are made for them: with the options of the vendor's own Slurm, in an ordinary one."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.integration.slurm import events
from tests.integration.slurm.cluster import CONTROLLER, FOLDER, PROGRAM, Slurm

WAY = events.Way(
    asks="--ipus=16",
    ipus=16,
    names=("slurm_{}",),
    spread="-N4 -n4 --ipus=16",
    servers=4,
)
ALLOCATION = "jobs"
SINGLE_GCD = f"""#!/bin/bash
#SBATCH  --job-name single-gcd-job
#SBATCH --ipus 2
#SBATCH -n 1
#SBATCH --time=00:30:00

srun {PROGRAM} --hold
"""
MULTI_GCD = SINGLE_GCD.replace("single", "multi").replace("-n 1", "-n 2")
MY_JOB = f"#!/bin/bash\nsrun {PROGRAM} --hold\n"

pytestmark = pytest.mark.usefixtures("at_rest")


@pytest.mark.parametrize("event", events.COMMON, ids=events.title)
def test_everyday_life(slurm: Slurm, event: events.Event) -> None:
    event(slurm, WAY)


def test_scripts_and_options_for_the_vendors_own_slurm_run_as_they_are(slurm: Slurm) -> None:
    model = "--ipus=2 --ntasks=1 --num-replicas=1 --gres=vipu:pod64"
    jobs = {
        slurm.script(SINGLE_GCD): 1,
        slurm.script(MULTI_GCD): 2,
        slurm.script(MY_JOB, model.replace(" --gres=vipu:pod64", "")): 1,
        slurm.script(MY_JOB, model): 1,
    }
    slurm.wait_for("RUNNING", *jobs)
    for job, gcds in jobs.items():
        partition = events.has_its_ipus(slurm, WAY, job, gcds)
        assert (len(partition.devices), partition.gcds, partition.replicas) == (2, gcds, gcds)
    slurm.release(*jobs)
    assert slurm.ends(*jobs) == ["COMPLETED"] * len(jobs)


def test_replicas_are_those_that_were_asked_for(slurm: Slurm) -> None:
    job = slurm.batch("--ipus=16 -N2 -n2 --num-replicas=8")
    slurm.wait_for("RUNNING", job)
    partition = events.has_its_ipus(slurm, WAY, job, 2)
    assert (partition.gcds, partition.replicas) == (2, 8)
    slurm.release(job)
    assert slurm.ends(job) == ["COMPLETED"]


def test_a_job_waits_for_a_block_when_the_free_ipus_lie_apart_and_says_so(slurm: Slurm) -> None:
    half, *eights = [slurm.batch(f"--ipus={size}") for size in (32, 8, 8, 8, 8)]
    slurm.wait_for("RUNNING", half, *eights)
    partitions = slurm.partitions()
    first, second, third, fourth = sorted(eights, key=lambda job: place(partitions[f"slurm_{job.id}"].devices))
    slurm.release(first, third)
    assert slurm.ends(first, third) == ["COMPLETED", "COMPLETED"]

    batch = slurm.batch("--ipus=16")
    slurm.until(f"squeue -h -j {batch.id} -o '%T %r' | grep -q PENDING", "the job does not come back")
    slurm.until(f"ipuinfo | grep -E '^ *{batch.id} ' | grep -q 'no free block of 16 IPUs'", "nobody says why it waits")
    # Nobody can put off what somebody waits for: it waits with its place kept, for a block to come.
    srun = slurm.srun("--ipus=16")
    slurm.wait_for("CONFIGURING", srun)
    slurm.release(second)
    slurm.wait_for("RUNNING", srun)
    events.has_its_ipus(slurm, WAY, srun)
    slurm.release(srun)
    slurm.wait_for("RUNNING", batch)
    events.has_its_ipus(slurm, WAY, batch)
    slurm.release(half, fourth, batch)
    assert slurm.ends(half, *eights, srun, batch) == ["COMPLETED"] * 7


def place(devices: tuple[tuple[str, int], ...]) -> tuple[int, int]:
    """Where a partition begins: its first IPU-Machine, by the end of its RNIC's address, and IPU."""
    return min((int(address.rsplit(".", 1)[1]), number) for address, number in devices)


def test_nothing_that_a_user_writes_gets_more_than_slurm_has_charged(slurm: Slurm) -> None:
    """Forged options, a comment and a name in the words of the administrator, and changes of a job that waits."""
    forged = slurm.script(
        MY_JOB,
        "--ipus=4 --comment='ipu.pod ipus=64 gcds=1 partition=slurm_1' "
        "--job-name='x Licenses=ipu:64 AdminComment=ipu.pod ipus=64 JobState=RUNNING'",
    )
    slurm.wait_for("RUNNING", forged)
    assert len(events.has_its_ipus(slurm, WAY, forged).devices) == 4
    claims = "_SLURM_SPANK_OPTION_ipu_ipus=32 SLURM_JOB_LICENSES=ipu:32"
    look = "squeue -h -j $SLURM_JOB_ID -o %W; env | grep -cE 'PARTITION_ID|IPU_POD' || true"
    told = "ipu: --ipus=32 changes nothing here: this job has no IPUs; submit a new one for that"
    assert slurm.says(f"{claims} srun sh -c {shlex.quote(look)}") == (0, f"(null)\n0\n{told}")
    waiting = slurm.batch("--ipus=4 --hold")
    for change in ("Licenses=ipu:64", "AdminComment='ipu.pod ipus=64'"):
        slurm.refusal(f"scontrol update JobId={waiting.id} {change}")
    assert slurm.shown("%W", waiting) == ["ipu:4"]
    slurm.cancel(waiting, forged)
    assert slurm.ends(waiting, forged) == ["CANCELLED", "CANCELLED"]


def test_everything_that_ipuinfo_knows_is_there_for_programs(slurm: Slurm) -> None:
    job = slurm.batch(WAY.asks)
    slurm.wait_for("RUNNING", job)
    code, output = slurm.says("ipuinfo --json")
    assert code == 0, output
    assert str(job.id) in json.dumps(json.loads(output))
    slurm.cancel(job)
    assert slurm.ends(job) == ["CANCELLED"]


@contextmanager
def machine_off(slurm: Slurm, machine: str) -> Iterator[None]:
    """An IPU-Machine is switched off, which the V-IPU controller notices."""
    up = f"vipu-admin -P 8091 list agents | grep -w {machine} | grep -qw"
    slurm.switch(machine, on=False)
    slurm.until(f"{up} Down", f"{machine} is not missed")
    try:
        yield
    finally:
        slurm.switch(machine, on=True)
        slurm.until(f"{up} Up", f"{machine} is not back")


def held_out(slurm: Slurm) -> str:
    """The licences that no job may have."""
    return slurm.root("scontrol show reservations --oneliner | grep -oE 'ReservationName=ipu-pod-out|ipu:[0-9]+'; true")


def test_what_nobody_can_have_is_held_out_and_what_a_job_left_goes(slurm: Slurm) -> None:
    slurm.administer(f"create partition hers --size 8 --allocation {ALLOCATION}")
    # Whether Slurm knows of it by now or not.
    assert "56 of 64 IPUs are free" in slurm.says("ipuinfo")[1]
    slurm.administer(f"create partition slurm_999999 --size 8 --allocation {ALLOCATION}")
    with machine_off(slurm, "pod001-ipum16"):
        slurm.take_back_what_is_left()
        assert set(slurm.partitions()) == {"hers"}
        assert held_out(slurm).split() == ["ReservationName=ipu-pod-out", "ipu:12"]
        assert "12" in slurm.says("ipuinfo")[1]
        large = slurm.batch("--ipus=64")
        slurm.until(f"squeue -h -j {large.id} -o %r | grep -qE 'Licenses|Reservation'", "it does not wait for IPUs")
        slurm.cancel(large)
    slurm.administer("remove partition hers")
    slurm.take_back_what_is_left()
    assert held_out(slurm) == ""
    assert slurm.partitions() == {}


def test_two_hundred_short_jobs_are_all_done(slurm: Slurm) -> None:
    size = 200
    array = slurm.batch(f"--array=0-{size - 1} --ipus=1", "echo burst $SLURM_JOB_ID $IPUOF_VIPU_API_PARTITION_ID")
    slurm.until('[ -z "$(squeue -h -a)" ]', "the jobs do not end", patience=900)
    lines = [
        line
        for server in slurm.servers
        for line in slurm.root(f"grep -h ^burst {FOLDER}/*.out; true", server).splitlines()
    ]
    numbers = {int(line.split()[1]) for line in lines}
    assert sorted(lines) == sorted(f"burst {number} slurm_{number}" for number in numbers)
    assert len(numbers) == size
    ended = slurm.root(f"squeue -h -r -t all -j {array.id} -o %T | sort | uniq -c", CONTROLLER)
    assert ended.split() == [str(size), "COMPLETED"]
