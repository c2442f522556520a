# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The vPOD's partitions stay as they are declared, and each job gets some of them, as Slurm counted by GRES."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Collection, Mapping, Sequence

from .._plan.converge import DeviceError
from .._plan.steps import Fields
from .._vipu.cli import Controller
from .._vipu.connection import WAIT_TIMEOUT
from .._vipu.entities import ACTIVE, PARTITION
from .._vipu.settle import read_settled
from .directory import Directory
from .entities import NoRoom, make, remove
from .job import Job
from .note import GCDS, IPUS, PARTITIONS, REPLICAS, Note
from .note import PARTITION as PARTITION_NAME
from .settings import DeclaredPartition, Settings
from .slurm import Slurm

# Node to how many partitions of each number of IPUs a job has there.
Counts = Mapping[str, Mapping[str, int]]


@dataclass
class Static:
    """The way static; the claims are in ``directory``."""

    settings: Settings
    controller: Controller
    slurm: Slurm
    directory: Directory

    def concerns(self, job: Job) -> bool:
        """It has a claim."""
        return job.id in self.held()

    def take(self, job: Job) -> Note | None:
        """Claim the partitions, and put right what others have changed in them."""
        counts = self.slurm.gres(job)
        if not any(counts.values()):
            return None
        with self.directory.claims() as claims:
            _release(claims, job.id)
            chosen = choose(self.settings.partitions, claims, counts)
            claims.update({partition.name: job.id for partition in chosen})
        try:
            there = self._there([partition.name for partition in chosen])
            for partition in chosen:
                if not self._is_as_declared(partition, there):
                    self._make_anew(partition, there)
        except DeviceError:
            with self.directory.claims() as claims:
                _release(claims, job.id)
            raise
        return _note(chosen)

    def give_back(self, number: int) -> bool:
        """Reset the job's partitions, make those anew that it has changed, and release them."""
        with self.directory.claims() as claims:
            mine = [partition for partition in self.settings.partitions if claims.get(partition.name) == number]
        if mine:
            there = self._there([partition.name for partition in mine])
            for partition in mine:
                if self._is_as_declared(partition, there):
                    self.controller.reset_partition(partition.name)
                else:
                    self._make_anew(partition, there)
        with self.directory.claims() as claims:
            _release(claims, number)
        return bool(mine)

    def held(self) -> set[int]:
        """The jobs that have a claim."""
        with self.directory.claims() as claims:
            return set(claims.values())

    def _there(self, names: Sequence[str]) -> dict[str, Fields]:
        return read_settled(self.controller, (PARTITION,), names, WAIT_TIMEOUT)[PARTITION]

    def _fields(self, partition: DeclaredPartition) -> Fields:
        # As the controller says it; one replica for each GCD is what it makes without being asked.
        return {
            "size": partition.ipus,
            "allocation": self.settings.allocation,
            "gcds": partition.gcds,
            "replicas": partition.replicas,
            **partition.options,
        }

    def _is_as_declared(self, partition: DeclaredPartition, there: Mapping[str, Fields]) -> bool:
        found = there.get(partition.name, {})
        wanted = {**self._fields(partition), "status": ACTIVE}
        return all(found.get(field) == value for field, value in wanted.items() if field in found) and bool(found)

    def _make_anew(self, partition: DeclaredPartition, there: Mapping[str, Fields]) -> None:
        self._remove(partition, there)
        fields = self._fields(partition)
        if partition.replicas == partition.gcds:
            del fields["replicas"]
        make(
            self.controller,
            PARTITION,
            partition.name,
            fields,
            lambda: self._remove(partition, self.controller.read((PARTITION,))[PARTITION]),
        )

    def _remove(self, partition: DeclaredPartition, there: Mapping[str, Fields]) -> None:
        """Remove it if it is there; others may have the same name in their allocations."""
        if there.get(partition.name, {}).get("allocation") == self.settings.allocation:
            remove(self.controller, PARTITION, partition.name)


def choose(partitions: Sequence[DeclaredPartition], taken: Collection[str], counts: Counts) -> list[DeclaredPartition]:
    """The free partitions that make up what a job has by GRES. Pure.

    Raises:
        NoRoom: some of it is not free, or its nodes have no partition together.
    """
    left = {(node, size): count for node, sizes in counts.items() for size, count in sizes.items()}
    chosen: list[DeclaredPartition] = []
    for partition in partitions:
        places = {(node, str(partition.ipus)) for node in partition.nodes}
        if partition.name not in taken and all(left.get(place, 0) > 0 for place in places):
            chosen.append(partition)
            for place in places:
                left[place] -= 1
    missing = sorted(f"{count} of {size} IPUs on {node}" for (node, size), count in left.items() if count)
    if missing:
        raise NoRoom(f"partitions are in use, or belong to other nodes: {', '.join(missing)}")
    return chosen


def _release(claims: dict[str, int], number: int) -> None:
    for name in [name for name, owner in claims.items() if owner == number]:
        del claims[name]


def _note(chosen: Sequence[DeclaredPartition]) -> Note:
    first = chosen[0]
    return {
        IPUS: str(sum(partition.ipus for partition in chosen)),
        GCDS: str(first.gcds),
        REPLICAS: str(first.replicas),
        PARTITION_NAME: first.name,
        PARTITIONS: ",".join(partition.name for partition in chosen),
    }
