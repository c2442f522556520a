# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a V-IPU controller holds: agents, clusters, allocations, partitions, and how they refer to each other. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from .._plan.steps import State

AGENT, CLUSTER, ALLOCATION, PARTITION = "agent", "cluster", "allocation", "partition"

# Parents first: an entity only refers to kinds that stand before its own.
KINDS = (AGENT, CLUSTER, ALLOCATION, PARTITION)

# Known after apply: no plan can tell these, so check mode leaves them out of ``after``.
COMPUTED = {
    AGENT: ("status",),
    CLUSTER: ("topology", "looped"),
    ALLOCATION: (),
    PARTITION: ("gcds", "replicas", "status"),
}


@dataclass(frozen=True)
class Reference:
    """A field that names one entity, or a list of entities, of another kind."""

    field: str
    kind: str


REFERENCES = {
    AGENT: (),
    CLUSTER: (Reference("agents", AGENT),),
    ALLOCATION: (Reference("cluster", CLUSTER), Reference("agents", AGENT)),
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


def empty_state() -> State:
    """The state of a controller that holds nothing yet."""
    state: dict[str, dict[str, dict[str, Any]]] = {kind: {} for kind in KINDS}
    return state
