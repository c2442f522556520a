# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declared V-IPU entities against what the controller holds, as ordered steps. Pure."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from .._plan.converge import Refused
from .._plan.steps import (
    CREATE,
    DESTRUCTIVE,
    REMOVE,
    TENANT_OUTAGE,
    Fields,
    State,
    Step,
    changed_fields,
    predict,
    reason_for,
)
from .entities import KINDS, PARTITION, plural
from .rules import findings

Declared = Mapping[str, Sequence[Mapping[str, Any]]]


def plan(declared: Declared, actual: State) -> list[Step]:
    """The steps that make ``actual`` what is declared: removals from children to parents, then creations.

    Args:
        declared: kind to entities, each with ``name``, ``state`` (``present`` or ``absent``) and its fields.
        actual: the state of the controller. What is not declared is left alone.

    Raises:
        Refused: a rule is broken, or an entity would have to be changed, which V-IPU has no command for.
    """
    creations: list[Step] = []
    removals: list[Step] = []
    problems: list[str] = []
    for kind in KINDS:
        problems += _doubles(kind, declared.get(kind, ()))
        for entity in declared.get(kind, ()):
            name, wanted = entity["name"], _fields(entity)
            there = actual[kind].get(name)
            if entity.get("state", "present") == "absent":
                if there is not None:
                    removals.insert(0, _removal(kind, name, there))
            elif there is None:
                creations.append(Step(CREATE, kind, name, "is not there", after=wanted))
            else:
                changes = changed_fields(there, wanted)
                if changes:
                    problems.append(
                        f"{kind} {name}: {reason_for(there, changes)}; V-IPU cannot change it: declare what is "
                        "there, or remove it first"
                    )
    steps = removals + creations
    created: dict[str, dict[str, Any]] = {}
    for step in creations:
        created.setdefault(step.kind, {})[step.name] = step.after
    problems += findings(predict(actual, steps), created) if steps and not problems else []
    if problems:
        raise Refused("; ".join(problems))
    return steps


def _fields(entity: Mapping[str, Any]) -> Fields:
    return {key: value for key, value in entity.items() if key not in ("name", "state") and value is not None}


def _removal(kind: str, name: str, there: Fields) -> Step:
    risk = TENANT_OUTAGE if kind == PARTITION else DESTRUCTIVE
    return Step(REMOVE, kind, name, "is declared absent", risk, before=there)


def _doubles(kind: str, entities: Sequence[Mapping[str, Any]]) -> list[str]:
    names = [entity["name"] for entity in entities]
    return [
        f"{plural(kind)}: {name!r} is declared twice; keep one"
        for index, name in enumerate(names)
        if name in names[:index]
    ]
