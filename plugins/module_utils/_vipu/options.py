# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the modules that change a controller, each said once; the documentation is in doc_fragments."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Sequence

from .connection import CONNECTION_OPTIONS, WAIT_TIMEOUT
from .declared import Declared, Policy, Purge
from .entities import AGENT, ALLOCATION, CLUSTER, KINDS, PARTITION, USER, plural
from .interconnect import GW_ROUTINGS, ROUTINGS, SYNC_TYPES
from .rules import Rules

Spec = Dict[str, Any]

NAMES: Spec = {"type": "list", "elements": "str"}


def _entities(needed: Sequence[str], **fields: Spec) -> Spec:
    """The option for one kind of entity; the needed fields may be left out of absent ones."""
    fields["name"] = {"type": "str", "required": True}
    fields["state"] = {"type": "str", "choices": ["present", "absent"], "default": "present"}
    return {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": fields,
        "required_if": [("state", "present", needed)],
    }


ENTITY_OPTIONS: Spec = {
    AGENT: _entities(("host",), host={"type": "str"}, port={"type": "int", "default": 8080}),
    CLUSTER: _entities(
        ("agents",),
        agents=NAMES,
        topology={"type": "str", "choices": ["mesh", "torus"]},
        ipu_link_domains={"type": "int", "default": 1},
        looped={"type": "bool"},
    ),
    ALLOCATION: _entities(("cluster", "size"), cluster={"type": "str"}, size={"type": "int"}, agents=NAMES),
    USER: _entities((), allocations=dict(NAMES, default=[])),
    PARTITION: _entities(
        ("allocation", "size"),
        allocation={"type": "str"},
        size={"type": "int"},
        gcds={"type": "int"},
        replicas={"type": "int"},
        routing={"type": "str", "choices": list(ROUTINGS)},
        gw_routing={"type": "str", "choices": list(GW_ROUTINGS)},
        sync_type={"type": "str", "choices": list(SYNC_TYPES)},
        reconfigurable={"type": "bool", "default": False},
        index={"type": "int"},
        relocatable={"type": "bool"},
        disable_auto_reset={"type": "bool"},
    ),
}

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
        "partitions_of": dict(NAMES, default=[]),
        "allocations_of": dict(NAMES, default=[]),
        "patterns": dict(NAMES, default=["*"]),
        "ignore": dict(NAMES, default=[]),
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
    """What a module's options declare; what is left out has its default, whoever asks."""
    return {
        kind: [_with_defaults(ENTITY_OPTIONS[kind]["options"], entity) for entity in params.get(plural(kind), [])]
        for kind in KINDS
    }


def policy_of(params: Mapping[str, Any]) -> Policy:
    """What a module's options allow; what is left out has its default, whoever asks."""
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
