# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole matrix of who may reach whom, tried with packets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from random import Random

from tests.support.packets.ports import Port
from tests.support.packets.reach import BROADCAST, Frame, Ping, answered, arrivals


def faults(
    tenants: Mapping[str, Sequence[Port]],
    vlans: Mapping[str, int],
    others: Iterable[Port] = (),
    addresses: Iterable[str] = (),
) -> list[str]:
    """The faults in the isolation of tenants, a sentence each.

    Args:
        tenants: the RNIC ports of each; all of one reach each other with frames and pings of full size.
        vlans: the VLAN of each; a frame that another tenant's port tags with it goes nowhere.
        others: ports that no tenant's port reaches: those of nobody, and those of the management network.
        addresses: what no tenant's port reaches beside them.
    """
    owner = {port: tenant for tenant, ports in tenants.items() for port in ports}
    machines = {(tenant, port.machine) for port, tenant in owner.items()}
    strangers = tuple(others)
    everybody = (*owner, *strangers)
    frames = [
        *(Frame(port, BROADCAST) for port in owner),
        *(Frame(one, other.mac) for one, other in permutations(everybody, 2) if one in owner),
        *(Frame(port, BROADCAST, vlan) for port in owner for tenant, vlan in vlans.items() if tenant != owner[port]),
    ]
    pings = [
        *(Ping(one, other.address) for one, other in permutations(owner, 2)),
        *(
            Ping(port, stranger.address)
            for port, tenant in owner.items()
            for stranger in strangers
            # A machine answers at any of its ports for all of its addresses.
            if (tenant, stranger.machine) not in machines
        ),
        *(Ping(port, address) for port in owner for address in addresses),
    ]
    # No port has several frames at once to take.
    Random(0).shuffle(frames)
    Random(0).shuffle(pings)
    return [*_wrong_frames(frames, everybody, owner), *_wrong_pings(pings, owner)]


def _wrong_frames(frames: Sequence[Frame], ports: Iterable[Port], owner: Mapping[Port, str]) -> Iterator[str]:
    for frame, seen in arrivals(frames, ports).items():
        own = {port for port, tenant in owner.items() if tenant == owner[frame.sender]} - {frame.sender}
        addressed = own if frame.to == BROADCAST else {port for port in own if port.mac == frame.to}
        if frame.vlan is None:
            for port in sorted(addressed - seen, key=str):
                yield f"{_named(frame.sender, owner)} does not reach {port} with a frame to {frame.to}"
        tagged = f" that it tagged with VLAN {frame.vlan}" if frame.vlan else ""
        for port in sorted(seen - own - {frame.sender}, key=str):
            yield f"{_named(frame.sender, owner)} reaches {_named(port, owner)} with a frame to {frame.to}{tagged}"


def _wrong_pings(pings: Sequence[Ping], owner: Mapping[Port, str]) -> Iterator[str]:
    found, tenant_at = answered(pings), {port.address: tenant for port, tenant in owner.items()}
    for ping in pings:
        wanted = tenant_at.get(ping.to) == owner[ping.sender]
        if wanted != (ping in found):
            yield f"{_named(ping.sender, owner)} {'gets no' if wanted else 'gets an'} answer from {ping.to}"


def _named(port: Port, owner: Mapping[Port, str]) -> str:
    return f"{port} of {owner.get(port, 'nobody')}"
