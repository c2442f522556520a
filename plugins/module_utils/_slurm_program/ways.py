# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The four ways in which jobs get IPUs: what they have in common."""

from __future__ import annotations

from typing import Protocol

from .._plan.steps import Fields
from .._vipu.sizes import IPUS_PER_ILD, partition_findings, replica_findings
from .job import Job
from .note import GCDS, IPUS, REPLICAS, Note, number


class Way(Protocol):
    """One way, on the Slurm controller."""

    def concerns(self, job: Job) -> bool:
        """Whether the job may have something on the V-IPU controller; it is not asked."""

    def take(self, job: Job) -> Note | None:
        """Give the job its IPUs. Returns its note, None for a job without IPUs.

        Raises:
            NoRoom: they are not free now. DeviceError: something failed. The job has nothing then.
        """

    def give_back(self, number: int, /) -> bool:
        """Take back what a job still has. Returns whether it had anything.

        Raises:
            DeviceError: something failed, and may be tried again.
        """

    def held(self) -> set[int]:
        """The numbers of the jobs that have something, whether Slurm still knows them or not."""


def shape_of(job: Job) -> tuple[int, int | None]:
    """GCDs and replicas of the job's partition: as its note asks, if that is possible with the IPUs that Slurm counted.

    Without replicas each GCD is one.
    """
    gcds, replicas = number(job.note, GCDS) or 1, number(job.note, REPLICAS)
    if replicas == gcds:
        replicas = None
    asked = number(job.note, IPUS) == job.ipus
    wrong = [*partition_findings(job.ipus, gcds, replicas, False), *replica_findings(job.ipus, gcds, replicas)]
    return (gcds, replicas) if asked and not wrong else (max(1, job.ipus // IPUS_PER_ILD), None)


def partition_fields(job: Job, allocation: str) -> Fields:
    """The fields of a partition that is made for the job."""
    gcds, replicas = shape_of(job)
    return {"size": job.ipus, "allocation": allocation, "gcds": gcds, "replicas": replicas}


def partition_note(job: Job, fields: Fields) -> Note:
    """Return the note's entry for a partition that was made for the job."""
    gcds = fields["gcds"]
    return {IPUS: str(job.ipus), GCDS: str(gcds), REPLICAS: str(fields["replicas"] or gcds)}
