# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Free capacity of clusters; whether so many IPUs fit, and if not, what would make room. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import (
    ALLOCATION_SIZES,
    IPUS_PER_MACHINE,
    MACHINES_PER_ILD,
    is_allocation_size,
)

from .._pod.kinds import DeclarationError
from .._pod.model import Declaration
from .._pod.wording import unknown
from .cluster_space import Allocations, ClusterSpace, Holder, Obstacle, obstacles, spaces_of
from .placement import Placement, place
from .racks import pods_of_servers, racks_needed

Answer = dict[str, Any]

# How many ways to make room are shown, and among how many of the least disruptive ones they are looked for.
WAYS, LOOKED_AT = 3, 32


def capacity(declaration: Declaration, allocations: Allocations, ipus: int = 0, cluster: str = "") -> Answer:
    """Return the free capacity of one cluster or of all, and where so many ``ipus`` fit (0: nobody asks).

    Declared vPODs without an allocation count, and so do those for jobs. Refused if there is no such size or cluster,
    or a controller was not read.

    Returns:
        ``clusters``: name to ``ipus``, ``free_ipus``, ``largest_block_ipus``, ``free_blocks`` (lists of IPU-Machines,
        the largest first) and ``racks`` (pod to IPU-Machine to ``name`` of who has it, their ``ipus``, how many of
        these Slurm's jobs have (``job_ipus``, None where no job may), and whether it is ``excluded``; None for nobody).
        ``to_come``: vPODs that are not there yet, with the IPU-Machines that they would get. ``not_placed``: why some
        vPODs find no place, one sentence each; then none that is not there counts.
        ``asked``: the number of IPUs. ``fits``: cluster to the IPU-Machines where so many would lie, None for nowhere.
        ``ways``: cluster to how to make room there, the least disruptive first: ``block``, ``in_the_way`` (names),
        ``sentence`` (a sentence on them) and ``moves``, by name where each could move; empty where one has to go.
    """
    names = [cluster] if cluster else list(declaration.clusters)
    _refuse(declaration, allocations, ipus, names)
    spaces = spaces_of(declaration, allocations)
    to_come, not_placed = _to_come(declaration, allocations)
    for vpod, machines in to_come.items():
        space = spaces[declaration.vpods[vpod].cluster]
        # What is still to be given back is somebody's.
        free = [name for name in machines if space.holder_of(name) is None]
        space.take(free, Holder(vpod, f"vpods.{vpod}", tuple(machines)))
    asked = {name: spaces[name] for name in names if ipus}
    fits = {name: space.best(ipus // IPUS_PER_MACHINE) for name, space in asked.items()}
    return {
        "clusters": {name: _cluster(spaces[name]) for name in names},
        "to_come": {vpod: machines for vpod, machines in to_come.items() if declaration.vpods[vpod].cluster in names},
        "not_placed": not_placed,
        "asked": ipus,
        "fits": fits,
        "ways": {name: _ways(declaration, spaces[name], ipus) for name, machines in fits.items() if machines is None},
    }


def _refuse(declaration: Declaration, allocations: Allocations, ipus: int, clusters: Sequence[str]) -> None:
    problems = []
    if ipus and not is_allocation_size(ipus):
        problems.append(f"ipus: {ipus} IPUs do not exist as a vPOD; use {ALLOCATION_SIZES}")
    for name in clusters:
        if name not in declaration.clusters:
            problems.append(f"cluster: {unknown(name, 'cluster', declaration.clusters)}")
            continue
        host = declaration.controllers[declaration.clusters[name].controller].host_name
        if host not in allocations:
            problems.append(f"clusters.{name}: its controller on {host} could not be read; let it answer")
    if problems:
        raise DeclarationError(problems)


def _to_come(declaration: Declaration, allocations: Allocations) -> tuple[Placement, list[str]]:
    """The vPODs that have no allocation yet where they would lie, and why some find no place."""
    try:
        placement = place(declaration, allocations)
    except DeclarationError as error:
        return {}, error.problems
    there = {
        name
        for name, vpod in declaration.vpods.items()
        if vpod.is_for_jobs or name in allocations.get(declaration.controller_of(vpod).host_name, {})
    }
    return {name: machines for name, machines in placement.items() if name not in there}, []


def _cluster(space: ClusterSpace) -> Answer:
    blocks = space.free_blocks()
    racks = {
        pod: {name: _holder(space.holder_of(name)) for name in space.machines[first : first + MACHINES_PER_ILD]}
        for pod, first in zip(space.pods, range(0, len(space.machines), MACHINES_PER_ILD), strict=False)
    }
    return {
        "ipus": len(space.machines) * IPUS_PER_MACHINE,
        "free_ipus": sum(map(len, blocks)) * IPUS_PER_MACHINE,
        "largest_block_ipus": max(map(len, blocks), default=0) * IPUS_PER_MACHINE,
        "free_blocks": blocks,
        "racks": racks,
    }


def _holder(holder: Holder | None) -> Answer | None:
    if holder is None:
        return None
    words = {"name": holder.name, "ipus": holder.ipus, "job_ipus": holder.job_ipus}
    return {**words, "excluded": holder.is_excluded}


def _ways(declaration: Declaration, space: ClusterSpace, ipus: int) -> list[Answer]:
    """The least disruptive ways to make room: those where everybody can move before those where somebody has to go."""
    racks = _racks(declaration, space)
    ways: list[tuple[bool, Answer]] = []
    for obstacle in islice(_removable(space, ipus), LOOKED_AT):
        moves = _moves(space, obstacle, racks)
        way = {
            "block": list(obstacle.block),
            "in_the_way": [holder.name for holder in obstacle.holders],
            "sentence": str(obstacle),
            "moves": moves,
        }
        ways.append((len(moves) < len(obstacle.holders), way))
    return [way for _goes, way in sorted(ways, key=lambda way: way[0])[:WAYS]]


def _removable(space: ClusterSpace, ipus: int) -> Iterator[Obstacle]:
    return (each for each in obstacles(space, ipus // IPUS_PER_MACHINE) if not any(h.is_excluded for h in each.holders))


def _racks(declaration: Declaration, space: ClusterSpace) -> dict[str, list[str]]:
    pods = pods_of_servers(declaration)
    vpods = [vpod for vpod in declaration.vpods.values() if vpod.cluster == space.name]
    return {vpod.name: racks_needed(declaration.clusters[space.name], vpod, pods) for vpod in vpods}


def _moves(space: ClusterSpace, obstacle: Obstacle, racks: dict[str, list[str]]) -> dict[str, list[str]]:
    """Where those in the way could move, the largest first, all of them at once; without those who find nothing."""
    after = space.copy()
    for holder in obstacle.holders:
        after.release(after.held_by(holder.where, holder.machines))
    after.take(list(obstacle.block), Holder("", "", obstacle.block))
    moves = {}
    for holder in sorted(obstacle.holders, key=lambda holder: -holder.ipus):
        needed, size = racks.get(holder.name), len(holder.machines)
        machines = after.best_in(needed, size) if needed else after.best(size)
        if machines:
            after.take(machines, holder)
            moves[holder.name] = machines
    return moves
