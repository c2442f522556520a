# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The change of each vPOD as a whole, from its present allocation to the declared one. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from .._placement.cluster_space import Allocations
from .._placement.placement import Placement
from .._pod.model import Declaration, Vpod

CREATE, KEEP, GROW, SHRINK = "create", "keep", "grow", "shrink"
MOVE, REPLACE, RELEASE, REMOVE = "move", "replace", "release", "remove"

# V-IPU cannot change an allocation: these make it again, and everything in it goes before.
REBUILDING = (GROW, SHRINK, MOVE, REPLACE)


@dataclass(frozen=True)
class VpodChange:
    """The change of one vPOD."""

    vpod: str  # its name
    # ``create``, ``keep``, ``grow``, ``shrink``, ``move``, ``replace`` (a machine is excluded), ``release`` (jobs
    # are to have allocations instead) or ``remove``.
    kind: str
    before: tuple[str, ...]  # the IPU-Machines of its allocation, none where it has no allocation
    after: tuple[str, ...]  # those that it is to have

    @property
    def goes_down(self) -> bool:
        """Whether its allocation goes, for good or to be made again."""
        return bool(self.before) and (self.kind in (RELEASE, REMOVE) or self.kind in REBUILDING)

    @property
    def makes_allocation(self) -> bool:
        """Whether it gets an allocation, which it has not or which has to be made again."""
        return self.kind == CREATE or self.kind in REBUILDING

    @property
    def leaving(self) -> list[str]:
        """The IPU-Machines that it gives back."""
        return [name for name in self.before if name not in self.after]

    def __str__(self) -> str:
        if self.kind == REMOVE:
            return f"vPOD {self.vpod} is to go"
        if self.kind == RELEASE:
            return f"vPOD {self.vpod} is to leave its allocation ({', '.join(self.before)}) to Slurm's jobs"
        if self.kind in REBUILDING:
            return f"vPOD {self.vpod} is to {self.kind}, from {', '.join(self.before)} to {', '.join(self.after)}"
        return f"vPOD {self.vpod} is to {self.kind}"


def vpod_changes(declaration: Declaration, allocations: Allocations, placement: Placement) -> dict[str, VpodChange]:
    """Return the change of each vPOD by name; removals come first. A controller that could not be read is missing."""
    excluded = {name for pod in declaration.pods.values() for name in pod.excluded}

    def before(vpod: Vpod) -> tuple[str, ...]:
        return tuple(allocations.get(declaration.controller_of(vpod).host_name, {}).get(vpod.name, ()))

    gone = {name: VpodChange(name, REMOVE, before(vpod), ()) for name, vpod in declaration.absent.items()}
    kept = {name: _change(vpod, before(vpod), placement[name], excluded) for name, vpod in declaration.vpods.items()}
    return {**gone, **kept}


def leaving_first(
    changes: Mapping[str, VpodChange],
    allocations: Allocations,
    reached: Collection[str],
    strays: Collection[str],
    choosable: Collection[str],
) -> set[str]:
    """The IPU-Machines that leave the VLAN that they are in before any allocation is removed or made.

    That is what goes down gives back, and strays that somebody gets. Of what is ``choosable`` nobody knows who gets it:
    it leaves the VLANs of vPODs, which have ``reached`` it, unless its allocation stays.
    """
    back = {name for change in changes.values() if change.goes_down for name in change.leaving}
    gotten = {name for change in changes.values() if change.kind != KEEP for name in change.after}
    down = {name for name, change in changes.items() if change.goes_down}
    staying = {
        agent
        for names in allocations.values()
        for name, agents in names.items()
        if name not in down
        for agent in agents
    }
    return {*back, *(gotten & set(strays)), *((set(reached) & set(choosable)) - staying)}


def without(declaration: Declaration, names: Mapping[str, object]) -> Declaration:
    """The declaration without these vPODs."""
    return replace(declaration, vpods={name: vpod for name, vpod in declaration.vpods.items() if name not in names})


def _change(vpod: Vpod, before: tuple[str, ...], after: Sequence[str], excluded: set[str]) -> VpodChange:
    return VpodChange(vpod.name, _kind(vpod, before, after, excluded), before, tuple(after))


def _kind(vpod: Vpod, before: Sequence[str], after: Sequence[str], excluded: set[str]) -> str:
    if vpod.is_for_jobs:
        return RELEASE if before else KEEP
    if not before:
        return CREATE
    if sorted(before) == sorted(after):
        return KEEP
    if excluded & set(before):
        return REPLACE
    if len(after) != len(before):
        return GROW if len(after) > len(before) else SHRINK
    return MOVE
