# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes back what jobs have left behind, each minute: an epilog that fails or is killed is not run again by Slurm."""

from __future__ import annotations

from typing import Callable

from .._plan.converge import DeviceError
from .directory import Directory
from .slurm import Slurm
from .ways import Way

Log = Callable[[str], None]


def reap(way: Way, slurm: Slurm, directory: Directory, log: Log) -> None:
    """Take back what jobs hold that Slurm no longer knows.

    Raises:
        DeviceError: something could not be taken back; the rest was.
    """
    # In this order: whatever is held now and whose job is gone afterwards is really left behind.
    held = way.held()
    left = sorted(held - slurm.job_numbers()) if held else []
    failures = []
    for number in left:
        with directory.job(number):
            try:
                way.give_back(number)
            except DeviceError as error:
                failures.append(f"job {number}: {error}")
            else:
                log(f"job {number}: took back what it had left behind")
    if failures:
        raise DeviceError("; ".join(failures))
