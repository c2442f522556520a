# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The interfaces of a Poplar server as their owner declares them, checked by themselves and among each other. Pure."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import asdict, dataclass
from typing import Any, Dict, Mapping, Sequence

from .._plan.converge import Refused

NIC, VLAN, BOND = "nic", "vlan", "bond"

Spec = Dict[str, Any]

# The options, said once for the module and for plans; the documentation is in the module.
_VIRTUAL_FUNCTION: Spec = {
    "index": {"type": "int", "required": True},
    "mac": {"type": "str", "required": True},
    "vlan": {"type": "int", "default": 0},
    "trust": {"type": "bool", "default": False},
    "spoof_check": {"type": "bool", "default": True},
}

_INTERFACE: Spec = {
    "name": {"type": "str", "required": True},
    "type": {"type": "str", "choices": ["nic", "vlan", "bond"], "default": "nic"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "mac": {"type": "str"},
    "pci": {"type": "str"},
    "addresses": {"type": "list", "elements": "str"},
    "mtu": {"type": "int"},
    "description": {"type": "str"},
    "parent": {"type": "str"},
    "vlan_id": {"type": "int"},
    "members": {"type": "list", "elements": "str"},
    "mode": {"type": "str", "choices": ["active-backup", "802.3ad"]},
    "virtual_functions": {"type": "list", "elements": "dict", "options": _VIRTUAL_FUNCTION},
}

INTERFACES: Spec = {"type": "list", "elements": "dict", "options": _INTERFACE}

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")

# The options that only make sense for one type of interface.
_ONLY_FOR = {
    "mac": NIC,
    "pci": NIC,
    "virtual_functions": NIC,
    "parent": VLAN,
    "vlan_id": VLAN,
    "members": BOND,
    "mode": BOND,
}
_REQUIRED = {NIC: (), VLAN: ("parent", "vlan_id"), BOND: ("members", "mode")}


@dataclass(frozen=True)
class VirtualFunction:
    """One SR-IOV virtual function of a NIC; ``vlan`` 0 leaves its frames as they are."""

    index: int
    mac: str
    vlan: int = 0
    trust: bool = False
    spoof_check: bool = True

    def fields(self) -> dict[str, Any]:
        """Plain values, as they stand in states."""
        return asdict(self)


@dataclass(frozen=True)
class Interface:
    """One declared interface. None means: not declared, keep what is there.

    Args:
        name: the kernel's name; for a NIC with ``mac`` or ``pci`` only a label.
        type: ``nic``, ``vlan`` or ``bond``.
        absent: whether it shall not exist; only a VLAN or a bond.
        mac: lower case with colons; finds the NIC whatever the kernel calls it.
        pci: domain, bus, slot and function; finds the NIC in that place.
        addresses: with prefix length, in canonical form and order.
        mtu: in bytes.
        description: one line; empty for none.
        virtual_functions: all of them, by index; empty for none.
        parent: the declared name of the interface that a VLAN is on.
        vlan_id: 1 to 4094.
        members: the declared names of a bond's NICs.
        mode: of a bond, in the kernel's words.
    """

    name: str
    type: str = NIC
    absent: bool = False
    mac: str | None = None
    pci: str | None = None
    addresses: tuple[str, ...] | None = None
    mtu: int | None = None
    description: str | None = None
    virtual_functions: tuple[VirtualFunction, ...] | None = None
    parent: str | None = None
    vlan_id: int | None = None
    members: tuple[str, ...] = ()
    mode: str | None = None

    @property
    def place(self) -> str:
        """How messages name it."""
        return f"interface {self.name}"


def sorted_addresses(addresses: Sequence[str]) -> list[str]:
    """Addresses with prefix length in canonical form and order, each once."""
    interfaces = {ipaddress.ip_interface(address) for address in addresses}
    return [str(interface) for interface in sorted(interfaces, key=lambda i: (i.version, int(i), i.network.prefixlen))]


def interfaces_from(options: Sequence[Mapping[str, Any]]) -> list[Interface]:
    """The declared interfaces. Raises Refused: something is malformed, declared twice, or contradicts another."""
    interfaces = [_interface(option) for option in options]
    _check_relations(interfaces)
    return interfaces


def bond_of(name: str, interfaces: Sequence[Interface]) -> Interface | None:
    """The declared bond that this interface is a member of."""
    return next((i for i in interfaces if not i.absent and name in i.members), None)


def _interface(option: Mapping[str, Any]) -> Interface:
    name, kind = option["name"], option.get("type", NIC)
    place = f"interface {name}"
    if not _NAME.fullmatch(name):
        raise Refused(f"{place}: the name is no interface name; use at most 15 letters, digits, dots, dashes")
    absent = option.get("state") == "absent"
    _check_options(place, kind, absent, option)
    addresses = option.get("addresses")
    if addresses is not None:
        addresses = tuple(sorted_addresses([_address(place, address) for address in addresses]))
    description = option.get("description")
    if description is not None and description != " ".join(description.split()):
        raise Refused(f"{place}: the description must be one line without leading or double spaces")
    return Interface(
        name=name,
        type=kind,
        absent=absent,
        mac=_mac(place, option.get("mac")),
        pci=_pci(place, option.get("pci")),
        addresses=addresses,
        mtu=option.get("mtu"),
        description=description,
        virtual_functions=_virtual_functions(place, option.get("virtual_functions")),
        parent=option.get("parent"),
        vlan_id=_vlan_id(place, option.get("vlan_id")),
        members=tuple(option.get("members") or ()),
        mode=option.get("mode"),
    )


def _check_options(place: str, kind: str, absent: bool, option: Mapping[str, Any]) -> None:
    for key, only in _ONLY_FOR.items():
        if option.get(key) is not None and kind != only:
            raise Refused(f"{place}: {key} is for type {only}, and this is of type {kind}; leave one of them out")
    if kind == NIC and absent:
        raise Refused(f"{place}: a NIC cannot be made absent; declare its settings, or leave it out")
    missing = [key for key in _REQUIRED[kind] if not option.get(key)]
    if missing and not absent:
        raise Refused(f"{place}: type {kind} needs {' and '.join(missing)}")
    if option.get("mac") is not None and option.get("pci") is not None:
        raise Refused(f"{place}: mac and pci both find the NIC; give one of them")


def _mac(place: str, text: str | None) -> str | None:
    if text is None:
        return None
    mac = text.lower().replace("-", ":")
    if not _MAC.fullmatch(mac):
        raise Refused(f"{place}: mac {text!r} is no MAC address; write it like 04:3f:72:00:01:02")
    return mac


def _pci(place: str, text: str | None) -> str | None:
    if text is None:
        return None
    pci = text.lower() if text.count(":") == 2 else f"0000:{text.lower()}"
    if not _PCI.fullmatch(pci):
        raise Refused(f"{place}: pci {text!r} is no PCI address; write it like 0000:81:00.0")
    return pci


def _vlan_id(place: str, vlan_id: int | None) -> int | None:
    if vlan_id is not None and not 1 <= vlan_id <= 4094:
        raise Refused(f"{place}: vlan_id {vlan_id} does not exist; use 1 to 4094")
    return vlan_id


def _virtual_functions(place: str, options: Sequence[Mapping[str, Any]] | None) -> tuple[VirtualFunction, ...] | None:
    if options is None:
        return None
    functions = tuple(sorted((_virtual_function(place, o) for o in options), key=lambda function: function.index))
    if [function.index for function in functions] != list(range(len(functions))):
        raise Refused(f"{place}: the indexes of virtual_functions must be 0 to {len(functions) - 1}, each once")
    return functions


def _virtual_function(place: str, option: Mapping[str, Any]) -> VirtualFunction:
    place = f"{place}, virtual function {option['index']}"
    vlan = option.get("vlan") or 0
    mac = _mac(place, option["mac"]) or ""
    if int(mac[:2], 16) & 1 or not int(mac.replace(":", ""), 16):
        raise Refused(f"{place}: {mac} cannot be a NIC's own MAC address; use a unicast one like 02:00:00:00:00:01")
    return VirtualFunction(
        index=option["index"],
        mac=mac,
        vlan=(_vlan_id(place, vlan) or 0) if vlan else 0,
        trust=bool(option.get("trust", False)),
        spoof_check=bool(option.get("spoof_check", True)),
    )


def _address(place: str, text: str) -> str:
    if "/" not in text:
        raise Refused(f"{place}: address {text} lacks its prefix length; write it like {text}/16")
    try:
        address = ipaddress.ip_interface(text)
    except ValueError:
        raise Refused(f"{place}: {text!r} is no address with prefix length; write it like 10.5.1.101/16") from None
    network = address.network
    if address.version == 4 and network.prefixlen < 31 and address.ip in (network[0], network[-1]):
        raise Refused(f"{place}: {text} is the first or last address of {network}; a host needs one between them")
    if address.ip.is_multicast or address.ip.is_loopback or address.ip.is_unspecified or address.ip.is_link_local:
        raise Refused(f"{place}: {text} cannot be a NIC's address; use one of the data plane's subnet")
    return str(address)


def _check_relations(interfaces: Sequence[Interface]) -> None:
    """Refuse declarations that contradict each other."""
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
