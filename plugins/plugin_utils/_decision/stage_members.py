# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The consequences of a decision for later plays: which device is in which stage, and who helps there. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import machines_to_make
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import NO_RISK, RECREATE, REMOVE, Step

from .._desired.cloud_machines import cloud_vpods
from .._inventory.hosts import IDLE, canaries_first
from .._inventory.stages import CLOUDS, PARTS, SERVERS, STAGES, SWITCHES, SWITCHES_DOWN, VERIFICATION, group_of
from .._pod.devices import POPLAR_SERVER, devices_of
from .._pod.managed import unmanaged
from .._pod.model import SERVERS_LAYER, Declaration
from .decision import Decision, Request
from .looks import Look, part
from .tenancy import Tenancy

Member = dict[str, Any]


def members(
    decision: Decision, declaration: Declaration, looks: Mapping[str, Look], request: Request, verifies_all: bool
) -> list[Member]:
    """The devices that have something to do: ``host``, the ``groups`` that it joins, and its ``options`` in each stage.

    Where has to be decided again, there are none of the stages after that. A run that leaves layers out verifies
    nothing: what it does not carry out may still be missing.
    """
    names = [stage.name for stage in STAGES]
    last = names.index(decision.point) if decision.point else len(names)
    by_host: dict[str, dict[str, Any]] = {}
    for name in names[: last + 1]:
        for host, planned in decision.plan.options.get(name, {}).items():
            options = planned
            if name in (SWITCHES, SWITCHES_DOWN):
                options = _with_helpers(planned, looks)
            elif name == CLOUDS:
                options = {**planned, "user_data": _user_data(declaration, decision.plan.made[host, name])}
            by_host.setdefault(host, {})[name] = options
    is_whole = set(PARTS) <= set(request.parts)
    if decision.tenancy is not None and not decision.point and (is_whole or verifies_all):
        for host, options in _verified(decision.tenancy, request.hosts if verifies_all else by_host).items():
            by_host.setdefault(host, {})[VERIFICATION] = options
    may_be = set(request.hosts)
    places = {device.name: place for place, device in enumerate(canaries_first(declaration))}
    return [
        {"host": host, "groups": [*map(group_of, options), *_state(options, looks.get(host))], "options": options}
        for host, options in sorted(by_host.items(), key=lambda each: places.get(each[0], len(places)))
        if host in may_be
    ]


def _state(options: Mapping[str, Any], look: Look | None) -> list[str]:
    """Whether it is a Poplar server on which nobody has an RDMA connection to lose: the NICs are down."""
    nics = (part(look, "nics") or {}).get("nics", [])
    rdma = [each["up"] for each in nics if each["rdma_device"]]
    return [IDLE] if SERVERS in options and rdma and not any(rdma) else []


def _with_helpers(switch: Mapping[str, Any], looks: Mapping[str, Look]) -> Mapping[str, Any]:
    arp_probes = {
        name: arp_probe
        for name, arp_probe in switch.get("arp_probes", {}).items()
        if _is_up(looks.get(name), arp_probe["interface"])
    }
    return {**switch, "arp_probes": arp_probes}


def _user_data(declaration: Declaration, steps: Sequence[Step]) -> list[dict[str, str]]:
    """The vPODs of which a machine is to be made, each with the host that has what it needs of its V-IPU controller."""
    return [
        {"vpod": found["name"], "controller": found["controller"]}
        for vpod in machines_to_make(steps)
        for found in cloud_vpods(declaration, vpod)
    ]


def _is_up(look: Look | None, interface: str) -> bool:
    links: Mapping[str, Any] = (part(look, "links") or {}).get("links", {})
    return bool(links.get(interface, {}).get("up"))


def _verified(tenancy: Tenancy, changing: Collection[str]) -> dict[str, Any]:
    """The Poplar servers that have something to show of whether all works in the pods in which something changes."""
    devices, only_read = devices_of(tenancy.declaration), unmanaged(tenancy.declaration)
    pods = {devices[host].pod for host in changing if host in devices and devices[host].pod}
    of_controllers = {
        pod
        for host in changing
        for controller in tenancy.declaration.controllers_on(host)
        for cluster in tenancy.declaration.clusters.values()
        if cluster.controller == controller.name
        for pod in cluster.pods
    }
    return {
        name: {"interface": options["interfaces"][0]["name"], **{key: options[key] for key in ("peers", "partitions")}}
        for name, options in tenancy.wanted["poplar_servers"].items()
        if devices[name].kind == POPLAR_SERVER
        and devices[name].pod in pods | of_controllers
        and name not in only_read[SERVERS_LAYER]
        and (options["peers"] or options["partitions"])
    }


def helpers(found: Sequence[Member], kept: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """The devices that a run contacts besides those with steps, or for more than their steps, each with what ``for``.

    ``kept`` maps hosts to the pods whose locks they keep.
    """
    probes = [
        {"device": server, "for": f"sends ARP probes to IPU-Machines on {each['host']}"}
        for each in found
        for stage in (SWITCHES_DOWN, SWITCHES)
        for server in each["options"].get(stage, {}).get("arp_probes", {})
    ]
    return [
        *({"device": host, "for": f"keeps the locks of {', '.join(pods)}"} for host, pods in kept.items()),
        *probes,
        *({"device": each["host"], "for": "verifies"} for each in found if VERIFICATION in each["options"]),
    ]


def changing(found: Sequence[Member]) -> list[str]:
    """The devices that a run changes, without those that only verify."""
    return [each["host"] for each in found if set(each["options"]) - {VERIFICATION}]


def verifying(found: Sequence[Member]) -> list[str]:
    """The devices that show in the end whether what a run has changed works."""
    return [each["host"] for each in found if VERIFICATION in each["options"]]


def by_stage(steps: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[Mapping[str, Any]]]]:
    """Stage to device to its steps there."""
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for step in steps:
        found.setdefault(step["stage"], {}).setdefault(step["device"], []).append(step)
    return found


def disturbed(steps: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Stage to the devices on which it removes or disturbs something."""
    found = [step for step in steps if step["risk"] != NO_RISK or step["action"] in (REMOVE, RECREATE)]
    return {stage: list(devices) for stage, devices in by_stage(found).items()}
