# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The things of a device that were compared with the declaration. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step

from .._host_resources.poplar_server import poplar_server_resources
from .._host_resources.resources import Directory, File, KernelParameter, Link, Resources, Unit
from .._host_resources.vipu_controller import vipu_controller_resources
from .._host_resources.vpod import vpod_resources
from .._inventory import stages
from .._inventory.stages import Stage
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
    """All that is declared in a stage in which something comes up."""
    readers = {
        stages.SWITCHES: _of_switch,
        stages.SERVERS: _of_server,
        stages.VPODS: _of_vpod,
        stages.CONTROLLERS: _of_controller,
        stages.TENANTS: _of_tenants,
        stages.DEDICATED: _of_dedicated,
    }
    return readers[stage.name](options, settings) if stage.name in readers else {}


def _of_switch(options: Any, _settings: Mapping[str, Any]) -> Names:
    return {
        "vlan": [str(vlan["vlan_id"]) for vlan in options["vlans"]],
        "port": [port["name"] for port in options["ports"] if port.get("owner") != "external"],
    }


def _of_server(options: Any, settings: Mapping[str, Any]) -> Names:
    return {
        "interface": [each["name"] for each in (*options["interfaces"], *settings["poplar_server_more_interfaces"])],
        "roce": [each["name"] for each in settings["poplar_server_roce"]],
        **_names(poplar_server_resources(settings)),
    }


def _of_controller(options: Any, settings: Mapping[str, Any]) -> Names:
    return {**_entities(options, ENTITIES), **_names(vipu_controller_resources(settings))}


def _of_tenants(options: Any, _settings: Mapping[str, Any]) -> Names:
    return _entities(options, TENANTS)


def _of_dedicated(options: Any, _settings: Mapping[str, Any]) -> Names:
    found: Names = {}
    for each in options:
        for kind, names in _entities(each, {**ENTITIES, **TENANTS}).items():
            found.setdefault(kind, []).extend(names)
    return found


def _of_vpod(options: Any, settings: Mapping[str, Any]) -> Names:
    own = {**settings, "vpod_vipu": options["vipu"] or {}, "vpod_containers": options["containers"] or {}}
    return _names(vpod_resources(own))


def _names(resources: Resources) -> Names:
    found: Names = {
        "file": [each.path for each in resources if isinstance(each, (File, Directory, Link))],
        "service": [each.name for each in resources if isinstance(each, Unit)],
        "kernel_parameter": [each.name for each in resources if isinstance(each, KernelParameter)],
    }
    return {kind: names for kind, names in found.items() if names}


def _entities(options: Mapping[str, Any], kinds: Mapping[str, str]) -> Names:
    return {kind: [each["name"] for each in options.get(plural, ())] for plural, kind in kinds.items()}
