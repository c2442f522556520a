# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which IPU-Machines a vPOD gets. Allocations are the only memory; then come pins, then free blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import IPUS_PER_MACHINE

from .._pod.kinds import DeclarationError, Problem
from .._pod.managed import manages_controller
from .._pod.model import Controller, Declaration, Vpod
from .._pod.wording import spans
from .cluster_space import Allocations, ClusterSpace, Holder, in_the_way, spaces_of
from .racks import misplaced, pods_of_servers, racks_needed

# vPOD name to its IPU-Machines.
Placement = dict[str, list[str]]


def place(declaration: Declaration, allocations: Allocations, allowed: Collection[str] = ()) -> Placement:
    """The IPU-Machines that each declared vPOD is to have, by what the controllers' allocations say now.

    A vPOD stays where its allocation is, unless its controller is managed and what is declared of it asks for another
    block: other pins, another size, or another cluster. It grows into a block around the old one if that is free, and
    shrinks inside the old one. One that only has an IPU-Machine that is excluded leaves it if that is
    ``allowed`` and another block is free; else it stays too, see :mod:`degraded`. All others get the free block that
    leaves the largest ones free. Allocations that are not declared here are somebody else's and are kept clear of.

    What is to go, or to move, makes room for others only where they would find none otherwise.

    A new vPOD finds a block whenever one is free. Several new ones find theirs whatever their order in the file,
    except where there are several gaps of whole pods: then larger ones are placed first, into the smallest gap that
    fits, which is not always the best for vPODs of several pods each.

    Raises :class:`DeclarationError` if a vPOD finds no free block, or is pinned to what somebody else has.
    """
    try:
        return _placement(declaration, allocations, allowed, makes_room=False)
    except DeclarationError:
        return _placement(declaration, allocations, allowed, makes_room=True)


def unknown_places(declaration: Declaration, allocations: Allocations) -> list[str]:
    """Why it cannot be known where a vPOD lies, one sentence each; placing it anew would move it.

    Of ``allocations``, controllers that could not be read are missing.
    """
    return [
        problem
        for vpod in declaration.vpods.values()
        if not vpod.ipu_machines
        for problem in _unknown_place(vpod, declaration.controller_of(vpod), declaration, allocations)
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


@dataclass(frozen=True)
class _Wish:
    """One vPOD: what it has now, what of it can be kept, and the racks that it needs.

    ``now`` is its allocation, ``own`` what it has in its cluster and is not excluded, and ``has_dead`` whether
    something is. What an allocation on a controller that is not managed has, or one with agents that pods.yml does not
    know, is in nobody's power here (``is_fixed``). ``is_allowed`` says whether it may be interrupted.
    """

    vpod: Vpod
    now: tuple[str, ...]
    own: tuple[str, ...]
    racks: tuple[str, ...]
    is_fixed: bool
    has_dead: bool
    is_allowed: bool

    @property
    def size(self) -> int:
        """How many IPU-Machines it is to have."""
        return self.vpod.ipus // IPUS_PER_MACHINE

    @property
    def stays(self) -> bool:
        """Whether it is to keep exactly what it has."""
        if self.is_fixed:
            return True
        if self.may_be_stranded and not self.is_allowed:
            return True
        if self.vpod.ipu_machines:
            return sorted(self.vpod.ipu_machines) == sorted(self.now)
        return len(self.now) == len(self.own) == self.size

    @property
    def may_be_stranded(self) -> bool:
        """Whether it only wants to leave an IPU-Machine that is excluded."""
        return self.has_dead and len(self.now) == self.size and not self.vpod.ipu_machines

    @property
    def urgency(self) -> tuple[int, int, bool]:
        """Return the sort key: least choice first, then the largest, then existing ones."""
        choices = [bool(self.vpod.ipu_machines), self.size < len(self.own), bool(self.racks), True]
        return choices.index(True), -self.size, not self.own


def _placement(
    declaration: Declaration, allocations: Allocations, allowed: Collection[str], makes_room: bool
) -> Placement:
    spaces = spaces_of(declaration, allocations)
    wishes = _wishes(declaration, allocations, allowed, spaces)
    if makes_room:
        _make_room(declaration, allocations, spaces, wishes)
    problems: list[Problem] = []
    placement: Placement = {}
    for wish in sorted(wishes, key=lambda wish: wish.urgency):
        machines = list(wish.now) if wish.stays else _take(spaces[wish.vpod.cluster], wish, makes_room)
        placement[wish.vpod.name] = machines or []
        problems += _problems(declaration, spaces[wish.vpod.cluster], wish, machines)
    if problems:
        raise DeclarationError(problems)
    return {name: placement[name] for name in declaration.vpods}


def _wishes(
    declaration: Declaration, allocations: Allocations, allowed: Collection[str], spaces: Mapping[str, ClusterSpace]
) -> list[_Wish]:
    pods = pods_of_servers(declaration)
    known = {machine for space in spaces.values() for machine in space.machines}
    managed = {each.name: manages_controller(declaration, each) for each in declaration.controllers.values()}
    wishes = []
    for vpod in declaration.vpods.values():
        controller, space = declaration.controller_of(vpod), spaces[vpod.cluster]
        now = tuple(allocations.get(controller.host_name, {}).get(vpod.name, ()))
        wishes.append(
            _Wish(
                vpod,
                now,
                own=tuple(space.held_by(_where(vpod), {*now, *vpod.ipu_machines})),
                racks=tuple(racks_needed(declaration.clusters[vpod.cluster], vpod, pods)),
                is_fixed=bool(now) and not (managed[controller.name] and known.issuperset(now)),
                has_dead=any(holder.is_excluded for name in now for holder in [space.holder_of(name)] if holder),
                is_allowed=vpod.name in allowed,
            )
        )
    return wishes


def _make_room(
    declaration: Declaration, allocations: Allocations, spaces: Mapping[str, ClusterSpace], wishes: Sequence[_Wish]
) -> None:
    """Let go of what is sure to be free: of vPODs that are to go, move to their pins, or shrink."""
    for vpod in declaration.absent.values():
        space = spaces[vpod.cluster]
        there = allocations.get(declaration.controller_of(vpod).host_name, {}).get(vpod.name, ())
        space.release(space.held_by(_where(vpod), there))
    for wish in wishes:
        if not wish.stays and (wish.vpod.ipu_machines or wish.size < len(wish.own)):
            spaces[wish.vpod.cluster].release(wish.own)


def _take(space: ClusterSpace, wish: _Wish, makes_room: bool) -> list[str] | None:
    """Give a vPOD its block, or what it has if it may be stranded; None where it finds no block."""
    before = space.held_by(_where(wish.vpod), wish.own)
    space.release(before)
    block = _block(space, wish)
    if block is None and not wish.may_be_stranded:
        return None
    taken = before if block is None else block
    left = [] if makes_room else [name for name in before if name not in set(taken)]
    for machines in (taken, left):
        free = [name for name in machines if space.holder_of(name) is None]
        space.take(free, Holder(wish.vpod.name, _where(wish.vpod), tuple(machines)))
    return list(wish.now) if block is None else block


def _block(space: ClusterSpace, wish: _Wish) -> list[str] | None:
    """The pins, else a block inside or around what the vPOD has, else the best of all, in the racks that it needs."""
    if wish.vpod.ipu_machines:
        pins = space.here(wish.vpod.ipu_machines)
        return pins if space.is_block(pins) and not _in_the_way_of_pins(space, wish) else None
    if wish.own:
        near = (space.best_inside if wish.size <= len(wish.own) else space.best_around)(wish.own, wish.size)
        if near and set(wish.racks) <= set(space.pods_of(near)):
            return near
    return space.best_in(wish.racks, wish.size) if wish.racks else space.best(wish.size)


def _in_the_way_of_pins(space: ClusterSpace, wish: _Wish) -> dict[str, Holder]:
    """Who has IPU-Machines that a vPOD is pinned to. One that is for jobs may have some that are excluded."""
    held = {name: space.holder_of(name) for name in space.here(wish.vpod.ipu_machines)}
    return {
        name: holder for name, holder in held.items() if holder and not (holder.is_excluded and wish.vpod.is_for_jobs)
    }


def _problems(
    declaration: Declaration, space: ClusterSpace, wish: _Wish, machines: Sequence[str] | None
) -> Iterator[Problem]:
    path = _where(wish.vpod)
    if machines is not None:
        is_known = len(space.here(machines)) == len(machines)
        problem = misplaced(declaration.clusters[space.name], wish.racks, space.pods_of(machines)) if is_known else ""
        if problem:
            yield Problem(f"{path}.poplar_servers", problem)
        if wish.vpod.is_for_jobs and wish.is_fixed:
            yield Problem(
                f"{path}.allocation",
                f"{declaration.controller_of(wish.vpod).host_name} has an allocation of that name, "
                "which cannot be removed from here, and jobs cannot have its IPU-Machines; remove it there, or say own",
            )
        elif wish.vpod.ipu_machines and sorted(wish.vpod.ipu_machines) != sorted(machines):
            yield Problem(
                f"{path}.ipu_machines",
                f"its allocation on {declaration.controller_of(wish.vpod).host_name} has "
                f"{spans(machines)} and cannot be moved from here; pin these",
            )
    elif wish.vpod.ipu_machines:
        pins = space.here(wish.vpod.ipu_machines)
        if not space.is_block(pins):
            example, *_others = (spans(block) for block in space.blocks(wish.size) if pins[0] in block)
            problem = f"{spans(pins)} are no aligned block of clusters.{space.name}; pin one, for example {example}"
            yield Problem(f"{path}.ipu_machines", problem)
        for name, holder in _in_the_way_of_pins(space, wish).items():
            remedy = "end the job" if holder.is_job else "free this one"
            yield Problem(f"{path}.ipu_machines", f"{name!r} belongs to {holder}; pin a free one, or {remedy}")
    else:
        yield Problem(
            f"{path}.ipus",
            f"{wish.vpod.ipus} IPUs find no free aligned block in clusters.{space.name}: "
            f"{in_the_way(space, wish.size, wish.racks)}; make it smaller, or free these",
        )


def _where(vpod: Vpod) -> str:
    return f"vpods.{vpod.name}"
