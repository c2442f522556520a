# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What declared interfaces say about each other: names used twice, a VLAN's parent, a bond's members. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping, Sequence

from .._plan.converge import Refused

if TYPE_CHECKING:
    from .declared import Interface


def check_relations(interfaces: Sequence[Interface]) -> None:
    """Refuse declarations that contradict each other.

    Raises:
        Refused: which two do, and what would be right.
    """
    _refuse_twice("name", [(interface.name, interface.name) for interface in interfaces])
    _refuse_twice("MAC", [(i.mac, i.name) for i in interfaces if i.mac])
    _refuse_twice("MAC", [(f.mac, i.name) for i in interfaces for f in i.virtual_functions or ()])
    _refuse_twice("PCI address", [(i.pci, i.name) for i in interfaces if i.pci])
    _refuse_twice("address", [(address.split("/")[0], i.name) for i in interfaces for address in i.addresses or ()])
    _refuse_twice("VLAN", [(f"{i.vlan_id} on {i.parent}", i.name) for i in interfaces if i.parent and not i.absent])
    present = {interface.name: interface for interface in interfaces if not interface.absent}
    _refuse_twice("member", [(member, bond.name) for bond in present.values() for member in bond.members])
    for interface in present.values():
        if interface.parent:
            _check_vlan(interface, present)
        for member in interface.members:
            _check_member(interface, member, present)


def bond_of(name: str, interfaces: Sequence[Interface]) -> Interface | None:
    """The declared bond that this interface is a member of."""
    return next((i for i in interfaces if not i.absent and name in i.members), None)


def _check_vlan(vlan: Interface, present: Mapping[str, Interface]) -> None:
    parent = present.get(vlan.parent or "")
    if parent is None:
        raise Refused(f"{vlan.place}: its parent {vlan.parent} is not declared; declare it, too, at least by its name")
    if parent.parent:
        raise Refused(f"{vlan.place}: its parent {parent.name} is a VLAN itself; put it on the NIC or bond below")
    if bond_of(parent.name, list(present.values())):
        raise Refused(f"{vlan.place}: its parent {parent.name} is a member of a bond; put it on the bond")
    if vlan.mtu and parent.mtu and vlan.mtu > parent.mtu:
        raise Refused(f"{vlan.place}: mtu {vlan.mtu} is more than the {parent.mtu} of its parent {parent.name}")


def _check_member(bond: Interface, name: str, present: Mapping[str, Interface]) -> None:
    member = present.get(name)
    if member is None:
        raise Refused(f"{bond.place}: its member {name} is not declared; declare it, too, at least by its name")
    if member.parent or member.members:
        raise Refused(f"{bond.place}: its member {name} is no NIC; a bond takes NICs only")
    if member.addresses:
        raise Refused(f"interface {name}: a member of a bond has no addresses; declare them for {bond.name}")
    if member.mtu and member.mtu != bond.mtu:
        raise Refused(f"interface {name}: a member has the mtu of its bond; declare it for {bond.name} only")


def _refuse_twice(what: str, uses: Sequence[tuple[str, str]]) -> None:
    users: dict[str, str] = {}
    for value, name in uses:
        if value in users:
            raise Refused(f"interfaces {users[value]} and {name}: the {what} {value} is declared twice; keep one")
        users[value] = name
