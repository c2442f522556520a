# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All jobs share the vPOD's one reconfigurable partition; Slurm counts who uses how many IPUs of it."""

from __future__ import annotations

from dataclasses import dataclass

from .._plan.converge import DeviceError
from .._vipu.cli import Controller
from .._vipu.entities import ACTIVE, PARTITION
from .job import Job
from .note import IPUS, Note
from .note import PARTITION as PARTITION_NAME
from .settings import Settings


@dataclass
class Reconfigurable:
    """The way reconfigurable."""

    settings: Settings
    controller: Controller

    def concerns(self, job: Job) -> bool:
        """Slurm counted IPUs for it."""
        return job.ipus > 0

    def take(self, job: Job) -> Note | None:
        """See that the partition is there."""
        if not self.concerns(job):
            return None
        name = self.settings.partitions[0].name
        there = self.controller.read((PARTITION,))[PARTITION].get(name, {"status": "not there"})
        if there["status"] != ACTIVE:
            raise DeviceError(f"partition {name} is {there['status']}; run vpods.yml, or wait until it is up")
        return {IPUS: str(job.ipus), PARTITION_NAME: name}

    def give_back(self, _number: int, /) -> bool:
        """Nothing was made for the job."""
        return False

    def held(self) -> set[int]:
        """No job has anything of its own."""
        return set()
