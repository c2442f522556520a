# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The IPU-Machines of one cluster: who has them, and the blocks among them, free or in somebody's way. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import IPUS_PER_MACHINE, MACHINES_PER_ILD

from .._pod.devices import cluster_agents
from .._pod.model import OF_A_JOB, Declaration, Vpod, is_of_a_job
from .._pod.wording import listed, spans
from .blocks import FreeBlocks, blocks_of, is_block

# Host name of a controller to its allocations: name to agents, which are named as their IPU-Machines.
Allocations = Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True)
class Holder:
    """Who has IPU-Machines of a cluster.

    ``name`` is a vPOD's or an allocation's, or the machine's own where it is excluded. ``where`` says where that can be
    changed: a key path, or the controller, for an allocation that is not declared. ``job_ipus`` is how many of its IPUs
    Slurm's jobs have, None where they have no allocations there. ``is_job`` says whether it is the allocation of one.
    """

    name: str
    where: str
    machines: tuple[str, ...]
    is_declared: bool = True
    is_excluded: bool = False
    job_ipus: int | None = None
    is_job: bool = False

    @property
    def ipus(self) -> int:
        """How many IPUs they have in all."""
        return len(self.machines) * IPUS_PER_MACHINE

    def __str__(self) -> str:
        if self.is_excluded:
            return f"{self.name} ({self.where})"
        return f"{self.name} ({self.where}, {self.ipus} IPUs on {spans(self.machines)})"


class ClusterSpace:
    """The places of one cluster by the names of their IPU-Machines, which it is given in ILD-major order.

    ``holders`` map IPU-Machines to who has them; those of other clusters do no harm.
    """

    def __init__(self, name: str, pods: Sequence[str], machines: Sequence[str], holders: Mapping[str, Holder]) -> None:
        self.name = name
        self.pods = list(pods)
        self._ild_of = {pod: ild for ild, pod in enumerate(pods)}
        self.machines = list(machines)
        self._place_of = {machine: place for place, machine in enumerate(machines)}
        self._holders = {machine: holders[machine] for machine in machines if machine in holders}
        self._free = FreeBlocks(len(self.machines), [self._place_of[machine] for machine in self._holders])

    def copy(self) -> ClusterSpace:
        """The same, to try something out."""
        return ClusterSpace(self.name, self.pods, self.machines, self._holders)

    def holder_of(self, machine: str) -> Holder | None:
        """Who has an IPU-Machine; None for nobody."""
        return self._holders.get(machine)

    def here(self, machines: Iterable[str]) -> list[str]:
        """Those IPU-Machines that are of this cluster, in its order."""
        return self.names(sorted(self._place_of[machine] for machine in machines if machine in self._place_of))

    def held_by(self, where: str, machines: Iterable[str]) -> list[str]:
        """Those of the IPU-Machines that the holder of this ``where`` has."""
        return [
            machine
            for machine in self.here(machines)
            for holder in [self._holders.get(machine)]
            if holder and holder.where == where
        ]

    def take(self, machines: Sequence[str], holder: Holder) -> None:
        """Give free IPU-Machines to somebody."""
        self._free.take([self._place_of[machine] for machine in machines])
        self._holders.update(dict.fromkeys(machines, holder))

    def release(self, machines: Sequence[str]) -> None:
        """Take IPU-Machines back from who has them."""
        self._free.release([self._place_of[machine] for machine in machines])
        for machine in machines:
            del self._holders[machine]

    def free_blocks(self) -> list[list[str]]:
        """All free IPU-Machines, as few and as large blocks as possible, the largest first."""
        return [self.names(block) for block in self._free.largest_first()]

    def best(self, size: int) -> list[str] | None:
        """The free block that costs the least of the large free ones."""
        return self._named(self._free.best(size))

    def best_in(self, pods: Collection[str], size: int) -> list[str] | None:
        """The same of the blocks that have a part in each of these pods."""
        ilds = [self._ild_of[pod] for pod in pods]
        if len(ilds) == 1 and size <= MACHINES_PER_ILD:
            return self._named(self._free.best_in(ilds[0], size))
        places = [ild * MACHINES_PER_ILD for ild in ilds]
        return self._named(self._tightest(self._around(min(places), max(places) + MACHINES_PER_ILD, size)))

    def best_around(self, machines: Sequence[str], size: int) -> list[str] | None:
        """The same of the blocks that contain all of these IPU-Machines."""
        places = [self._place_of[machine] for machine in machines]
        return self._named(self._tightest(self._around(min(places), max(places) + 1, size)))

    def best_inside(self, machines: Sequence[str], size: int) -> list[str] | None:
        """The same of the blocks that are a part of these IPU-Machines."""
        places = {self._place_of[machine] for machine in machines}
        inside = blocks_of(size, min(places), max(places) + 1)
        return self._named(self._tightest(block for block in inside if places.issuperset(block)))

    def is_block(self, machines: Iterable[str]) -> bool:
        """Whether IPU-Machines of the cluster are one block."""
        return is_block(sorted(self._place_of[machine] for machine in machines))

    def blocks(self, size: int) -> Iterator[list[str]]:
        """Every block of a size, free or not."""
        return (self.names(block) for block in blocks_of(size, 0, len(self.machines)))

    def pods_of(self, machines: Iterable[str]) -> list[str]:
        """The pods in which these IPU-Machines stand, in ILD order."""
        ilds = sorted({self._place_of[machine] // MACHINES_PER_ILD for machine in self.here(machines)})
        return [self.pods[ild] for ild in ilds]

    def names(self, places: Iterable[int]) -> list[str]:
        """The IPU-Machines at some places."""
        return [self.machines[place] for place in places]

    def _around(self, first: int, stop: int, size: int) -> Iterator[range]:
        """The blocks that contain all places from ``first`` to before ``stop``."""
        return blocks_of(size, max(0, stop - size), min(len(self.machines), first + size))

    def _tightest(self, blocks: Iterable[range]) -> range | None:
        """The free block with the fewest free neighbours, the lowest of equal ones."""
        free = [block for block in blocks if self._free.is_free(block)]
        return min(free, key=lambda block: (self._free.free_beside(block), block.start), default=None)

    def _named(self, block: range | None) -> list[str] | None:
        return None if block is None else self.names(block)


def spaces_of(declaration: Declaration, allocations: Allocations) -> dict[str, ClusterSpace]:
    """Cluster name to its IPU-Machines, with who has them now.

    An IPU-Machine that is excluded is nobody else's: it cannot be given away, whoever lies on it. What a vPOD is pinned
    to whose allocations are those of jobs is its own, also while no job has it.
    """
    holders = {
        **{machine: holder for holder in _for_jobs(declaration, allocations) for machine in holder.machines},
        **{machine: holder for holder in _holders(declaration, allocations) for machine in holder.machines},
        **{
            machine: Holder(machine, f"pods.{pod.name}.excluded", (machine,), is_excluded=True)
            for pod in declaration.pods.values()
            for machine in pod.excluded
        },
    }
    return {
        cluster.name: ClusterSpace(cluster.name, cluster.pods, cluster_agents(declaration, cluster.name), holders)
        for cluster in declaration.clusters.values()
    }


def _holders(declaration: Declaration, allocations: Allocations) -> list[Holder]:
    """Who has an allocation now: vPODs that are declared, and others, but for jobs inside the vPODs that are theirs."""
    declared = {**declaration.absent, **declaration.vpods}
    inside = {
        (declaration.controller_of(vpod).host_name, name)
        for vpod in declaration.vpods.values()
        for name in jobs_inside(declaration, allocations, vpod)
    }
    found = []
    for host, names in allocations.items():
        for name, agents in names.items():
            vpod = declared.get(name)
            is_declared = vpod is not None and declaration.controller_of(vpod).host_name == host
            is_job = not is_declared and is_of_a_job("allocation", name)
            stranger = f"an allocation on {host} that is {OF_A_JOB if is_job else 'not declared'}"
            where = f"vpods.{name}" if is_declared else stranger
            if (host, name) not in inside:
                found.append(Holder(name, where, tuple(agents), is_declared, is_job=is_job))
    return found


def jobs_inside(declaration: Declaration, allocations: Allocations, vpod: Vpod) -> dict[str, Sequence[str]]:
    """The allocations of Slurm's jobs inside a vPOD that is for them, each with its agents; none for other vPODs."""
    if not vpod.is_for_jobs:
        return {}
    there, pins = allocations.get(declaration.controller_of(vpod).host_name, {}), set(vpod.ipu_machines)
    return {
        name: agents for name, agents in there.items() if is_of_a_job("allocation", name) and pins.issuperset(agents)
    }


def _for_jobs(declaration: Declaration, allocations: Allocations) -> list[Holder]:
    """The vPODs that have what they are pinned to without an allocation."""
    return [
        Holder(vpod.name, f"vpods.{vpod.name}", vpod.ipu_machines, job_ipus=IPUS_PER_MACHINE * sum(map(len, there)))
        for vpod in declaration.vpods.values()
        if vpod.is_for_jobs
        for there in [jobs_inside(declaration, allocations, vpod).values()]
    ]


@dataclass(frozen=True)
class Obstacle:
    """A block that is not free, and who has IPU-Machines of it."""

    block: tuple[str, ...]
    holders: tuple[Holder, ...]

    def __str__(self) -> str:
        verb = "is" if len(self.holders) == 1 else "are"
        return f"on {spans(self.block)}, {listed(list(map(str, self.holders)))} {verb} in the way"

    @property
    def disruption(self) -> tuple[bool, int, int, int]:
        """How bad it would be to take it: what is excluded cannot be freed; then all IPUs of the holders count.

        Of equal ones, those are better in whose way fewer are, and fewer that are not declared here.
        """
        excluded = any(holder.is_excluded for holder in self.holders)
        strangers = sum(not holder.is_declared for holder in self.holders)
        return excluded, sum(holder.ipus for holder in self.holders), len(self.holders), strangers


def obstacles(space: ClusterSpace, size: int, pods: Collection[str] = ()) -> list[Obstacle]:
    """All blocks of a size that are not free, the least disruption first, then the lowest.

    With ``pods`` only blocks that have a part in each of these.
    """
    found = []
    for block in space.blocks(size):
        holders = dict.fromkeys(holder for holder in map(space.holder_of, block) if holder)
        if holders and set(pods) <= set(space.pods_of(block)):
            found.append(Obstacle(tuple(block), tuple(holders)))
    return sorted(found, key=lambda obstacle: obstacle.disruption)


def in_the_way(space: ClusterSpace, size: int, pods: Collection[str] = ()) -> str:
    """In words, who is in the way on the best of these blocks."""
    found = obstacles(space, size, pods)
    return str(found[0]) if found else f"it has {len(space.machines) * IPUS_PER_MACHINE} IPUs in all"
