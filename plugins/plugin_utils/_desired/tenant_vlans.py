# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The VLANs of vPODs on a ToR switch: which go because nobody has them, and which a server must not carry. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import TRUNK, vlan_ids, vlan_ranges

from .._pod.devices import POPLAR_SERVER, devices_of, ports_of
from .._pod.model import ABSENT, Declaration, Pod, Vpod
from .._pod.ports import Place
from .._pod.switches import QUARANTINE, RNIC_OF_SERVER

Options = dict[str, Any]


def vlan_name(vpod: Vpod) -> str:
    """How a vPOD's VLAN is called on the switches."""
    return vpod.vlan_name or f"vpod-{vpod.name}"


def vlans_of(vpod: Vpod) -> dict[int, str]:
    """The VLANs of a vPOD on the switches, and how they are called: its own, and that of its machines' storage."""
    named = ((vpod.vlan, vlan_name(vpod)), (vpod.storage_vlan, f"{vlan_name(vpod)}-storage"))
    return {vlan: name for vlan, name in named if vlan is not None}


def vpods_near(declaration: Declaration, pod: Pod) -> list[Vpod]:
    """The vPODs, also those that are to go, that may have ports in a pod: all of its cluster."""
    return [
        vpod
        for vpod in (*declaration.absent.values(), *declaration.vpods.values())
        if pod.name in declaration.clusters[vpod.cluster].pods
    ]


def gone_vlans(near: Collection[Vpod], there: Collection[int]) -> list[Options]:
    """Their VLANs that are not to be on the switch, as options of tor_switch; ``there`` are those that are to be."""
    vlans = {vlan: name for vpod in near for vlan, name in vlans_of(vpod).items() if vlan not in there}
    return [{"vlan_id": vlan, "name": name, "state": ABSENT} for vlan, name in vlans.items()]


def keep_apart(pod: Pod, ports: Mapping[str, Options], places: Mapping[str, Place], near: Collection[Vpod]) -> None:
    """Set the VLANs that trunks of servers must not carry, as they may from an earlier vPOD, or from having none."""
    quarantine = pod.vlans[QUARANTINE].vlan_id if QUARANTINE in pod.vlans else None
    of_vpods = (vlan for vpod in near for vlan in vlans_of(vpod))
    vlans = {vlan for vlan in (*of_vpods, pod.rest_vlan, quarantine) if vlan is not None}
    of_servers = [name for name, place in places.items() if place.role == RNIC_OF_SERVER and name in ports]
    channels = [
        f"Port-Channel{ports[name]['channel_group']}" for name in of_servers if ports[name].get("channel_group")
    ]
    for name in (*of_servers, *channels):
        port = ports.get(name, {})
        others = vlans - vlan_ids(port.get("allowed_vlans") or [])
        if port.get("mode") == TRUNK and others:
            port["not_allowed_vlans"] = vlan_ranges(others)


def without_former_vlans(
    declaration: Declaration, switches: Mapping[str, Options], seen: Mapping[str, Mapping[str, Any]]
) -> dict[str, Options]:
    """The options of ToR switches, which also take away the VLANs that vPODs had before they got the declared ones.

    ``seen`` maps switches to what tor_info has returned; those that were not read are missing.
    """
    names = {vlan_name(vpod) for vpod in (*declaration.absent.values(), *declaration.vpods.values())}
    servers: dict[str, set[str]] = {}
    for device in devices_of(declaration).values():
        if device.kind == POPLAR_SERVER:
            servers.setdefault(device.facts["switch"], set()).update(ports_of(device))
    found = {}
    for switch, options in switches.items():
        declared = {vlan["vlan_id"] for vlan in options["vlans"]}
        former = {
            vlan["vlan_id"]: vlan["name"]
            for vlan in seen.get(switch, {}).get("vlans", ())
            if vlan.get("name") in names and vlan["vlan_id"] not in declared
        }
        found[switch] = _without(options, former, servers.get(switch, set())) if former else options
    return found


def _without(options: Options, former: Mapping[int, str], servers: Collection[str]) -> Options:
    """The options of one switch, with these VLANs absent and off the trunks of its Poplar servers."""
    channels = {f"Port-Channel{port['channel_group']}" for port in options["ports"] if port.get("channel_group")}
    ports = [
        {**port, "not_allowed_vlans": vlan_ranges({*former, *vlan_ids(port.get("not_allowed_vlans") or [])})}
        if port.get("mode") == TRUNK and port["name"] in {*servers, *channels}
        else port
        for port in options["ports"]
    ]
    gone = [{"vlan_id": vlan, "name": name, "state": ABSENT} for vlan, name in former.items()]
    return {**options, "ports": ports, "vlans": [*options["vlans"], *gone]}
