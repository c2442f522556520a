# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Placement: never overlapping, never misaligned, and a vPOD that has its allocation never moves."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._pod.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.module_utils._pod.model import Declaration
from ansible_collections.ipu.pod.plugins.module_utils._pod.placement import cluster_agents, place
from ansible_collections.ipu.pod.plugins.module_utils._pod.schema import DeclarationError

SIZES = st.lists(st.sampled_from([4, 8, 16, 32, 64]), min_size=1, max_size=16)


def declared(sizes: list[int], pods: int = 2) -> Declaration | None:
    document: dict[str, Any] = {
        "schema": 1,
        "pods": {f"p{n}": {"model": "bow-pod64", "lrack": n, "addressing": "multi-rack"} for n in range(1, pods + 1)},
        "controllers": {"v": {"host": "p1-poplar1"}},
        "clusters": {"c": {"controller": "v", "pods": [f"p{n}" for n in range(1, pods + 1)]}},
        "vpods": {f"t{index}": {"cluster": "c", "ipus": ipus} for index, ipus in enumerate(sizes)},
    }
    try:
        return parse_declaration(document)
    except DeclarationError:
        return None


@given(SIZES)
def test_blocks_are_disjoint_aligned_and_of_the_right_size(sizes: list[int]) -> None:
    declaration = declared(sizes)
    if declaration is None:
        assert sum(sizes) > 128
        return
    agents = cluster_agents(declaration, "c")
    try:
        placement = place(declaration, {})
    except DeclarationError:
        # Small vPODs that come first can take what a large one needs in one piece.
        return
    placed = [machine for machines in placement.values() for machine in machines]
    assert len(placed) == len(set(placed))
    for name, machines in placement.items():
        assert len(machines) * 4 == declaration.vpods[name].ipus
        assert agents.index(machines[0]) % len(machines) == 0
        assert machines == agents[agents.index(machines[0]) :][: len(machines)]


@given(SIZES, st.randoms())
def test_what_is_allocated_stays(sizes: list[int], random: Any) -> None:
    declaration = declared(sizes)
    if declaration is None:
        return
    agents = cluster_agents(declaration, "c")
    vpod = random.choice(list(declaration.vpods.values()))
    size = vpod.ipus // 4
    start = random.randrange(0, len(agents), size)
    there = {vpod.name: agents[start : start + size], "somebody-elses": []}
    try:
        placement = place(declaration, {"p1-poplar1": there})
    except DeclarationError:
        return
    assert placement[vpod.name] == there[vpod.name]
    assert place(declaration, {"p1-poplar1": placement}) == placement
