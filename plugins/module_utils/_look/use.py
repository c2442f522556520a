# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds work on a server that needs its IPUs or its RDMA network."""

from __future__ import annotations

import re
from functools import partial
from typing import Callable, Sequence

from .._host.programs import Programs
from .._plan.converge import DeviceError
from .._rnic.uses import LONGEST, rdma_uses
from .._text.line import printable

# Slurm takes localhost for whatever slurm.conf calls this host.
SQUEUE = ["squeue", "--noheader", "--nodelist=localhost", "--states=RUNNING,SUSPENDED,COMPLETING", "--format=%i %u"]
# Connections of TCP and UDP that are up, with their programs.
SS = ["ss", "--no-header", "--numeric", "--processes", "--tcp", "--udp"]
_USER = re.compile(r'\("([^"]*)",pid=([0-9]+),')
# What any program of Slurm says where neither a file nor DNS tells it which cluster it is in.
NO_CLUSTER = "Could not establish a configuration source"


def running_on(
    programs: Programs, rdma_devices: Sequence[str], addresses: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """Return the uses as sentences, with those that may exist where asking failed, and why it failed.

    Connections from one of the ``addresses`` count, too.
    """

    def queue_pairs(programs: Programs) -> list[str]:
        pairs = rdma_uses(programs, rdma_devices).queue_pairs
        if pairs is None:
            raise DeviceError("rdma: the RDMA queue pairs cannot be listed; install the program rdma (iproute2)")
        return [str(pair) for pair in pairs]

    askers: list[Callable[[Programs], list[str]]] = [slurm_jobs, queue_pairs]
    askers += [partial(connections, address=address) for address in addresses]
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


def connections(programs: Programs, address: str) -> list[str]:
    """The connections of programs, by TCP or UDP, from an address of this server.

    Raises:
        DeviceError: they cannot be listed.
    """
    found = []
    for line in programs.call([*SS, f"src = {address}"]).splitlines():
        words = line.split(None, 6)
        if len(words) < 6:
            raise DeviceError(f"ss: {line!r} is no connection")
        users = ", ".join(f"{name} (process {number})" for name, number in _USER.findall(line))
        found.append(f"{words[0]} connection from {words[4]} to {words[5]} of {users or 'an unknown program'}")
    return found


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
