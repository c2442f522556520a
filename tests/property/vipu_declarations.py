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


@st.composite
def declarations(draw: st.DrawFn) -> Declared:
    """Two racks, some tenants, their users and partitions; what is absent goes with all that stands on it."""
    allocations = [draw(_allocation(name)) for name in ALLOCATIONS if draw(st.integers(0, 4))]
    there = [entity["name"] for entity in allocations if entity["state"] == "present"]
    return {
        "agent": [draw(_agent(number, name)) for number, name in enumerate(AGENTS)],
        "cluster": [draw(_cluster(name)) for name in RACKS],
        "allocation": draw(st.permutations(allocations)),
        "user": [draw(_user(name, there)) for name in ("u", "v") if draw(st.integers(0, 2))],
        "partition": draw(
            st.permutations(
                [
                    draw(_partition(f"{entity['name']}-{name}", entity, size))
                    for entity in allocations
                    for name, size in (("p", 4), ("q", 2), ("r", 1))
                    if entity["state"] == "absent" or draw(st.integers(0, 2))
                ]
            )
        ),
    }


@st.composite
def _agent(draw: st.DrawFn, number: int, name: str) -> Entity:
    # Seldom another host: everything that stands on the agent then has to be made again.
    host = "10.2.1" if draw(st.integers(0, 30)) else "10.2.9"
    return {"name": name, "host": f"{host}.{number}", "port": 8080}


@st.composite
def _cluster(draw: st.DrawFn, name: str) -> Entity:
    topology = draw(st.sampled_from([None, "mesh", "mesh"]))
    return {"name": name, "agents": RACKS[name], "ipu_link_domains": 1, "topology": topology}


@st.composite
def _allocation(draw: st.DrawFn, name: str) -> Entity:
    cluster, size = draw(st.sampled_from(ALLOCATIONS[name]))
    return {"name": name, "cluster": cluster, "size": size, "state": draw(STATE)}


@st.composite
def _user(draw: st.DrawFn, name: str, allocations: list[str]) -> Entity:
    mine = draw(st.lists(st.sampled_from(allocations), unique=True)) if allocations else []
    return {"name": name, "allocations": mine, "state": draw(STATE)}


@st.composite
def _partition(draw: st.DrawFn, name: str, allocation: Entity, size: int) -> Entity:
    reconfigurable = bool(draw(st.integers(0, 3)) == 0)
    gcds = None if reconfigurable or size == 1 else draw(st.sampled_from([None, None, 1, 2]))
    return {
        "name": name,
        "allocation": allocation["name"],
        "size": size,
        "reconfigurable": reconfigurable,
        "gcds": gcds,
        "replicas": draw(st.sampled_from([None, None, size])),
        "sync_type": draw(st.sampled_from([None, None, "c2-compatible"])),
        "routing": draw(st.sampled_from([None, "dnc"])),
        "relocatable": draw(st.sampled_from([None, True])),
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
    """What is neither declared nor in the purge's scope is there as before, but for what the controller decides."""
    scopes = {
        "allocation": ("cluster", policy.purge.allocations_of),
        "partition": ("allocation", policy.purge.partitions_of),
    }
    for kind, entities in before.items():
        for name, fields in entities.items():
            parent, scope = scopes.get(kind, ("", ()))
            if (kind, name) not in names(declared) and fields.get(parent) not in scope:
                assert after[kind][name] == fields
