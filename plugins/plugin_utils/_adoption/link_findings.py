# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the two ends of a cable contradict each other: VLANs, MTU, and which device is there at all. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.cabling import WRONG, check, declare_cables
from ansible_collections.ipu.pod.plugins.module_utils._tor.observed import Observed
from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import (
    ACCESS,
    EVERY_VLAN,
    TRUNK,
    vlan_ids,
    vlan_ranges,
)

from .._link_checks.ends import NicEnd, PortEnd, nic_end
from .._link_checks.mismatches import mismatches
from .._pod.devices import TOR, Device, ports_of
from .._pod.switches import QUARANTINE
from .gathered_rack import Fields, Finding, Rack

DEFAULT_VLAN = 1
# A switch's own, at which nobody is.
INNER_PORTS = ("Cpu", "Router")


def link_findings(rack: Rack) -> Iterator[Finding]:
    """VLANs and MTU at the two ends of each server's cable."""
    for switch in rack.switches:
        links = [
            (server, nic_end(server.name, nic["name"], rack.interfaces(server.name)), nic, port)
            for server in rack.servers_at(switch)
            for nic, port in [(rack.rnic(server), rack.first_port(server))]
            if nic and port
        ]
        usual = _usual([port for _server, _end, _nic, port in links])
        for server, end, nic, port in links:
            for mismatch in mismatches(end, port):
                remedy = mismatch.remedy[0].upper() + mismatch.remedy[1:]
                yield Finding(server.name, " and ".join(mismatch.ends), f"{remedy}.")
            if not rack.carries_every_vlan(server):
                yield from _without_interface(server, end, nic, port, usual)


def _usual(ports: Sequence[PortEnd]) -> frozenset[int]:
    """The VLANs that the ports of all servers carry, whoever uses them there: storage, management."""
    return frozenset.intersection(*(port.carried or frozenset() for port in ports)) if len(ports) > 1 else frozenset()


def _without_interface(
    server: Device, end: NicEnd, nic: Fields, port: PortEnd, usual: frozenset[int]
) -> Iterator[Finding]:
    """VLANs that a port carries with a tag, and no interface or virtual function of the server takes."""
    functions = {function["vlan"] for function in nic.get("virtual_functions", ())} - {0}
    extra = (port.carried or frozenset()) - usual - set(end.tagged.values()) - functions
    if extra:
        vlans = f"VLAN {', '.join(vlan_ranges(extra))}"
        finding = f"{port.name} carries {vlans} with a tag, but {end.name} has no interface for that"
        remedy = f"Take {vlans} from the port, or make the VLAN interface on {end.name}."
        yield Finding(server.name, finding, remedy)


def neighbour_findings(rack: Rack, controllers: Mapping[str, Fields]) -> Iterator[Finding]:
    """Devices that a ToR recognises at another port than theirs, and IPU-Machines that nobody has declared."""
    agents = {name.lower() for held in controllers.values() for name in held.get("agents", {})}
    for switch, there in rack.switches.items():
        if rack.devices[switch].kind != TOR or not there.get("neighbours"):
            continue
        ports = {device.name: ports_of(device) for device in rack.at(switch)}
        owners = {port: name for name, theirs in ports.items() for port in theirs}
        for name, port in _misplaced(rack, switch, ports):
            here = f"the port of {owners[port]}" if port in owners else "a port of no declared device"
            yield Finding(
                name,
                f"{switch} sees {name} at {port}, {here}, but by the port map it is at {' and '.join(ports[name])}",
                f"Move the cable, or declare the port in overrides.{name}.",
            )
        known = {name.lower() for name in ports}
        for port, neighbours in there["neighbours"].items():
            for stranger in {each["device"].partition(".")[0].lower() for each in neighbours} & (agents - known):
                yield Finding(
                    stranger,
                    f"{switch} sees the IPU-Machine {stranger} at {port}, but pods.yml declares no device of that name",
                    "Declare its pod, or give the IPU-Machines of the declared pods their real names (names).",
                )


def _misplaced(rack: Rack, switch: str, ports: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Device and port of each that is not where it should be, by LLDP name or by the MAC address that was read."""
    cables = [
        {"port": port, "device": name, "mac": _mac(rack, rack.devices[name]) if number == 0 else None}
        for name, theirs in ports.items()
        for number, port in enumerate(theirs)
    ]
    there = rack.switches[switch]
    seen = Observed(neighbours=there["neighbours"], macs=there.get("macs"))
    rows = check(declare_cables(cables), seen, rack.channels(switch))
    return [
        (name, row.port)
        for row in rows
        if row.verdict == WRONG
        for name in row.seen
        if name in ports and row.port not in ports[name]
    ]


def _mac(rack: Rack, device: Device) -> Any:
    nic = rack.rnic(device) if device.name in rack.servers else None
    return (nic or {}).get("mac") or device.facts.get("rnic_mac")


def vlan_findings(rack: Rack) -> Iterator[Finding]:
    """VLANs of a ToR in which no port is."""
    for switch, there in rack.switches.items():
        used = _used_vlans(there)
        for vlan in there.get("vlans", ()):
            number = vlan["vlan_id"]
            if number not in used and not vlan.get("vni") and vlan["name"] != QUARANTINE:
                finding = f"VLAN {number} ({vlan['name']}) is on {switch}, but none of its ports is in it"
                remedy = f"Remove the VLAN (no vlan {number}), or put the ports into it that it was made for."
                yield Finding(switch, finding, remedy)


def _used_vlans(there: Fields) -> set[int]:
    used = {DEFAULT_VLAN}
    every = set(INNER_PORTS)
    for port in there.get("ports", ()):
        if port.get("mode") == ACCESS and port.get("vlan"):
            used.add(port["vlan"])
        elif port.get("mode") == TRUNK and "native_vlan" in port:
            used.add(port["native_vlan"])
            if list(port["allowed_vlans"]) == EVERY_VLAN:
                every.add(port["name"])
            else:
                used |= vlan_ids(port["allowed_vlans"])
    members = (there.get("vlan_members") or {}).items()
    return used | {int(vlan) for vlan, ports in members if any(port not in every for port in ports)}
