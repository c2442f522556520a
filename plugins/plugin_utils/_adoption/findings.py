# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything in a pod as it was read that contradicts itself, with both places and the remedy. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .._declaration.consistency import ADDRESS_FACTS
from .._declaration.declaration import parse_declaration
from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, devices_of
from .._pod.model import Declaration
from .._pod.wording import spans
from .._vpods.strays import strays, vpods_reaching
from .gathered_rack import Fields, Finding, Rack
from .link_findings import link_findings, neighbour_findings, vlan_findings

# An address, who has it, and in words who and by what; one owner may claim an address more than once.
Claim = tuple[str, str, str]
# The ends of an IPU-Machine that ask for an address.
_ENDS = ("bmc", "gateway", "rnic")
# A line of dnsmasq's leases: when it ends, MAC address, IPv4 address, name, client.
_LEASE = re.compile(r"\d+ ([0-9a-f]{2}(?::[0-9a-f]{2}){5}) (\d+(?:\.\d+){3}) \S+ \S+")
UP = "up"


@dataclass(frozen=True)
class Gathered:
    """A pod as it was read, each by host name; devices that did not answer are missing."""

    switches: Mapping[str, Fields]  # what tor_info returned
    servers: Mapping[str, Fields]  # "gathered" of rnic_network, and perhaps "nics" of rnic_info
    controllers: Mapping[str, Fields]  # what vipu_info returned
    leases: Mapping[str, list[str]]  # of hosts that serve DHCP: the lines of dnsmasq's leases


def findings(document: Mapping[str, Any], gathered: Gathered, port_map: Mapping[str, Any] | None = None) -> list[Any]:
    """Everything that contradicts itself, as plain ``device``, ``finding`` and ``remedy``.

    ``document`` is the pods.yml that says what was read, ``port_map`` the one whose cabling counts, if another one.
    """
    declaration = parse_declaration(document)
    rack = Rack(devices_of(declaration), gathered.switches, gathered.servers)
    # Users of vPODs that are for jobs have no allocation.
    waiting = {user for vpod in declaration.vpods.values() if vpod.is_for_jobs for user in vpod.users}
    cabled = (
        rack if port_map is None else Rack(devices_of(parse_declaration(port_map)), gathered.switches, gathered.servers)
    )
    found: list[Finding] = [
        *link_findings(rack),
        *neighbour_findings(cabled, gathered.controllers),
        *vlan_findings(rack),
        *_stray_findings(declaration, rack, gathered.controllers),
        *_entity_findings(rack, gathered.controllers, waiting),
        *_address_findings(rack, gathered.controllers, gathered.leases),
    ]
    return [asdict(finding) for finding in found]


def _address_findings(
    rack: Rack, controllers: Mapping[str, Fields], leases: Mapping[str, Sequence[str]]
) -> Iterator[Finding]:
    """One finding for each address that several claim."""
    claims: dict[str, dict[str, str]] = {}
    for address, owner, words in (
        *_of_servers(rack),
        *_of_agents(rack, controllers),
        *_of_pods_yml(rack),
        *_of_leases(rack, leases),
    ):
        claims.setdefault(address, {}).setdefault(owner, words)
    for address, owners in claims.items():
        if len(owners) > 1:
            (device, first), *more = owners.items()
            others = [words for _device, words in more]
            finding = f"{address} is claimed by {first} and by {', '.join(others)}"
            yield Finding(device, finding, "Give each its own address.")


def _of_servers(rack: Rack) -> Iterator[Claim]:
    for server, interface in _interfaces(rack):
        for address in interface.get("addresses", ()):
            yield (address.partition("/")[0], server, f"{interface['name']} of {server}")


def _interfaces(rack: Rack) -> Iterator[tuple[str, Fields]]:
    for server, there in rack.servers.items():
        for interface in (*there.get("gathered", ()), *there.get("nics", ())):
            yield server, interface


def _of_agents(rack: Rack, controllers: Mapping[str, Fields]) -> Iterator[Claim]:
    for host, held in controllers.items():
        for name, agent in held.get("agents", {}).items():
            yield (agent["host"], rack.machine_of(name, agent), f"agent {name} at {host}")


def _of_pods_yml(rack: Rack) -> Iterator[Claim]:
    """Return the addresses that pods.yml gives to devices; servers that were read count by their look alone."""
    for device in rack.devices.values():
        is_read = device.kind == POPLAR_SERVER and device.name in rack.servers
        for fact in ADDRESS_FACTS:
            if fact in device.facts and not is_read:
                yield (device.facts[fact], device.name, f"{device.name} by pods.yml ({fact})")


def _of_leases(rack: Rack, leases: Mapping[str, Sequence[str]]) -> Iterator[Claim]:
    owners = {interface["mac"]: server for server, interface in _interfaces(rack) if interface.get("mac")}
    # An IPU-Machine whose MAC address is not declared is taken to be who has its address.
    ends = {
        device.facts.get(f"{end}_mac") or device.facts[f"{end}_address"]: device.name
        for device in rack.devices.values()
        if device.kind == IPU_MACHINE
        for end in _ENDS
    }
    for host, lines in leases.items():
        for lease in filter(None, map(_LEASE.fullmatch, lines)):
            mac, address = lease.groups()
            owner = owners.get(mac) or ends.get(mac) or ends.get(address) or mac
            yield (address, owner, f"{mac} by DHCP of {host}")


def _entity_findings(rack: Rack, controllers: Mapping[str, Fields], without: Collection[str]) -> Iterator[Finding]:
    """The findings about agents, allocations, partitions and users, some of whom are to be ``without`` allocations."""
    for host, held in controllers.items():
        yield from _agents(rack, host, held)
        yield from _allocations(rack, host, held)
        yield from _orphans(host, held, without)


def _stray_findings(declaration: Declaration, rack: Rack, controllers: Mapping[str, Fields]) -> Iterator[Finding]:
    """Devices in the VLAN of a vPOD that they do not belong to."""
    placement = {
        name: [rack.machine_of(agent, held.get("agents", {}).get(agent, {})) for agent in allocation["agents"]]
        for held in controllers.values()
        for name, allocation in held.get("allocations", {}).items()
    }
    pinned = {name: list(vpod.ipu_machines) for name, vpod in declaration.vpods.items() if vpod.is_for_jobs}
    seen = {switch: there for switch, there in rack.switches.items() if "ports" in there}
    found: dict[tuple[str, str], list[str]] = {}
    for device, vpod in strays(declaration, {**placement, **pinned}, vpods_reaching(declaration, seen)).items():
        if vpod in declaration.vpods:
            found.setdefault((str(rack.devices[device].facts["switch"]), vpod), []).append(device)
    for (switch, vpod), devices in found.items():
        finding = f"vPOD {vpod} does not have {spans(devices)}, but its VLAN reaches them on {switch}"
        yield Finding(switch, finding, "Put the ports of these into another VLAN.")


def _agents(rack: Rack, host: str, held: Fields) -> Iterator[Finding]:
    clustered = {agent for cluster in held.get("clusters", {}).values() for agent in cluster["agents"]}
    for name, agent in held.get("agents", {}).items():
        machine = rack.machine_of(name, agent)
        if name not in clustered:
            remedy = f"Make a cluster with it, or remove it: vipu-admin remove agent {shlex.quote(name)}."
            yield Finding(machine, f"agent {name} is registered at {host}, but no cluster of {host} has it", remedy)
        if agent["status"].lower() != UP:
            remedy = f"Look at the IPU-Machine at {agent['host']}; what lies on it does not run."
            yield Finding(machine, f"agent {name} is {agent['status']}, says {host}", remedy)
        elif agent["version"] and held.get("release") and agent["version"] != held["release"]:
            finding = f"agent {name} is of release {agent['version']}, but the controller {host} of {held['release']}"
            remedy = "Bring both to one release."
            yield Finding(machine, finding, remedy)


def _allocations(rack: Rack, host: str, held: Fields) -> Iterator[Finding]:
    agents = held.get("agents", {})
    for name, allocation in held.get("allocations", {}).items():
        if allocation["cluster"] not in held.get("clusters", {}):
            finding = f"allocation {name} lies in cluster {allocation['cluster']}, which {host} does not have"
            remedy = f"Remove it: vipu-admin remove allocation {shlex.quote(name)}."
            yield Finding(host, finding, remedy)
        vlans: dict[int, list[str]] = {}
        for agent in allocation["agents"]:
            device = rack.devices.get(rack.machine_of(agent, agents.get(agent, {})))
            port = rack.first_port(device) if device else None
            if device and port and port.untagged is not None:
                vlans.setdefault(port.untagged, []).append(f"{port.name} ({device.name})")
        if len(vlans) > 1:
            usual, *others = sorted(vlans, key=lambda vlan: -len(vlans[vlan]))
            strays = "; ".join(f"{', '.join(vlans[vlan])} in VLAN {vlan}" for vlan in others)
            finding = f"allocation {name} of {host} lies across VLANs: {strays}; all else in VLAN {usual}"
            remedy = f"Put those ports into VLAN {usual}."
            yield Finding(host, finding, remedy)


def _orphans(host: str, held: Fields, without: Collection[str]) -> Iterator[Finding]:
    allocations = held.get("allocations", {})
    for name, partition in held.get("partitions", {}).items():
        if partition["allocation"] not in allocations:
            where = f"allocation {partition['allocation']}" if partition["allocation"] else "no allocation"
            known = "which is not there" if partition["allocation"] else "so that it is nobody's"
            remedy = f"Ask who uses it, then remove it: vipu-admin remove partition {shlex.quote(name)}."
            yield Finding(host, f"partition {name} of {host} lies in {where}, {known}", remedy)
    for name, user in held.get("users", {}).items():
        lost = [each for each in user["allocations"] if each not in allocations]
        if user["admin"] or (not lost and (user["allocations"] or name in without)):
            continue
        what = f"may use {', '.join(lost)}, of which there is no allocation" if lost else "may use no allocation"
        remedy = f"Grant an allocation to them, or remove them: vipu-admin remove user {shlex.quote(name)}."
        yield Finding(host, f"user {name} of {host} {what}", remedy)
