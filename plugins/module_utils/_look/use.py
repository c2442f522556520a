# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds work on a server that needs its IPUs or its RDMA network."""

from __future__ import annotations

from typing import Callable, Sequence

from .._host.programs import Programs
from .._plan.converge import DeviceError
from .._rnic.uses import LONGEST, rdma_uses
from .._text.line import printable

# Slurm takes localhost for whatever slurm.conf calls this host.
SQUEUE = ["squeue", "--noheader", "--nodelist=localhost", "--states=RUNNING,SUSPENDED,COMPLETING", "--format=%i %u"]
# What any program of Slurm says where neither a file nor DNS tells it which cluster it is in.
NO_CLUSTER = "Could not establish a configuration source"


def running_on(programs: Programs, rdma_devices: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the uses as sentences, with those that may exist where asking failed, and why it failed."""

    def queue_pairs(programs: Programs) -> list[str]:
        pairs = rdma_uses(programs, rdma_devices).queue_pairs
        if pairs is None:
            raise DeviceError("rdma: the RDMA queue pairs cannot be listed; install the program rdma (iproute2)")
        return [str(pair) for pair in pairs]

    askers: Sequence[Callable[[Programs], list[str]]] = (slurm_jobs, queue_pairs)
    in_use: list[str] = []
    unknown: list[str] = []
    for ask in askers:
        try:
            in_use += ask(programs)
        except DeviceError as error:
            unknown.append(str(error))
    return [*(printable(each, LONGEST) for each in in_use), *(f"whatever it is ({why})" for why in unknown)], unknown


def jobs_from(output: str) -> list[str]:
    """The jobs that squeue prints, one a line, in words.

    Raises:
        DeviceError: a line is not a job and its user.
    """
    jobs = []
    for line in output.splitlines():
        words = line.split()
        if len(words) != 2:
            raise DeviceError(f"squeue: {line!r} is no job and its user")
        jobs.append(f"Slurm job {words[0]} of {words[1]}")
    return jobs


def slurm_jobs(programs: Programs) -> list[str]:
    """The jobs on this server; none where Slurm is not installed, or is in no cluster.

    Raises:
        DeviceError: Slurm is installed and does not answer.
    """
    try:
        _status, _output, errors = programs.attempt(["squeue", "--version"])
    except DeviceError:
        return []
    return [] if NO_CLUSTER in errors else jobs_from(programs.call(SQUEUE))
