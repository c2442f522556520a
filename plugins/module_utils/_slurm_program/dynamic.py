# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each job gets a partition of its own, of as many IPUs as Slurm counted for it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._plan.steps import Fields
from .._vipu.cli import Controller, NotDone
from .._vipu.dialect import FAILED
from .._vipu.entities import PARTITION
from .entities import NoRoom, make, remove
from .job import Job
from .note import PARTITION as PARTITION_NAME
from .note import Note
from .settings import Settings
from .ways import partition_fields, partition_note

# No other number is a job's, whoever has given the name.
NAME = re.compile(r"slurm_([1-9][0-9]{0,9})")


@dataclass
class Dynamic:
    """The way dynamic."""

    settings: Settings
    controller: Controller

    def concerns(self, job: Job) -> bool:
        """Slurm counted IPUs for it."""
        return job.ipus > 0

    def take(self, job: Job) -> Note | None:
        """Make the partition."""
        if not self.concerns(job):
            return None
        fields = partition_fields(job, self.settings.allocation)
        try:
            self._make(job.id, fields)
        except NotDone as error:
            if error.reason != FAILED:
                raise
            self._make_elsewhere(job.id, fields, error)
        return {**partition_note(job, fields), PARTITION_NAME: partition_name(job.id)}

    def give_back(self, number: int) -> bool:
        """Remove the partition."""
        if partition_name(number) not in self._partitions():
            return False
        remove(self.controller, PARTITION, partition_name(number))
        return True

    def held(self) -> set[int]:
        """The jobs that have a partition in the vPOD."""
        return {int(found[1]) for name in self._partitions() for found in [NAME.fullmatch(name)] if found}

    def _partitions(self) -> list[str]:
        """All partitions of the vPOD; others may have the same names in theirs."""
        there = self.controller.read((PARTITION,))[PARTITION]
        return [name for name, fields in there.items() if fields["allocation"] == self.settings.allocation]

    def _make(self, number: int, fields: Fields) -> None:
        make(self.controller, PARTITION, partition_name(number), fields, lambda: self.give_back(number))

    def _make_elsewhere(self, number: int, fields: Fields, failure: NotDone) -> None:
        """Make a partition where the first place did not come up, for example because an IPU-Machine there is down."""
        full: NoRoom | None = None
        for index in range(self.settings.ipus // fields["size"]):
            try:
                self._make(number, {**fields, "index": index})
            except NoRoom as error:
                full = error
            except NotDone as error:
                if error.reason != FAILED:
                    raise
            else:
                return
        raise full or failure


def partition_name(number: int) -> str:
    """The name of a job's partition."""
    return f"slurm_{number}"
