# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events in the life of jobs with IPUs, for each way of giving them IPUs; each begins and ends with an idle cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from tests.integration.slurm.cluster import PROGRAM, Job, Partition, Slurm


@dataclass(frozen=True)
class Way:
    """The options with which jobs ask for IPUs, and the partitions in V-IPU while they run.

    Args:
        asks: the options of a job of a usual size; four of them run side by side.
        ipus: how many IPUs such a job has.
        names: the partitions that may be a job's; `{}` is its number.
        shared: whether jobs share the partition.
        spread: the options of a job over several servers; empty where there are none.
        servers: how many, with as many GCDs.
        gives_back: whether something is done in V-IPU after its end.
        without: whether there are jobs without IPUs.
    """

    asks: str
    ipus: int
    names: tuple[str, ...]
    shared: bool = False
    spread: str = ""
    servers: int = 0
    gives_back: bool = True
    without: bool = True

    def may_have(self, job: Job) -> set[str]:
        """The partitions of which a job has one."""
        return {name.format(job.id) for name in self.names}


def has_its_ipus(slurm: Slurm, way: Way, job: Job, gcds: int = 1) -> Partition:
    """A running job's tasks see its partition, GCD by GCD, and reach its IPU-Machines and know of no others."""
    reports = slurm.reports(job, gcds)
    (name,) = {report["partition"] for report in reports}
    assert name in way.may_have(job)
    partition = slurm.partitions()[name]
    assert partition.gcds == gcds
    assert [report["gcd"] for report in reports] == [str(number) for number in range(gcds)]
    seen = [tuple(device) for report in reports for device in report["devices"]]
    assert sorted(seen) == sorted(partition.devices)
    for report in reports:
        assert report["reached"] == sorted({address for address, _ in report["devices"]})
    return partition


def jobs_of_every_kind_run_side_by_side_and_the_next_waits(slurm: Slurm, way: Way) -> None:
    held = [slurm.srun(way.asks), slurm.salloc(way.asks), *slurm.array(2, f"{way.asks} --job-name={'long' * 50}")]
    slurm.wait_for("RUNNING", *held)
    late, unlucky = slurm.batch(way.asks), slurm.batch(way.asks)
    places = [has_its_ipus(slurm, way, job).devices for job in held]
    if not way.shared:
        assert len({device for place in places for device in place}) == len(held) * way.ipus
    assert slurm.shown("%T", late, unlucky) == ["PENDING", "PENDING"]
    slurm.until_it(lambda: slurm.shown("%r", late)[0] in REASONS, True, f"job {late.id} is not said to wait for IPUs")
    slurm.cancel(unlucky)
    slurm.release(held[0])
    slurm.wait_for("RUNNING", late)
    has_its_ipus(slurm, way, late)
    slurm.cancel(held[1])
    slurm.release(*held[2:], late)
    assert slurm.ends(*held, late, unlucky) == [
        *("COMPLETED", "CANCELLED", "COMPLETED", "COMPLETED"),
        *("COMPLETED", "CANCELLED"),
    ]


def a_job_over_several_servers_has_a_gcd_on_each(slurm: Slurm, way: Way) -> None:
    if not way.spread:
        assert "one GCD" in slurm.refusal(f"sbatch {way.asks} -N2 --wrap=true")
        return
    job = slurm.batch(way.spread)
    slurm.wait_for("RUNNING", job)
    has_its_ipus(slurm, way, job, way.servers)
    assert len({report["server"] for report in slurm.reports(job, way.servers)}) == way.servers
    slurm.release(job)
    assert slurm.ends(job) == ["COMPLETED"]


def jobs_are_cancelled_while_they_get_their_ipus(slurm: Slurm, way: Way) -> None:
    with slurm.vipu_does_not_answer():
        jobs = [slurm.batch(way.asks), slurm.srun(way.asks)]
        slurm.wait_for("CONFIGURING", *jobs)
        slurm.cancel(*jobs)
    assert slurm.ends(*jobs) == ["CANCELLED", "CANCELLED"]
    # The V-IPU controller may do what it was asked, though nobody waits for it any more.
    slurm.take_back_what_is_left()


def jobs_are_cancelled_while_they_end(slurm: Slurm, way: Way) -> None:
    jobs = [slurm.batch(way.asks), slurm.batch(way.asks)]
    slurm.wait_for("RUNNING", *jobs)
    for job in jobs:
        slurm.reports(job)
    with slurm.vipu_does_not_answer():
        slurm.release(*jobs)
        # Jobs that have nothing to give back are over too soon to be cancelled.
        if way.gives_back:
            slurm.wait_for("COMPLETING", *jobs)
            slurm.cancel(*jobs)
    assert slurm.ends(*jobs) == ["COMPLETED", "COMPLETED"]


def a_stubborn_program_keeps_its_partition_until_it_is_gone(slurm: Slurm, way: Way) -> None:
    """No other job may have IPUs that a program still uses."""
    job = slurm.batch(way.asks, f"srun {PROGRAM} --hold --stubborn")
    slurm.wait_for("RUNNING", job)
    partition = has_its_ipus(slurm, way, job)
    server = slurm.shown("%N", job)[0]
    slurm.cancel(job)
    slurm.wait_for("COMPLETING", job)
    assert partition in slurm.partitions().values()
    slurm.until("! pgrep -f '[i]pu-program'", "the program is not ended", server)
    assert slurm.ends(job) == ["CANCELLED"]


def a_slurmd_is_killed_and_the_slurmctld_restarted_under_running_jobs(slurm: Slurm, way: Way) -> None:
    jobs = [slurm.batch(way.asks), slurm.batch(way.asks)]
    slurm.wait_for("RUNNING", *jobs)
    before = [has_its_ipus(slurm, way, job) for job in jobs]
    server = slurm.shown("%N", jobs[0])[0]
    slurm.root("systemctl kill --kill-whom=main --signal=KILL slurmd", server)
    slurm.root("systemctl restart slurmctld")
    slurm.until("scontrol ping | grep -q UP", "slurmctld is not back")
    slurm.root("systemctl start slurmd", server)
    assert [has_its_ipus(slurm, way, job) for job in jobs] == before
    slurm.until(f"sinfo -h -n {server} -o %T | grep -qvE '[*]|down|unk'", f"{server} is not back")
    slurm.release(*jobs)
    assert slurm.ends(*jobs) == ["COMPLETED", "COMPLETED"]


def the_slurmctld_dies_while_a_job_gets_its_ipus(slurm: Slurm, way: Way) -> None:
    with slurm.vipu_does_not_answer():
        job = slurm.batch(way.asks)
        slurm.wait_for("CONFIGURING", job)
        # Told to end in the middle of a hook, it saves its jobs, but may then stay until it is killed.
        slurm.root("timeout 10 systemctl stop slurmctld || systemctl kill --signal=KILL slurmctld")
        slurm.root("systemctl start slurmctld")
    slurm.wait_for("RUNNING", job)
    has_its_ipus(slurm, way, job)
    slurm.release(job)
    assert slurm.ends(job) == ["COMPLETED"]


def the_vipu_controller_stops_while_jobs_get_their_ipus(slurm: Slurm, way: Way) -> None:
    """A job from a script comes later; one that somebody waits for ends, and nothing is wrong with its server."""
    with slurm.vipu_does_not_answer():
        batch, srun = slurm.batch(way.asks), slurm.srun(way.asks)
        slurm.wait_for("CONFIGURING", batch, srun)
        slurm.vipu_dies()
    slurm.wait_for("PENDING", batch)
    assert srun.process
    assert srun.process.wait() != 0
    slurm.vipu_is_back()
    slurm.wait_for("RUNNING", batch)
    has_its_ipus(slurm, way, batch)
    slurm.release(batch)
    assert slurm.ends(batch, srun)[0] == "COMPLETED"


def a_job_without_ipus_has_none(slurm: Slurm, way: Way) -> None:
    """Whatever its environment, options and comments claim, and without a question to the V-IPU controller."""
    assert "licence ipu is not for -L" in slurm.refusal("sbatch -L ipu:4 --wrap=true")
    if not way.without:
        return
    asked = len(slurm.requests())
    forged = {
        "IPUOF_VIPU_API_PARTITION_ID": "jobs",
        "IPUOF_VIPU_API_GCD_ID": "1",
        "IPUOF_CONFIG_PATH": "/tmp/mine",
        "IPU_POD_IPUS": "64",
    }
    claims = " ".join(f"{name}={value}" for name, value in forged.items())
    note = "'ipu.pod ipus=64 gcds=1 partition=jobs'"
    code, output = slurm.says(
        f"{claims} srun --comment={note} env | grep -E '^(IPUOF_CONFIG|IPUOF_VIPU_API_(PART|GCD)|IPU_POD)'"
    )
    assert (code, output) == (1, "")
    assert slurm.requests()[asked:] == []


def what_is_reported(slurm: Slurm, way: Way) -> None:
    """`ipuinfo` shows each job with its partition, for everybody."""
    job = slurm.batch(way.asks)
    slurm.wait_for("RUNNING", job)
    (name,) = {report["partition"] for report in slurm.reports(job)}
    code, output = slurm.says("ipuinfo")
    assert code == 0, output
    (line,) = [line for line in output.splitlines() if line.split()[:1] == [str(job.id)]]
    assert name in line
    assert str(way.ipus) in line.split()
    slurm.release(job)
    assert slurm.ends(job) == ["COMPLETED"]


# What a job waits for that finds no IPUs.
REASONS = ("Licenses", "Resources", "Priority")

Event = Callable[[Slurm, Way], None]
COMMON: Collection[Event] = (
    jobs_of_every_kind_run_side_by_side_and_the_next_waits,
    a_job_over_several_servers_has_a_gcd_on_each,
    jobs_are_cancelled_while_they_get_their_ipus,
    jobs_are_cancelled_while_they_end,
    a_stubborn_program_keeps_its_partition_until_it_is_gone,
    a_slurmd_is_killed_and_the_slurmctld_restarted_under_running_jobs,
    the_slurmctld_dies_while_a_job_gets_its_ipus,
    the_vipu_controller_stops_while_jobs_get_their_ipus,
    a_job_without_ipus_has_none,
    what_is_reported,
)


def title(event: Any) -> str:
    """The event's name as pytest shows it."""
    return str(event.__name__)
