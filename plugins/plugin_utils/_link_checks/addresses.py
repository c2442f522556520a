# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses that two hosts claim in one network, and interfaces outside the subnets of their VLANs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_interface

from .devices import Options, Server
from .mismatches import end

Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Claim:
    """Somebody who has an address, or is meant to have it.

    Attributes:
        address: without prefix length.
        host: who.
        words: who, where and by what, for a person.
        vlan: the VLAN in which it counts; None where that is not known, which may be any.
    """

    address: str
    host: str
    words: str
    vlan: int | None = None


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
            if claim.host != other.host and _one_network(claim, other):
                pair = (claim.address, frozenset((claim.host, other.host)))
                found.setdefault(pair, f"{claim.words} and {other.words}: give one of them another address")
    return list(found.values())


def _one_network(claim: Claim, other: Claim) -> bool:
    return None in (claim.vlan, other.vlan) or claim.vlan == other.vlan


def subnet_findings(servers: Sequence[Server]) -> Iterator[str]:
    """One VLAN of one switch has one subnet, and the interfaces of a server have one each."""
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
                yield from _in_vlan(first, server, each, words, network)


def _in_vlan(
    first: dict[tuple[str, int, int], tuple[Server, str, Network]],
    server: Server,
    interface: Options,
    words: str,
    network: Network,
) -> Iterator[str]:
    vlan = interface.get("vlan_id")
    if not vlan:
        return
    owner, other, wanted = first.setdefault((server.switch, vlan, network.version), (server, words, network))
    if owner is not server and network != wanted:
        yield f"{other} and {words}: both are in VLAN {vlan} of {server.switch}; give them one subnet"
