# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses that two claim: servers by their interfaces, IPU-Machines by agents and pods.yml, others by DHCP. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .._declaration.consistency import ADDRESS_FACTS
from .._pod.devices import IPU_MACHINE, POPLAR_SERVER
from .gathered_rack import Fields, Finding, Rack

# The ends of an IPU-Machine that ask for an address.
_ENDS = ("bmc", "gateway", "rnic")
# A line of dnsmasq's leases: when it ends, MAC address, IPv4 address, name, client.
_LEASE = re.compile(r"\d+ ([0-9a-f]{2}(?::[0-9a-f]{2}){5}) (\d+(?:\.\d+){3}) \S+ \S+")


@dataclass(frozen=True)
class Claim:
    """Somebody has an address. ``words`` say who and by what; one owner may claim an address more than once."""

    address: str
    owner: str
    words: str


def address_findings(
    rack: Rack, controllers: Mapping[str, Fields], leases: Mapping[str, Sequence[str]]
) -> Iterator[Finding]:
    """One finding for each address that several claim."""
    claims: dict[str, dict[str, Claim]] = {}
    for claim in (*_of_servers(rack), *_of_agents(rack, controllers), *_of_pods_yml(rack), *_of_leases(rack, leases)):
        claims.setdefault(claim.address, {}).setdefault(claim.owner, claim)
    for address, owners in claims.items():
        if len(owners) > 1:
            first, *others = owners.values()
            yield Finding(
                first.owner,
                f"{address} is claimed by {first.words} and by {', '.join(other.words for other in others)}",
                "Give each its own address.",
            )


def _of_servers(rack: Rack) -> Iterator[Claim]:
    for server, there in rack.servers.items():
        for interface in (*there.get("gathered", ()), *there.get("nics", ())):
            for address in interface.get("addresses", ()):
                yield Claim(address.partition("/")[0], server, f"{interface['name']} of {server}")


def _of_agents(rack: Rack, controllers: Mapping[str, Fields]) -> Iterator[Claim]:
    for host, held in controllers.items():
        for name, agent in held.get("agents", {}).items():
            yield Claim(agent["host"], rack.machine_of(name, agent), f"agent {name} at {host}")


def _of_pods_yml(rack: Rack) -> Iterator[Claim]:
    """Return the addresses that pods.yml gives to devices; servers that were read count by their look alone."""
    for device in rack.devices.values():
        is_read = device.kind == POPLAR_SERVER and device.name in rack.servers
        for fact in ADDRESS_FACTS:
            if fact in device.facts and not is_read:
                yield Claim(device.facts[fact], device.name, f"{device.name} by pods.yml ({fact})")


def _of_leases(rack: Rack, leases: Mapping[str, Sequence[str]]) -> Iterator[Claim]:
    owners = {
        interface["mac"]: server
        for server, there in rack.servers.items()
        for interface in (*there.get("gathered", ()), *there.get("nics", ()))
        if interface.get("mac")
    }
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
            yield Claim(address, owner, f"{mac} by DHCP of {host}")
