# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The things of a device that were compared with the declaration. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.module_utils._tor.unsaved import NAME, STARTUP

from .._host_resources.containers import client_resources, containers_resources
from .._host_resources.poplar_server import poplar_server_resources
from .._host_resources.resources import Directory, File, KernelParameter, Link, Resources, Unit
from .._host_resources.vipu_controller import vipu_controller_resources
from .._host_resources.vpod import program_resources, vpod_resources
from .._inventory import stages
from .._inventory.stages import Stage
from .cloud_steps import cloud_names
from .looks import Look

Names = dict[str, list[str]]

ENTITIES = {"agents": "agent", "clusters": "cluster", "allocations": "allocation"}
TENANTS = {"users": "user", "partitions": "partition"}


def compared(stage: Stage, options: Any, look: Look, steps: Sequence[Step]) -> Names:
    """Kind to names: all that is declared of a device in a stage, and all that has a step."""
    found = _declared(stage, options, look)
    for step in steps:
        found.setdefault(step.kind, []).append(step.name)
    return found


def _declared(stage: Stage, options: Any, look: Look) -> Names:
    """All that is declared in a stage in which something comes up."""
    found: Names = {}
    settings = look["settings"]
    match stage.name:
        case stages.SWITCHES:
            found["vlan"] = [str(vlan["vlan_id"]) for vlan in options["vlans"]]
            found["port"] = [port["name"] for port in options["ports"] if port.get("owner") != "external"]
            found[STARTUP] = [NAME]
        case stages.SERVERS:
            interfaces = (*options["interfaces"], *settings["poplar_server_more_interfaces"])
            found["interface"] = [each["name"] for each in interfaces]
            found["roce"] = [each["name"] for each in settings["poplar_server_roce"]]
            found |= _names(poplar_server_resources(settings))
        case stages.VPODS:
            own = {**settings, "vpod_vipu": options["vipu"] or {}, "containers_vpods": options["containers"]}
            clients = [each for resources in client_resources(own).values() for each in resources]
            found = _names([*program_resources(own), *vpod_resources(own), *containers_resources(own), *clients])
        case stages.CONTROLLERS:
            found = {**_entities([options], ENTITIES), **_names(vipu_controller_resources(settings))}
        case stages.TENANTS:
            found = _entities([options], TENANTS)
        case stages.DEDICATED:
            found = _entities(options, {**ENTITIES, **TENANTS})
        case stages.CLOUDS:
            found = cloud_names(options, look)
    return found


def _names(resources: Resources) -> Names:
    found: Names = {
        "file": [each.path for each in resources if isinstance(each, (File, Directory, Link))],
        "service": [each.name for each in resources if isinstance(each, Unit)],
        "kernel_parameter": [each.name for each in resources if isinstance(each, KernelParameter)],
    }
    return {kind: names for kind, names in found.items() if names}


def _entities(controllers: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> Names:
    return {
        kind: [each["name"] for options in controllers for each in options.get(plural, ())]
        for plural, kind in kinds.items()
    }
