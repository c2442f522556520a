# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removals with everything that depends on them, the partitions that die, and their order. Pure."""

from __future__ import annotations

from collections import defaultdict
from typing import Iterator, Mapping, Tuple

from .._plan.steps import DESTRUCTIVE, REMOVE, TENANT_OUTAGE, State, Step
from .entities import KINDS, PARTITION
from .fields import referred
from .rules import NAME

# Kind and name.
Entity = Tuple[str, str]


class Dependents:
    """The entities of a state by those that they depend on."""

    def __init__(self, state: State) -> None:
        self._children: Mapping[Entity, list[Entity]] = defaultdict(list)
        for kind in KINDS:
            for name, fields in state[kind].items():
                for parent in dict.fromkeys((other, wanted) for _field, other, wanted in referred(kind, fields)):
                    self._children[parent].append((kind, name))

    def direct(self, entity: Entity) -> list[Entity]:
        """The entities that name it in one of their fields."""
        return self._children.get(entity, [])

    def of(self, entities: Mapping[Entity, str]) -> dict[Entity, str]:
        """Everything that depends on these entities, at any depth, with the reason for which it has to go too."""
        found: dict[Entity, str] = {}
        rest = list(entities)
        while rest:
            parent = rest.pop()
            for child in self.direct(parent):
                if child not in found:
                    found[child] = f"depends on {parent[0]} {parent[1]}, which is created again"
                    rest.append(child)
        return found

    def partitions(self, entity: Entity) -> list[str]:
        """The partitions that die with an entity, itself included."""
        found = [name for kind, name in self.of({entity: ""}) if kind == PARTITION]
        return sorted([*found, entity[1]] if entity[0] == PARTITION else found)


def blocked(
    goes: Mapping[Entity, str], again: Mapping[Entity, str], declared: State, dependents: Dependents
) -> Iterator[str]:
    """One sentence for everything that cannot go, because what depends on it is to stay or would not come back.

    ``goes`` is what goes, with reasons; ``again`` what of it only goes because a parent is created again.
    """
    for (kind, name), reason in again.items():
        if name not in declared[kind] and goes[kind, name] == reason:
            yield f"{kind} {name}: {reason}, but it is not declared and would be lost; declare it, or remove it first"
    for parent_kind, parent in goes:
        if not NAME.fullmatch(parent):
            yield f"{parent_kind} {parent!r}: a program could take its name for an option; remove it by hand"
        for kind, name in dependents.direct((parent_kind, parent)):
            if (kind, name) not in goes:
                yield (
                    f"{parent_kind} {parent}: cannot be removed, because {kind} {name} depends on it and is to stay; "
                    f"declare {kind} {name} absent, or keep {parent_kind} {parent}"
                )


def removal_steps(goes: Mapping[Entity, str], actual: State, dependents: Dependents) -> list[Step]:
    """The removals from children to parents, each with who suffers."""
    steps = []
    for kind in reversed(KINDS):
        for name in reversed(list(actual[kind])):
            if (kind, name) in goes:
                partitions = dependents.partitions((kind, name))
                risk = TENANT_OUTAGE if partitions else DESTRUCTIVE
                die = f"; partitions that die: {', '.join(partitions)}" if partitions else ""
                steps.append(Step(REMOVE, kind, name, goes[kind, name] + die, risk, before=actual[kind][name]))
    return steps
