# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a controller holds to options of the module ``vipu_state``, for what pods.yml does not say. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import AGENT, ALLOCATION, CLUSTER, PARTITION, USER
from ansible_collections.ipu.pod.plugins.module_utils._vipu.fields import ENUMS

from .partitions import replica_words

# Plural of the kind to the entities that are declared.
Options = dict[str, list[dict[str, Any]]]

# Kind to the fields that vipu_state can declare; the rest is only read.
DECLARED = {
    AGENT: ("host", "port"),
    CLUSTER: ("agents", "topology", "ipu_link_domains", "looped"),
    ALLOCATION: ("cluster", "size", "agents"),
    USER: ("allocations",),
    PARTITION: ("allocation", "size", "gcds", "routing", "gw_routing", "sync_type", "reconfigurable"),
}


def option(kind: str, name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The option of vipu_state that keeps an entity as it is."""
    return {"name": name, **dict(_declarable(kind, fields))}


def _declarable(kind: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in DECLARED[kind]:
        # A word of the controller that nobody knows cannot be declared.
        if name not in ENUMS or fields[name] in ENUMS[name]:
            yield name, fields[name]
    if kind == PARTITION:
        yield from replica_words(fields).items()
