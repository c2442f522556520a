# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether declared interfaces lie in the subnets that their VLANs and their server leave for them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_interface

from .mismatches import end
from .server import Options, Server

Network = IPv4Network | IPv6Network


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
