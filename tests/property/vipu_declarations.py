# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random declarations for a V-IPU controller of two racks with four IPU-Machines each, and random policies."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State, Step
from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import Policy, Purge
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS

Entity = dict[str, Any]
Declared = dict[str, list[Entity]]

STATE = st.sampled_from(["present", "present", "present", "present", "absent"])

RACKS = {"c": [f"a{number}" for number in range(4)], "d": [f"b{number}" for number in range(4)]}
AGENTS = [agent for rack in RACKS.values() for agent in rack]

# Mostly the same, so that two declarations have something in common; seldom another.
ALLOCATIONS = {"alice": [("c", 8), ("c", 8), ("c", 4)], "bob": [("c", 8), ("d", 8)], "carol": [("d", 8)]}

# Made once: Hypothesis takes longer to make a strategy than to draw from it.
PLACES = {name: st.sampled_from(places) for name, places in ALLOCATIONS.items()}
UP_TO_2, UP_TO_3, UP_TO_4, UP_TO_30 = (st.integers(0, most) for most in (2, 3, 4, 30))
TOPOLOGIES = st.sampled_from([None, "mesh", "mesh"])
GCDS = st.sampled_from([None, None, 1, 2])
REPLICAS = {size: st.sampled_from([None, None, size]) for size in (4, 2, 1)}
SYNC_TYPES = st.sampled_from([None, None, "c2-compatible"])
ROUTINGS = st.sampled_from([None, "dnc"])
RELOCATABLE = st.sampled_from([None, True])


@st.composite
def declarations(draw: st.DrawFn) -> Declared:
    """Two racks, some tenants, their users and partitions; what is absent goes with all that stands on it."""
    allocations = [_allocation(draw, name) for name in ALLOCATIONS if draw(UP_TO_4)]
    there = [entity["name"] for entity in allocations if entity["state"] == "present"]
    return {
        "agent": [_agent(draw, number, name) for number, name in enumerate(AGENTS)],
        "cluster": [_cluster(draw, name) for name in RACKS],
        "allocation": draw(st.permutations(allocations)),
        "user": [_user(draw, name, there) for name in ("u", "v") if draw(UP_TO_2)],
        "partition": draw(
            st.permutations(
                [
                    _partition(draw, f"{entity['name']}-{name}", entity, size)
                    for entity in allocations
                    for name, size in (("p", 4), ("q", 2), ("r", 1))
                    if entity["state"] == "absent" or draw(UP_TO_2)
                ]
            )
        ),
    }


def _agent(draw: st.DrawFn, number: int, name: str) -> Entity:
    # Seldom another host: everything that stands on the agent then has to be made again.
    host = "10.2.1" if draw(UP_TO_30) else "10.2.9"
    return {"name": name, "host": f"{host}.{number}", "port": 8080}


def _cluster(draw: st.DrawFn, name: str) -> Entity:
    topology = draw(TOPOLOGIES)
    return {"name": name, "agents": RACKS[name], "ipu_link_domains": 1, "topology": topology}


def _allocation(draw: st.DrawFn, name: str) -> Entity:
    cluster, size = draw(PLACES[name])
    return {"name": name, "cluster": cluster, "size": size, "state": draw(STATE)}


def _user(draw: st.DrawFn, name: str, allocations: list[str]) -> Entity:
    mine = draw(st.lists(st.sampled_from(allocations), unique=True)) if allocations else []
    return {"name": name, "allocations": mine, "state": draw(STATE)}


def _partition(draw: st.DrawFn, name: str, allocation: Entity, size: int) -> Entity:
    reconfigurable = draw(UP_TO_3) == 0
    gcds = None if reconfigurable or size == 1 else draw(GCDS)
    return {
        "name": name,
        "allocation": allocation["name"],
        "size": size,
        "reconfigurable": reconfigurable,
        "gcds": gcds,
        "replicas": draw(REPLICAS[size]),
        "sync_type": draw(SYNC_TYPES),
        "routing": draw(ROUTINGS),
        "relocatable": draw(RELOCATABLE),
        "state": "absent" if allocation["state"] == "absent" else draw(STATE),
    }


PURGES = st.builds(
    Purge,
    partitions_of=st.lists(st.sampled_from(sorted(ALLOCATIONS)), unique=True).map(tuple),
    allocations_of=st.sampled_from([(), (), ("c",), ("c", "d")]),
    patterns=st.sampled_from([("*",), ("*",), ("*-[pq]", "[abc]*")]),
    ignore=st.sampled_from([(), ("*-r",)]),
    max_deletions=st.sampled_from([0, 2, 20, 20]),
)

POLICIES = st.builds(
    Policy, purge=PURGES, allow_recreate=st.sampled_from([True, True, True, False]), keeps_keys=st.just(True)
)


def names(declared: Declared) -> set[tuple[str, str]]:
    """Everything declared, present or absent."""
    return {(kind, entity["name"]) for kind in KINDS for entity in declared[kind]}


def check_order(steps: list[Step]) -> None:
    """Removals come first, children before parents; then creations, parents before children."""
    places = [
        KINDS.index(step.kind) if step.action == "create" else KINDS.index(step.kind) - len(KINDS) for step in steps
    ]
    removals = [place for place in places if place < 0]
    assert places == sorted(removals, reverse=True) + sorted(place for place in places if place >= 0)


def check_untouched(declared: Declared, policy: Policy, before: State, after: State) -> None:
    """Assert that nothing outside the declaration and the purge's scope changes, unless the controller decides it."""
    scopes = {
        "allocation": ("cluster", policy.purge.allocations_of),
        "partition": ("allocation", policy.purge.partitions_of),
    }
    for kind, entities in before.items():
        for name, fields in entities.items():
            parent, scope = scopes.get(kind, ("", ()))
            if (kind, name) not in names(declared) and fields.get(parent) not in scope:
                assert after[kind][name] == fields
