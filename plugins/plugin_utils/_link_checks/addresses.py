# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses that two hosts claim in one network, and interfaces outside the subnets of their VLANs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_interface

from .devices import Server
from .mismatches import end

Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Claim:
    """Somebody who has an address, or is meant to have it."""

    address: str  # without prefix length
    host: str
    words: str  # who, where and by what, for a person
    vlan: int | None = None  # in which it counts; None where that is not known, which may be any


def clashes(claims: Sequence[Claim], against: Sequence[Claim]) -> list[str]:
    """A sentence for each address of ``claims`` that another host has there or in ``against``."""
    found: dict[tuple[str, frozenset[str]], str] = {}
    by_address: dict[str, list[Claim]] = {}
    for claim in (*claims, *against):
        by_address.setdefault(claim.address, []).append(claim)
    for claim in claims:
        rivals = by_address[claim.address]
        # Each pair is seen once.
        rivals.remove(claim)
        for other in rivals:
            is_one_network = None in (claim.vlan, other.vlan) or claim.vlan == other.vlan
            if claim.host != other.host and is_one_network:
                pair = (claim.address, frozenset((claim.host, other.host)))
                found.setdefault(pair, f"{claim.words} and {other.words}: give one of them another address")
    return list(found.values())


def subnet_findings(servers: Sequence[Server]) -> Iterator[str]:
    """One VLAN of one switch has one subnet, and the interfaces of a server have one each."""
    # Switch, VLAN and IP version to the first that has a subnet there.
    first: dict[tuple[str, int, int], tuple[Server, str, Network]] = {}
    for server in servers:
        seen: list[tuple[str, str, Network]] = []
        for each in server.interfaces:
            for address in each.get("addresses") or ():
                network, words = ip_interface(address).network, end(f"{server.name} {each['name']}", address)
                for name, other, taken in seen:
                    if name != each["name"] and taken.version == network.version and taken.overlaps(network):
                        yield f"{other} and {words}: one server has both in one subnet; give each interface its own"
                seen.append((each["name"], words, network))
                vlan = each.get("vlan_id")
                if vlan:
                    place = (server.switch, vlan, network.version)
                    owner, source, wanted = first.setdefault(place, (server, words, network))
                    if owner is not server and network != wanted:
                        yield f"{source} and {words}: both are in VLAN {vlan} of {server.switch}; give them one subnet"
