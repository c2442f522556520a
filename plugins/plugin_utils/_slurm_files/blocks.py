# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes a job can have together where each has IPU-Machines of its own: those that V-IPU allocates as one. Pure.

Slurm knows them by features of its nodes: it gives a job that asks for ``[a|b]`` nodes that all have a, or all b.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

from .._placement.blocks import blocks_of, is_block

FEATURE = "ipu_block"

# Number of nodes to the blocks of so many.
NodeBlocks = dict[int, list[list[str]]]


def node_blocks(mapping: Mapping[str, Sequence[str]], machines: Sequence[str]) -> NodeBlocks:
    """The blocks of nodes, without numbers of nodes that have none.

    ``mapping`` gives as many IPU-Machines to each node; ``machines`` are all of the cluster, ILD by ILD.

    Raises:
        Refused: not even a node alone is one.
    """
    place_of = {machine: place for place, machine in enumerate(machines)}
    places = {node: {place_of[machine] for machine in names} for node, names in mapping.items()}
    found: NodeBlocks = {}
    for node, there in places.items():
        if not is_block(sorted(there)):
            named = ", ".join(mapping[node])
            raise Refused(f"slurm_mapping: {node} has {named}, which are no aligned block of the cluster; give it one")
    size = len(next(iter(places.values())))
    for count in range(1, len(places) + 1):
        for block in filter(is_block, blocks_of(count * size, 0, len(machines))):
            inside = [node for node, there in places.items() if there.issubset(block)]
            if len(inside) == count:
                found.setdefault(count, []).append(inside)
    return found


def features_of(blocks: NodeBlocks, nodes: int) -> dict[str, list[str]]:
    """Node to its features; where a job has one node or all of them, it needs none."""
    features: dict[str, list[str]] = {}
    for count, found in blocks.items():
        for number, block in enumerate(found, start=1):
            for node in block if 1 < count < nodes else ():
                features.setdefault(node, []).append(_name(count, number))
    return features


def constraints_of(blocks: NodeBlocks, nodes: int) -> dict[int, str]:
    """Number of nodes that a job can have to the features that it has to ask for, empty if none."""
    return {
        count: f"[{'|'.join(_name(count, number + 1) for number in range(len(found)))}]" if 1 < count < nodes else ""
        for count, found in blocks.items()
    }


def are_other(listed: str, wanted: Sequence[str]) -> bool:
    """Whether the features that a node's line says are of other blocks than it is in."""
    return sorted(name for name in _listed(listed) if name.startswith(FEATURE)) != sorted(wanted)


def with_ours(listed: str, wanted: Sequence[str]) -> str:
    """The features that a node's line has to say: the site's own, and the right ones of ours."""
    return ",".join([*(name for name in _listed(listed) if not name.startswith(FEATURE)), *wanted])


def _name(count: int, number: int) -> str:
    return f"{FEATURE}{count}_{number}"


def _listed(listed: str) -> list[str]:
    return [name for name in listed.split(",") if name]
