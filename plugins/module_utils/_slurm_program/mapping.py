# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each job gets the IPU-Machines that belong to its nodes, as an allocation; a partition and a V-IPU user if asked."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Sequence

from .._plan.converge import DeviceError
from .._plan.steps import Fields
from .._vipu.cli import Controller
from .._vipu.entities import ALLOCATION, PARTITION, USER
from .._vipu.sizes import IPUS_PER_MACHINE
from .entities import make, remove
from .job import Job
from .note import ACCESS, IPUS, Note
from .note import ALLOCATION as ALLOCATION_NAME
from .note import PARTITION as PARTITION_NAME
from .settings import Settings
from .slurm import Slurm
from .ways import partition_fields, partition_note

# No other number is a job's, whoever has given the name.
NAME = re.compile(r"c([1-9][0-9]{0,9})")


@dataclass
class Mapping:
    """The way mapping."""

    settings: Settings
    controller: Controller
    slurm: Slurm

    def concerns(self, job: Job) -> bool:
        """It is in a Slurm partition whose jobs are IPU jobs."""
        return self.settings.is_of_ipus(job.partition)

    def take(self, job: Job) -> Note | None:
        """Make the allocation and what belongs to it."""
        nodes = self.slurm.hosts(job.nodes) if self.concerns(job) else []
        machines = [machine for node in nodes for machine in self.settings.mapping.get(node, ())]
        if not machines:
            return None
        if not self.controller.allocates_by_agents():
            raise DeviceError("this V-IPU release cannot make an allocation of given IPU-Machines; use another way")
        try:
            return self._made(job, machines)
        except DeviceError:
            with suppress(DeviceError):
                self.give_back(job.id)
            raise

    def give_back(self, number: int) -> bool:
        """Remove it all, and the partitions that the job itself has made in the allocation."""
        state = self.controller.read((ALLOCATION, PARTITION, *[USER] * self.settings.job_users))
        allocation, user = f"c{number}", f"j{number}"
        if not self._is_mapped(state[ALLOCATION].get(allocation, {"agents": []})):
            return False
        if state.get(USER, {}).get(user, {}).get("allocations") == [allocation]:
            remove(self.controller, USER, user)
        for name, fields in state[PARTITION].items():
            if fields["allocation"] == allocation:
                remove(self.controller, PARTITION, name)
        remove(self.controller, ALLOCATION, allocation)
        return True

    def held(self) -> set[int]:
        """The jobs that have an allocation of mapped IPU-Machines."""
        there = self.controller.read((ALLOCATION,))[ALLOCATION]
        mine = [name for name, fields in there.items() if self._is_mapped(fields)]
        return {int(found[1]) for name in mine for found in [NAME.fullmatch(name)] if found}

    def _is_mapped(self, allocation: Fields) -> bool:
        """Whether an allocation is of IPU-Machines that are mapped here; others may have the same names."""
        mapped = {machine for machines in self.settings.mapping.values() for machine in machines}
        return not mapped.isdisjoint(allocation["agents"])

    def _made(self, job: Job, machines: Sequence[str]) -> Note:
        allocation, partition, user = f"c{job.id}", f"p{job.id}", f"j{job.id}"
        self._make(job, ALLOCATION, allocation, {"cluster": self.settings.cluster, "agents": list(machines)})
        note = {IPUS: str(len(machines) * IPUS_PER_MACHINE), ALLOCATION_NAME: allocation}
        if job.ipus:
            fields = partition_fields(job, allocation)
            self._make(job, PARTITION, partition, fields)
            note.update({**partition_note(job, fields), PARTITION_NAME: partition})
        if self.settings.job_users:
            key = self.controller.create_user(user, {"allocations": [allocation]})
            note[ACCESS] = self.slurm.for_root_alone(key)
        return note

    def _make(self, job: Job, kind: str, name: str, fields: Fields) -> None:
        make(self.controller, kind, name, fields, lambda: self.give_back(job.id))
