# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the modules that change a controller; those of entities and their documentation by :mod:`.fields`."""

from __future__ import annotations

import json
from typing import Any, Dict, Mapping, Sequence

from .connection import CONNECTION_OPTIONS, WAIT_TIMEOUT
from .declared import Declared, Policy, Purge
from .entities import AGENT, KINDS, PARTITION, USER, plural
from .fields import ABOUT, COUNT, FIELDS, LOOPED, MACHINES, NAMES, NUMBER, SWITCH, TEXT, Field
from .rules import Rules

Spec = Dict[str, Any]

LIST_OF_NAMES: Spec = {"type": "list", "elements": "str"}
TYPES: Mapping[str, Spec] = {
    TEXT: {"type": "str"},
    NUMBER: {"type": "int"},
    COUNT: {"type": "int"},
    MACHINES: {"type": "int"},
    SWITCH: {"type": "bool"},
    LOOPED: {"type": "bool"},
    NAMES: LIST_OF_NAMES,
}
STATE: Spec = {"type": "str", "choices": ["present", "absent"], "default": "present"}


def _option(field: Field) -> Spec:
    option = dict(TYPES[field.type])
    if field.words:
        option["choices"] = list(field.words)
    if field.default is not None:
        option["default"] = field.default
    return option


def _entity_option(kind: str) -> Spec:
    """The option for one kind of entity; the needed fields may be left out of absent ones."""
    declarable = [field for field in FIELDS[kind] if field.doc]
    return {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "name": {"type": "str", "required": True},
            **{field.name: _option(field) for field in declarable},
            "state": STATE,
        },
        "required_if": [("state", "present", sorted(field.name for field in declarable if field.needed))],
    }


ENTITY_OPTIONS: Spec = {kind: _entity_option(kind) for kind in KINDS}


def documentation(kind: str) -> str:
    """The option for one kind of entity as a documentation fragment."""
    docs = {
        "name": f"Id of the {kind}.",
        **{field.name: _documented(kind, field) for field in FIELDS[kind]},
        "state": f"Whether the {kind} {'is registered' if kind == AGENT else 'exists'}.",
    }
    suboptions = {
        name: {"description": docs[name], **option} for name, option in ENTITY_OPTIONS[kind]["options"].items()
    }
    option = {"description": ABOUT[kind], "type": "list", "elements": "dict", "default": [], "suboptions": suboptions}
    return json.dumps({"options": {plural(kind): option}})


def _documented(kind: str, field: Field) -> str:
    needed = f" Needed unless O({plural(kind)}[].state=absent)." if field.needed else ""
    return f"{field.doc}{needed}{' At creation only, it is not read back.' if field.creation_only else ''}"


# Options that go with a kind.
KIND_OPTIONS: Mapping[str, Spec] = {
    USER: {
        "key_directory": {"type": "path", "no_log": False},
        "return_keys": {"type": "bool", "default": False, "no_log": False},
    },
    PARTITION: {
        "strict_sizes": {"type": "bool", "default": False},
        "any_replica_size": {"type": "bool", "default": False},
    },
}

WRITER_OPTIONS: Spec = {
    "allow_recreate": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": WAIT_TIMEOUT},
    "lock_timeout": {"type": "int", "default": 0},
    "new_controller": {"type": "bool", "default": False},
    "predicted": {"type": "dict", "default": {}},
}

PURGE_OPTION: Spec = {
    "type": "dict",
    "default": {},
    "options": {
        "partitions_of": dict(LIST_OF_NAMES, default=[]),
        "allocations_of": dict(LIST_OF_NAMES, default=[]),
        "patterns": dict(LIST_OF_NAMES, default=["*"]),
        "ignore": dict(LIST_OF_NAMES, default=[]),
        "max_deletions": {"type": "int", "default": 0},
    },
}


def options_of(kinds: Sequence[str]) -> Spec:
    """The argument spec of a module for these kinds of entities."""
    spec: Spec = {**CONNECTION_OPTIONS, **WRITER_OPTIONS}
    for kind in kinds:
        spec[plural(kind)] = ENTITY_OPTIONS[kind]
        spec.update(KIND_OPTIONS.get(kind, {}))
    return spec


def declared_by(params: Mapping[str, Any]) -> Declared:
    """The entities in a module's options; options that are left out have their defaults."""
    return {
        kind: [_with_defaults(ENTITY_OPTIONS[kind]["options"], entity) for entity in params.get(plural(kind), [])]
        for kind in KINDS
    }


def policy_of(params: Mapping[str, Any]) -> Policy:
    """The policy in a module's options; options that are left out have their defaults."""
    return Policy(
        rules=Rules(bool(params.get("strict_sizes")), bool(params.get("any_replica_size"))),
        purge=_purge(_with_defaults(PURGE_OPTION["options"], params.get("purge", {}))),
        allow_recreate=bool(params.get("allow_recreate")),
        keeps_keys=bool(params.get("key_directory") or params.get("return_keys")),
    )


def _with_defaults(options: Spec, given: Mapping[str, Any]) -> Spec:
    return {**{name: option["default"] for name, option in options.items() if "default" in option}, **given}


def _purge(purge: Mapping[str, Any]) -> Purge:
    return Purge(
        partitions_of=tuple(purge["partitions_of"]),
        allocations_of=tuple(purge["allocations_of"]),
        patterns=tuple(purge["patterns"]),
        ignore=tuple(purge["ignore"]),
        max_deletions=purge["max_deletions"],
    )
