# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Racks as plain data for pictures: machines, servers, switches with ports, vPODs. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._desired.desired import tenants_of
from .._desired.switches import desired_tor
from .._pod.devices import IPU_MACHINE, MANAGEMENT_SWITCH, POPLAR_SERVER, TOR, Device, devices_of_pod, ports_of
from .._pod.model import Declaration, Pod, Vpod
from .._pod.ports import Place, places_of

Drawn = dict[str, Any]


def rack_of(declaration: Declaration, placement: Mapping[str, Sequence[str]]) -> Drawn:
    """The racks of the declared pods, with vPODs where their ``placement`` is known.

    Returns:
        ``pods``, each with ``name``, ``machines`` (``unit`` counts from the lowest IPU-Machine, ``excluded`` ones are
        out of order), ``servers``, ``switch`` with its ``ports``, ``management_switch`` (a name or None),
        ``controllers`` (those with a host of their own, in the first rack that they have) and ``vpods`` (those with a
        machine or a server in this rack).
    """
    tenants = tenants_of(declaration, placement)
    return {"pods": [_pod(declaration, pod, tenants) for pod in declaration.pods.values()]}


def _pod(declaration: Declaration, pod: Pod, tenants: Mapping[str, Vpod]) -> Drawn:
    devices = list(devices_of_pod(pod))
    switch = next(device for device in devices if device.kind == TOR)
    wanted = {port["name"]: port for port in desired_tor(declaration, switch, tenants)["ports"]}
    ports = [_port(place, wanted, tenants) for place in places_of(pod).values()]
    here = {tenants[device.name].name for device in devices if device.name in tenants}
    return {
        "name": pod.name,
        "machines": [
            {**_device(device, ports, tenants), "unit": device.number, "excluded": device.name in pod.excluded}
            for device in devices
            if device.kind == IPU_MACHINE
        ],
        "servers": [_device(device, ports, tenants) for device in devices if device.kind == POPLAR_SERVER],
        "switch": {"name": switch.name, "ports": ports},
        "management_switch": next((device.name for device in devices if device.kind == MANAGEMENT_SWITCH), None),
        "controllers": _controllers(declaration, pod),
        "vpods": [
            {
                "name": vpod.name,
                "vlan": vpod.vlan,
                "ipus": vpod.ipus,
                "partitions": [each.name for each in vpod.partitions],
            }
            for vpod in declaration.vpods.values()
            if vpod.name in here
        ],
    }


def _controllers(declaration: Declaration, pod: Pod) -> list[str]:
    """The controllers on hosts of their own, each with the first rack that it has."""
    first_racks: dict[str, str] = {}
    for cluster in declaration.clusters.values():
        first_racks.setdefault(cluster.controller, cluster.pods[0])
    return [
        controller.name
        for controller in declaration.controllers.values()
        if controller.host is None and first_racks.get(controller.name) == pod.name
    ]


def _device(device: Device, ports: Sequence[Drawn], tenants: Mapping[str, Vpod]) -> Drawn:
    """An IPU-Machine or Poplar server; its VLAN is that of its first port."""
    mine = ports_of(device)
    vlans = [port["vlan"] for port in ports if port["name"] in mine[:1]]
    return {"name": device.name, "ports": mine, "vlan": next(iter(vlans), None), "vpod": _name_of(device, tenants)}


def _port(place: Place, wanted: Mapping[str, Drawn], tenants: Mapping[str, Vpod]) -> Drawn:
    """A port of the ToR; a trunk is shown with its native VLAN, and a member of a channel has what its channel has."""
    options = wanted.get(place.name, {})
    channel = wanted.get(f"Port-Channel{options.get('channel_group')}", {})
    vlans = [each.get(field) for each in (options, channel) for field in ("vlan", "native_vlan")]
    return {
        "name": place.name,
        "role": place.role,
        "device": place.device.name if place.device else None,
        "vlan": next((vlan for vlan in vlans if vlan is not None), None),
        "vpod": _name_of(place.device, tenants) if place.device and options else None,
    }


def _name_of(device: Device, tenants: Mapping[str, Vpod]) -> str | None:
    return tenants[device.name].name if device.name in tenants else None
