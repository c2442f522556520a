# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What may be declared, and is probably not meant. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address
from itertools import combinations

from .._desired.containers import shared_vlans
from .._placement.placement import place
from .._pod.devices import devices_of
from .._pod.kinds import DeclarationError
from .._pod.model import Declaration, Vpod
from .._pod.open_controllers import open_controllers
from .consistency import ADDRESS_FACTS


def warnings(declaration: Declaration) -> list[str]:
    """One sentence each, with the key path that it is about."""
    return [
        *open_controllers(declaration),
        *shared_vlans(declaration),
        *_together(declaration),
        *_same_number(declaration),
        *_unplaced(declaration),
        *_local(declaration),
    ]


def _together(declaration: Declaration) -> Iterator[str]:
    """vPODs of which none says a VLAN are in that of their rack."""
    silent = [vpod for vpod in declaration.vpods.values() if vpod.vlan is None]
    for one, other in combinations(silent, 2):
        if shared := _pods_of(declaration, one) & _pods_of(declaration, other):
            yield (
                f"vpods.{other.name}.vlan: is missing, as that of vpods.{one.name}, so that the two reach each other "
                f"in {', '.join(sorted(shared))}; declare a VLAN for each"
            )


def _same_number(declaration: Declaration) -> Iterator[str]:
    """The same VLAN of two vPODs is two networks only as long as nothing joins their racks."""
    there: dict[int, str] = {}
    for vpod in declaration.vpods.values():
        if vpod.vlan is None:
            continue
        if other := there.get(vpod.vlan):
            yield (
                f"vpods.{vpod.name}.vlan: {vpod.vlan} is also that of vpods.{other}, in racks that pods.yml does not "
                "join; keep the uplinks between them from carrying it, or give each its own"
            )
        there[vpod.vlan] = vpod.name


def _pods_of(declaration: Declaration, vpod: Vpod) -> set[str]:
    return {*declaration.clusters[vpod.cluster].pods}


def _unplaced(declaration: Declaration) -> Iterator[str]:
    """What finds no place can only stay where it is already, which the controllers alone know."""
    try:
        place(declaration, {})
    except DeclarationError as error:
        yield from (f"{problem}; if it is not there already, it will find no place" for problem in error.problems)


def _local(declaration: Declaration) -> Iterator[str]:
    for device in devices_of(declaration).values():
        for fact in ADDRESS_FACTS:
            if fact in device.facts and IPv4Address(device.facts[fact]).is_loopback:
                yield f"{device.name}: its {fact} {device.facts[fact]} is that of whoever asks; declare its own"
