# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which device of a server each declared interface is, and everything that forbids to touch one. Pure."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Mapping, Sequence

from .._plan.converge import Refused
from . import netplan, network_manager, virtual_functions
from .backends import BACKENDS
from .declared import BOND, NIC, VLAN, Interface, bond_of
from .foreign_files import left_to_others
from .profile import HEADER, Backend
from .server import Link, Server, above, management


@dataclass(frozen=True)
class Target:
    """A declared interface and the device that it is, or will be.

    Args:
        interface: as declared.
        device: the kernel's name.
        bond: the declared bond that it is a member of.
        tallest: of the interfaces above it that are not declared, the one with the largest MTU, and that MTU.
        left: whether it is as declared by a file of somebody else, and stays with that.
    """

    interface: Interface
    device: str
    bond: str | None = None
    tallest: tuple[str, int] | None = None
    left: bool = False


def devices_of(server: Server, interfaces: Sequence[Interface]) -> dict[str, str]:
    """Each declared interface's device, by declared name. Raises Refused: there is no such NIC, or several."""
    devices = {i.name: _find(server, i).device if i.type == NIC else i.name for i in interfaces}
    names: dict[str, str] = {}
    for name, device in devices.items():
        if device in names:
            raise Refused(f"interfaces {names[device]} and {name} are both {device}; keep one")
        names[device] = name
    return devices


def targets_on(
    server: Server, interfaces: Sequence[Interface], backend: Backend, replaced: bool = False
) -> list[Target]:
    """The declared interfaces with their devices.

    Args:
        replaced: whether settings that are not declared get their defaults, so that none is left to others.

    Raises:
        Refused: one of them is what the server is managed through, belongs to somebody else, or cannot be what is
            declared.
    """
    devices = devices_of(server, interfaces)
    managed_through = management(server)
    left = {
        name
        for name in ([] if replaced else left_to_others(server, interfaces, devices, backend.name))
        if not any(own_files(server, name, each) for each in BACKENDS.values())
    }
    if backend.name == "netplan":
        _refuse_netplans_others(server, [interface for interface in interfaces if interface.name not in left])
    for interface in interfaces:
        _check_management(interface, devices[interface.name], managed_through)
        if interface.name in left:
            continue
        _check_files(server, interface, devices[interface.name], backend)
        _check_link(server, interface, devices, interfaces, backend)
        if interface.type == BOND:
            _check_ports(server, interface, devices)
    _refuse_addresses_of_others(server, interfaces, devices)
    return [
        Target(i, devices[i.name], _name(bond_of(i.name, interfaces)), _tallest(server, devices, i), i.name in left)
        for i in interfaces
    ]


def own_files(server: Server, name: str, backend: Backend) -> dict[str, str]:
    """The files on the server that have the name of this interface's own, by path."""
    return {
        path: text
        for path, text in server.files.items()
        if name in (backend.interface_of(path), virtual_functions.interface_of(path))
    }


def _find(server: Server, interface: Interface) -> Link:
    nics = [link for link in server.links.values() if link.is_nic and link.device != "lo"]
    if interface.mac is not None:
        found, by = [nic for nic in nics if nic.mac == interface.mac], f"MAC {interface.mac}"
    elif interface.pci is not None:
        found = [nic for nic in nics if server.pci.get(nic.device) == interface.pci]
        by = f"PCI address {interface.pci}"
    else:
        found, by = [nic for nic in nics if nic.device == interface.name], f"name {interface.name}"
    if not found:
        there = ", ".join(f"{nic.device} ({nic.mac})" for nic in nics) or "none"
        raise Refused(f"{interface.place}: this server has no NIC with {by}; its NICs are: {there}")
    if len(found) > 1:
        devices = " and ".join(nic.device for nic in found)
        raise Refused(f"{interface.place}: the {by} is found on {devices}; declare the interface by name alone")
    return found[0]


def _check_management(interface: Interface, device: str, managed_through: Mapping[str, str]) -> None:
    if device in managed_through:
        reason = managed_through[device]
        raise Refused(f"{interface.place}: {device} {reason} and is never changed; declare RNICs only")


def _check_link(
    server: Server, interface: Interface, devices: Mapping[str, str], interfaces: Sequence[Interface], backend: Backend
) -> None:
    link = server.links.get(devices[interface.name])
    if link is None:
        return
    if interface.absent and not own_files(server, interface.name, backend):
        raise Refused(f"{interface.place}: this collection did not make it, so it is not removed; do that by hand")
    if interface.type == NIC:
        _check_nic(server, interface, link, interfaces, devices, backend)
    elif link.kind != interface.type:
        raise Refused(f"{interface.place}: there is a {link.kind or 'NIC'} of this name; declare another name")
    elif interface.type == VLAN:
        _check_vlan(interface, link, devices)
    elif interface.type == BOND and not interface.absent and link.bond_mode != interface.mode:
        raise Refused(
            f"{interface.place}: it runs in mode {link.bond_mode}; make it absent first, then {interface.mode}"
        )


def _check_nic(
    server: Server,
    interface: Interface,
    link: Link,
    interfaces: Sequence[Interface],
    devices: Mapping[str, str],
    backend: Backend,
) -> None:
    bonds = {devices[bond.name] for bond in interfaces if bond.type == BOND}
    if link.master and link.master not in bonds:
        raise Refused(
            f"{interface.place}: {link.device} is a port of {link.master}, which has the settings; take it out first"
        )
    # A member has the MTU of its bond.
    source = bond_of(interface.name, interfaces) or interface
    if source.mtu is not None and not link.min_mtu <= source.mtu <= (link.max_mtu or source.mtu):
        limits = f"{link.min_mtu} to {link.max_mtu}" if link.max_mtu else f"{link.min_mtu} or more"
        raise Refused(f"{source.place}: mtu {source.mtu} is not possible on {link.device}, which takes {limits}")
    if interface.addresses is None and link.dynamic and not own_files(server, interface.name, backend):
        raise Refused(
            f"{interface.place}: {link.device} has {link.dynamic[0]} from DHCP or a router; declare its addresses"
        )
    possible = server.max_virtual_functions.get(link.device, 0)
    if len(interface.virtual_functions or ()) > possible:
        raise Refused(
            f"{interface.place}: {link.device} can have {possible} virtual functions, not "
            f"{len(interface.virtual_functions or ())}; the NIC's firmware sets the limit (mlxconfig NUM_OF_VFS)"
        )


def _check_vlan(interface: Interface, link: Link, devices: Mapping[str, str]) -> None:
    if interface.absent:
        # networkd looks at the parent again when a VLAN goes, and takes from it what its file does not say.
        if link.parent not in devices.values():
            raise Refused(f"{interface.place}: it is on {link.parent}; declare that, too, at least by its name")
        return
    parent = devices[interface.parent or ""]
    if (link.parent, link.vlan_id) != (parent, interface.vlan_id):
        raise Refused(
            f"{interface.place}: it is VLAN {link.vlan_id} on {link.parent}; make it absent first, then "
            f"VLAN {interface.vlan_id} on {parent}"
        )


def _check_ports(server: Server, interface: Interface, devices: Mapping[str, str]) -> None:
    members = {devices[member] for member in interface.members}
    for link in server.links.values():
        if link.master == interface.name and link.device not in devices.values():
            raise Refused(f"{interface.place}: {link.device} is a port of it, too; declare that NIC, or take it out")
    slots = {server.pci[device].rpartition(".")[0] for device in members if device in server.pci}
    if len(slots) > 1:
        raise Refused(
            f"{interface.place}: its members are ports of different NICs ({' and '.join(sorted(slots))}); "
            "RoCE over a bond needs both ports of one NIC"
        )


def _check_files(server: Server, interface: Interface, device: str, backend: Backend) -> None:
    for other in BACKENDS.values():
        for path, text in own_files(server, interface.name, other).items():
            if not text.startswith(HEADER + "\n"):
                raise Refused(f"{interface.place}: {path} was not written by this collection; move it away")
            if other.name != backend.name and other.interface_of(path):
                raise Refused(f"{interface.place}: {path} is left from {other.name}; remove it, {backend.name} follows")
    used = server.claims.get(device, {}).get(backend.name)
    if used and _wins_over_ours(used, interface, backend):
        definition = netplan.generated_for(used)
        if definition:
            raise Refused(
                f"{interface.place}: {definition} in netplan already configures {device} and would win; have it match "
                "other interfaces alone"
            )
        raise Refused(f"{interface.place}: {used} already configures {device} and would win; move it away")


def _refuse_netplans_others(server: Server, interfaces: Sequence[Interface]) -> None:
    """netplan merges what all its files say of an interface."""
    names = {interface.name for interface in interfaces}
    for path, text in server.files.items():
        if path.endswith(".yaml") and BACKENDS["netplan"].interface_of(path) not in names:
            for interface in interfaces:
                if netplan.mentions(text, interface.name, interface.mac):
                    raise Refused(f"{interface.place}: {path} configures it, too; take it out there")


def _wins_over_ours(used: str, interface: Interface, backend: Backend) -> bool:
    """Whether the file that a device is configured from stays in force beside ours."""
    if backend.name == "netplan" and not used.startswith(netplan.GENERATED):
        return True
    if backend.name in ("networkd", "netplan"):
        # networkd takes the first file that matches, in the order of the names without their folders.
        ours = backend.used_file(interface.name)
        return used != ours and os.path.basename(used) < os.path.basename(ours)
    return used.startswith(network_manager.DIRECTORY) and backend.interface_of(used) != interface.name


def _refuse_addresses_of_others(server: Server, interfaces: Sequence[Interface], devices: Mapping[str, str]) -> None:
    declared = {devices[i.name] for i in interfaces if i.addresses is not None or i.absent}
    for interface in interfaces:
        ips = {address.split("/")[0] for address in interface.addresses or ()}
        for link in server.links.values():
            taken = sorted(ips & link.ips) if link.device not in declared else []
            if taken:
                raise Refused(
                    f"{interface.place}: this server has {taken[0]} on {link.device} already; take it away there first"
                )


def _tallest(server: Server, devices: Mapping[str, str], interface: Interface) -> tuple[str, int] | None:
    uppers = above(server.links, devices[interface.name]) - set(devices.values())
    mtus = sorted((server.links[upper].mtu, upper) for upper in uppers)
    return (mtus[-1][1], mtus[-1][0]) if mtus else None


def _name(interface: Interface | None) -> str | None:
    return interface.name if interface else None
