# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a device was compared with what is declared, whether it differs or not. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step

from .._pod import stages
from .._pod.stages import Stage
from .looks import Look

Names = dict[str, list[str]]

ENTITIES = {"agents": "agent", "clusters": "cluster", "allocations": "allocation"}
TENANTS = {"users": "user", "partitions": "partition"}


def compared(stage: Stage, options: Any, look: Look, steps: Sequence[Step]) -> Names:
    """Kind to names: all that is declared of a device in a stage, and all that has a step."""
    found = _declared(stage, options, look["settings"])
    for step in steps:
        found.setdefault(step.kind, []).append(step.name)
    return found


def _declared(stage: Stage, options: Any, settings: Mapping[str, Any]) -> Names:
    if stage.name == stages.SWITCHES:
        return {
            "vlan": [str(vlan["vlan_id"]) for vlan in options["vlans"]],
            "port": [port["name"] for port in options["ports"] if port.get("owner") != "external"],
        }
    if stage.name == stages.SERVERS:
        more = settings.get("poplar_server_more_interfaces", [])
        roce = settings.get("poplar_server_roce", [])
        return {
            "interface": [each["name"] for each in (*options["interfaces"], *more)],
            "roce": [each["name"] for each in roce],
        }
    if stage.name == stages.CONTROLLERS:
        return _entities(options, ENTITIES)
    if stage.name == stages.TENANTS:
        return _entities(options, TENANTS)
    if stage.name == stages.DEDICATED:
        found: Names = {}
        for each in options:
            for kind, names in _entities(each, {**ENTITIES, **TENANTS}).items():
                found.setdefault(kind, []).extend(names)
        return found
    return {}


def _entities(options: Mapping[str, Any], kinds: Mapping[str, str]) -> Names:
    return {kind: [each["name"] for each in options.get(plural, ())] for plural, kind in kinds.items()}
