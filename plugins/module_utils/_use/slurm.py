# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks Slurm which jobs run on this server."""

from __future__ import annotations

from .._plan.converge import DeviceError
from .._rnic.programs import Programs

# Slurm takes localhost for whatever slurm.conf calls this host.
SQUEUE = [
    "squeue",
    "--noheader",
    "--nodelist=localhost",
    "--states=RUNNING,SUSPENDED,COMPLETING",
    "--format=%i %u",
]


# What any program of Slurm says where neither a file nor DNS tells it which cluster it is in.
NO_CLUSTER = "Could not establish a configuration source"


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
