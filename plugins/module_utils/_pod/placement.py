# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which IPU-Machines a vPOD gets. Allocations are the only memory; then come pins, then free blocks."""

from __future__ import annotations

from typing import Dict, Iterator, List, Mapping, Sequence

from .devices import ipu_machines_of
from .managed import manages_controller
from .model import Controller, Declaration, Vpod
from .schema import DeclarationError
from .sizes import IPUS_PER_MACHINE

# vPOD name to its IPU-Machines.
Placement = Dict[str, List[str]]
# Host name of a controller to its allocations: name to agents, which are named as their IPU-Machines.
Allocations = Mapping[str, Mapping[str, Sequence[str]]]


def place(declaration: Declaration, allocations: Allocations) -> Placement:
    """The IPU-Machines of each declared vPOD.

    Args:
        declaration: what is wanted.
        allocations: what the controllers say now. Allocations that are not declared here are somebody else's and are
            kept clear of.

    Raises:
        DeclarationError: a vPOD finds no free aligned block, or is pinned to what it does not have.
    """
    problems: list[str] = []
    placement: Placement = {}
    taken = {agent for names in allocations.values() for agents in names.values() for agent in agents}
    # Pinned vPODs choose first, so that no other takes their place.
    for vpod in sorted(declaration.vpods.values(), key=lambda vpod: not vpod.ipu_machines):
        there = allocations.get(_controller_host(declaration, vpod), {}).get(vpod.name)
        machines, found = _place_one(declaration, vpod, there, taken)
        problems += found
        placement[vpod.name] = machines
        taken.update(machines)
    if problems:
        raise DeclarationError(problems)
    return {name: placement[name] for name in declaration.vpods}


def unknown_places(declaration: Declaration, allocations: Allocations) -> list[str]:
    """Why it cannot be known where a vPOD lies, one sentence each; placing it anew would move it.

    Args:
        declaration: what is wanted.
        allocations: as in :func:`place`; controllers that could not be read are missing.
    """
    return [
        problem
        for vpod in declaration.vpods.values()
        if not vpod.ipu_machines
        for problem in _unknown_place(vpod, _controller(declaration, vpod), declaration, allocations)
    ]


def _unknown_place(
    vpod: Vpod, controller: Controller, declaration: Declaration, allocations: Allocations
) -> Iterator[str]:
    path, host, remedy = f"vpods.{vpod.name}", controller.host_name, "pin its IPU-Machines (ipu_machines)"
    if host not in allocations:
        yield f"{path}: the controller on {host} says where it lies and could not be read; let it answer, or {remedy}"
    elif vpod.name not in allocations[host] and not manages_controller(declaration, controller):
        lacks = f"the controller on {host}, which is not managed, has no allocation of that name"
        yield f"{path}: {lacks}; make it there, or {remedy}"


def _controller(declaration: Declaration, vpod: Vpod) -> Controller:
    return declaration.controllers[declaration.clusters[vpod.cluster].controller]


def _controller_host(declaration: Declaration, vpod: Vpod) -> str:
    return _controller(declaration, vpod).host_name


def _place_one(
    declaration: Declaration, vpod: Vpod, there: Sequence[str] | None, taken: set[str]
) -> tuple[list[str], list[str]]:
    """The IPU-Machines of one vPOD, and what stands in the way."""
    path = f"vpods.{vpod.name}"
    if there is not None:
        return list(there), _pin_problems(vpod, there)
    if vpod.ipu_machines:
        problems = [
            f"{path}.ipu_machines: {name!r} is already allocated; pin a free one or remove that allocation"
            for name in vpod.ipu_machines
            if name in taken
        ]
        return list(vpod.ipu_machines), problems
    block = _free_block(cluster_agents(declaration, vpod.cluster), taken, vpod.ipus // IPUS_PER_MACHINE)
    if block is None:
        remedy = "make it smaller or free IPU-Machines"
        return [], [
            f"{path}.ipus: no free aligned block of {vpod.ipus} IPUs is left in cluster {vpod.cluster}; {remedy}"
        ]
    return block, []


def cluster_agents(declaration: Declaration, cluster: str) -> list[str]:
    """The IPU-Machines of a cluster in ILD-major order."""
    pods = declaration.clusters[cluster].pods
    return [machine for pod in pods for machine in ipu_machines_of(declaration.pods[pod])]


def _pin_problems(vpod: Vpod, agents: Sequence[str]) -> list[str]:
    if vpod.ipu_machines and sorted(vpod.ipu_machines) != sorted(agents):
        return [
            f"vpods.{vpod.name}.ipu_machines: the allocation already has {', '.join(agents)}; "
            "moving a vPOD is not a matter of pins, remove it and make it again"
        ]
    return []


def _free_block(agents: Sequence[str], taken: set[str], size: int) -> list[str] | None:
    """The first block of ``size`` agents that is free and starts at a multiple of its size."""
    for start in range(0, len(agents) - size + 1, size):
        block = list(agents[start : start + size])
        if not any(agent in taken for agent in block):
            return block
    return None
