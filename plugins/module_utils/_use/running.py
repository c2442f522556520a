# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs on a server and needs its IPUs or its RDMA network."""

from __future__ import annotations

from typing import Callable, Sequence

from .._plan.converge import DeviceError
from .._rnic.programs import Programs
from .._rnic.queue_pairs import rdma_uses
from .slurm import slurm_jobs


def running_on(programs: Programs, rdma_devices: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is in use, in words, with whatever it may be that could not be asked; and why that could not be."""

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
    return [*in_use, *(f"whatever it is ({why})" for why in unknown)], unknown
