# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a V-IPU controller holds: its kinds of entities, their fields, and how they refer to each other. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from .._plan.steps import Fields, State

AGENT, CLUSTER, ALLOCATION, USER, PARTITION = "agent", "cluster", "allocation", "user", "partition"

# Parents first: an entity only refers to kinds that stand before its own.
KINDS = (AGENT, CLUSTER, ALLOCATION, USER, PARTITION)

# Known after apply: what the controller decides where nothing is declared, so check mode leaves it out of ``after``.
COMPUTED = {
    AGENT: ("status", "version"),
    CLUSTER: ("topology", "looped"),
    ALLOCATION: ("agents",),
    USER: ("admin",),
    PARTITION: ("gcds", "replicas", "routing", "gw_routing", "sync_type", "status", "errors"),
}

# At creation only: the controller takes these and never shows them again, so they are not compared.
CREATION_ONLY: dict[str, tuple[str, ...]] = {
    AGENT: (),
    CLUSTER: (),
    ALLOCATION: (),
    USER: (),
    PARTITION: ("index", "relocatable", "disable_auto_reset"),
}

# Lists whose order says nothing. (The agents of a cluster stand in ILD order.)
UNORDERED = {ALLOCATION: "agents", USER: "allocations"}

ACTIVE, PENDING, ERROR = "ACTIVE", "PENDING", "ERROR"


@dataclass(frozen=True)
class Reference:
    """A field that names one entity, or a list of entities, of another kind."""

    field: str
    kind: str


REFERENCES: dict[str, tuple[Reference, ...]] = {
    AGENT: (),
    CLUSTER: (Reference("agents", AGENT),),
    ALLOCATION: (Reference("cluster", CLUSTER), Reference("agents", AGENT)),
    USER: (Reference("allocations", ALLOCATION),),
    PARTITION: (Reference("allocation", ALLOCATION),),
}


def plural(kind: str) -> str:
    """The name of a list of that kind, in module options and in the controller's JSON."""
    return f"{kind}s"


def referred(kind: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What an entity refers to: field, kind and name."""
    for reference in REFERENCES[kind]:
        value = fields.get(reference.field)
        names: list[str] = value if isinstance(value, list) else [] if value in (None, "") else [str(value)]
        for name in names:
            yield reference.field, reference.kind, name


def same(kind: str, there: Fields, wanted: Fields) -> Fields:
    """The wanted fields, with lists whose order says nothing in the order that they have there."""
    field = UNORDERED.get(kind, "")
    declared, held = wanted.get(field), there.get(field)
    if declared is None or held is None or sorted(declared) != sorted(held):
        return wanted
    return {**wanted, field: held}


def empty_state() -> State:
    """The state of a controller that holds nothing yet."""
    state: State = {kind: {} for kind in KINDS}
    return state
