# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The obstacles of a block, the least disruptive first. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import IPUS_PER_MACHINE

from .._pod.wording import listed, spans
from .cluster_space import ClusterSpace, Holder


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
