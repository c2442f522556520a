# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a Poplar server: all that the role poplar_server does there, in its order. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import DISRUPTIVE, UPDATE, Step, predict
from ansible_collections.ipu.pod.plugins.module_utils._rnic.backends import OPTION as BACKEND
from ansible_collections.ipu.pod.plugins.module_utils._rnic.change import (
    disruptive_steps,
    planner_on,
    predicted,
    refuse_used,
)
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import INTERFACES, Interface, interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._rnic.plan import KIND as INTERFACE
from ansible_collections.ipu.pod.plugins.module_utils._rnic.server import Server
from ansible_collections.ipu.pod.plugins.module_utils._roce import boot
from ansible_collections.ipu.pod.plugins.module_utils._roce import plan as roce_plan
from ansible_collections.ipu.pod.plugins.module_utils._roce.client import TOOLS_WANTED
from ansible_collections.ipu.pod.plugins.module_utils._roce.declared import INTERFACES as ROCE_INTERFACES
from ansible_collections.ipu.pod.plugins.module_utils._roce.declared import RoceInterface, roce_interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._roce.survey import Survey as RoceServer

from .._host_resources.poplar_server import NETWORKD, poplar_server_resources
from .._host_resources.resources import PACKAGE, Packages, Resource, Unit, resource_steps
from .looks import Look, Part, missing, part, read
from .module_options import typed
from .typed_looks import rnic_server_from, roce_server_from, uses_from

# Two modules look after an interface of a server, so what the second one does has a kind of its own.
ROCE = "roce"

Settings = Mapping[str, Any]


def server_steps(options: Settings, settings: Settings, look: Look, earlier: Sequence[Step] = ()) -> list[Step]:
    """Return the steps of a Poplar server.

    ``options`` has ``interfaces``, as options of rnic_network; ``rnic_interfaces`` in the ``settings``, variables of
    the role poplar_server, takes their place. ``earlier`` are the steps that are carried out there before. Refused if
    it cannot or must not be changed so, or what has to be known of it could not be read.
    """
    resources = poplar_server_resources(settings)
    first = _resource_steps([each for each in resources if isinstance(each, (Packages, Unit))], look, earlier)
    interfaces = _interface_steps(_interfaces(options, settings), settings, look, [*earlier, *first])
    lossless = _roce_steps(_roce_interfaces(settings), look, [*earlier, *first])
    last = _resource_steps([each for each in resources if not isinstance(each, (Packages, Unit))], look, earlier)
    return [*first, *interfaces, *lossless, *last]


def _interfaces(options: Settings, settings: Settings) -> list[Interface]:
    own = settings.get("rnic_interfaces", options["interfaces"])
    declared = [*own, *settings["poplar_server_more_interfaces"]]
    return interfaces_from(typed(INTERFACES, declared, "interfaces"))


def _roce_interfaces(settings: Settings) -> list[RoceInterface]:
    return roce_interfaces_from(typed(ROCE_INTERFACES, settings["poplar_server_roce"], "poplar_server_roce"))


def _resource_steps(resources: Sequence[Resource], look: Look, earlier: Sequence[Step]) -> list[Step]:
    if not resources:
        return []
    return [step for step in resource_steps(resources, read(look, "things")) if step not in earlier]


def _interface_steps(
    interfaces: Sequence[Interface], settings: Settings, look: Look, earlier: Sequence[Step]
) -> list[Step]:
    """As rnic_network in check mode; only what netplan would make of its files the server alone can tell."""
    if not interfaces:
        return []
    network = read(look, "network")
    if network["refusal"]:
        raise Refused(network["refusal"])
    server = _server(look, earlier)
    is_new = any(step.name == NETWORKD for step in earlier)
    backend = typed(BACKEND, settings["poplar_server_network_backend"], "poplar_server_network_backend")
    planner = planner_on(server, interfaces, backend, may_be_stopped=is_new)
    steps = planner.plan(planner.state_of(server))
    disturbing = disruptive_steps(steps)
    if disturbing:
        refuse_used(disturbing, uses_from(read(look, "uses")), server.links)
    if steps and planner.backend.name != "networkmanager" and "networkd" in server.services and network["unloaded"]:
        raise Refused(network["unloaded"][0])
    return steps


def _roce_steps(interfaces: Sequence[RoceInterface], look: Look, earlier: Sequence[Step]) -> list[Step]:
    """As rnic_roce in check mode."""
    if not interfaces:
        return []
    server = _server(look, earlier)
    devices = roce_plan.devices_on(server, interfaces)
    found = part(look, "roce")
    if found is None:
        message = missing(look, "roce")
        if message.endswith(TOOLS_WANTED) and any(step.kind == PACKAGE for step in earlier):
            return [step for step in map(_without_tools, interfaces) if step not in earlier]
        raise Refused(message)
    surveyed = _surveyed(found, devices)
    before = [replace(step, kind=roce_plan.KIND) for step in earlier if step.kind == ROCE]
    steps = roce_plan.plan(surveyed.tools, interfaces, predict(roce_plan.state_of(surveyed), before))
    disturbing = [step for step in steps if roce_plan.is_disruptive(step)]
    if disturbing:
        # What is mounted waits for its packets, and virtual functions have settings of their own.
        uses = replace(uses_from(read(look, "uses")), mounts=(), functions=())
        refuse_used(disturbing, uses, server.links)
    return [replace(step, kind=ROCE) for step in steps]


def _without_tools(interface: RoceInterface) -> Step:
    reason = "its tools are yet to be installed"
    return Step(UPDATE, ROCE, interface.name, reason, DISRUPTIVE, before={}, after=dict(interface.settings))


def _surveyed(found: Part, devices: Mapping[str, str]) -> RoceServer:
    """The declared interfaces: a look knows devices by the kernel's names, and files by the declared ones."""
    seen = roce_server_from(found["server"])
    surveyed = {}
    for name, device in devices.items():
        if device not in seen.interfaces:
            raise Refused(found["unread"].get(device) or f"interface {name}: {device} was not read")
        nic = seen.interfaces[device].nic
        surveyed[name] = replace(
            seen.interfaces[device],
            script=found["files"].get(boot.script_path(name)),
            unit=found["files"].get(boot.unit_path(name)),
            starts=f"{boot.wants_directory(nic)}/{boot.unit_name(name)}" in found["starts"],
        )
    return replace(seen, interfaces=surveyed)


def _server(look: Look, earlier: Sequence[Step]) -> Server:
    return predicted(rnic_server_from(read(look, "links")), [step for step in earlier if step.kind == INTERFACE])
