# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The declared entities of a V-IPU controller, and the policy for changing it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Mapping, Sequence

from .._plan.steps import Fields, State
from .entities import ALLOCATION, KINDS, PARTITION, USER, plural
from .fields import CREATION_ONLY
from .rules import Rules, doubles

# Kind to entities, each with ``name``, ``state`` (``present`` or ``absent``) and its fields.
Declared = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Purge:
    """The scope in which entities that nobody declared are removed; empty by default.

    Args:
        partitions_of: allocations whose partitions are purged.
        allocations_of: clusters whose allocations are purged.
        patterns: only names that match one of these globs.
        ignore: never names that match one of these globs.
        max_deletions: a plan that would purge more is refused.
    """

    partitions_of: tuple[str, ...] = ()
    allocations_of: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ("*",)
    ignore: tuple[str, ...] = ()
    max_deletions: int = 0

    def reason(self, kind: str, name: str, fields: Fields) -> str:
        """Why an entity that is not declared is to go; empty if it is to stay."""
        scope, parent = {PARTITION: (self.partitions_of, "allocation"), ALLOCATION: (self.allocations_of, "cluster")}[
            kind
        ]
        if fields[parent] not in scope or not _matches(name, self.patterns) or _matches(name, self.ignore):
            return ""
        return f"is not declared, and {parent} {fields[parent]} is purged"


@dataclass(frozen=True)
class Policy:
    """The changes that a run may make.

    ``allow_recreate`` removes and creates again what differs, with everything that depends on it. ``keeps_keys`` says
    that the access keys of new users go somewhere.
    """

    rules: Rules = field(default_factory=Rules)
    purge: Purge = field(default_factory=Purge)
    allow_recreate: bool = False
    keeps_keys: bool = False


def wanted(declared: Declared) -> State:
    """The fields of everything declared present, by kind and name; a field that is left out is the controller's."""
    return {
        kind: {
            entity["name"]: {
                name: value for name, value in entity.items() if name not in ("name", "state") and value is not None
            }
            for entity in declared.get(kind, ())
            if not _is_absent(entity)
        }
        for kind in KINDS
    }


def unwanted(declared: Declared) -> dict[str, set[str]]:
    """The names of everything declared absent, by kind."""
    return {kind: {entity["name"] for entity in declared.get(kind, ()) if _is_absent(entity)} for kind in KINDS}


def double_findings(declared: Declared) -> list[str]:
    """One sentence for everything declared twice."""
    return [
        f"{plural(kind)}: {name!r} is declared twice; keep one"
        for kind in KINDS
        for name in doubles([entity["name"] for entity in declared.get(kind, ())])
    ]


def unmanaged(declared: Declared, state: State, kinds: Sequence[str]) -> dict[str, list[str]]:
    """The names of what is there and nobody declared, by plural of the kind; tenants and Slurm make such."""
    names = {kind: {entity["name"] for entity in declared.get(kind, ())} for kind in kinds}
    return {plural(kind): sorted(set(state.get(kind, {})) - names[kind]) for kind in kinds}


def relevant_kinds(declared: Declared, policy: Policy) -> tuple[str, ...]:
    """The kinds that have to be read. Users only matter where they are declared or where allocations may go."""
    removes = policy.allow_recreate or policy.purge.allocations_of or any(unwanted(declared).values())
    return KINDS if declared.get(USER) or removes else tuple(kind for kind in KINDS if kind != USER)


def readable(kind: str, fields: Fields) -> Fields:
    """The fields that the controller shows again."""
    return {name: value for name, value in fields.items() if name not in CREATION_ONLY[kind]}


def creation_only(kind: str, fields: Fields) -> Fields:
    """The fields that the controller takes at creation only."""
    return {name: value for name, value in fields.items() if name in CREATION_ONLY[kind]}


def _is_absent(entity: Mapping[str, Any]) -> bool:
    return bool(entity.get("state") == "absent")


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
