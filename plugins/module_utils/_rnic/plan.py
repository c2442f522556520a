# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From declared interfaces and what a server looks like to the steps that bring both together. Pure.

The state has one kind, ``interface``, by declared name. Running and persistent settings stand side by side:
``{device, mac, up, mtu, addresses, network_file, file}``, where ``network_file`` is the file that networkd uses for
the device now, and ``file`` the settings in the interface's own file on disk.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from .._plan.converge import DeviceError, Refused
from .._plan.steps import DISRUPTIVE, NO_RISK, UPDATE, Fields, State, Step, changed_fields, reason_for
from . import network_file
from .declared import Interface, sorted_addresses
from .server import Link, Server, management

KIND = "interface"


@dataclass(frozen=True)
class Target:
    """A declared interface and the device that it was found to be."""

    interface: Interface
    device: str


def targets_on(server: Server, interfaces: Sequence[Interface]) -> list[Target]:
    """The declared interfaces with their devices.

    Raises:
        Refused: one of them does not exist, cannot be told from another, is what the server is managed through,
            belongs to somebody else's file, or cannot be what is declared.
    """
    targets = [Target(interface, _find(server, interface).device) for interface in interfaces]
    names: dict[str, str] = {}
    for target in targets:
        name = target.interface.name
        if target.device in names:
            raise Refused(f"interfaces {names[target.device]} and {name} are both {target.device}; keep one")
        names[target.device] = name
        _check(server, target)
    _refuse_addresses_of_others(server, targets)
    return targets


def state_of(server: Server, targets: Sequence[Target]) -> State:
    """The state of the targets, as seen by one survey."""
    return {KIND: {target.interface.name: _fields(server, target) for target in targets}}


def plan(targets: Sequence[Target], actual: State) -> list[Step]:
    """One step per interface that differs from what is declared, running or persistent."""
    steps = []
    for target in targets:
        name = target.interface.name
        before = actual[KIND][name]
        wanted = _wanted(target.interface, before)
        changes = changed_fields(before, wanted)
        if changes:
            risk = NO_RISK if list(changes) == ["file"] else DISRUPTIVE
            reason = _reason(before, changes)
            steps.append(Step(UPDATE, KIND, name, reason, risk, before=before, after={**before, **wanted}))
    return steps


def gathered(server: Server) -> list[dict[str, Any]]:
    """Every NIC that may be declared, with its running settings, in the form of the option ``interfaces``."""
    managed_through = management(server)
    nics = [link for link in server.links.values() if link.is_nic and not link.master and link.mac]
    return [
        {"name": nic.device, "mac": nic.mac, "addresses": list(nic.addresses), "mtu": nic.mtu}
        for nic in nics
        if nic.device not in managed_through and nic.device != "lo"
    ]


def _find(server: Server, interface: Interface) -> Link:
    place = f"interface {interface.name}"
    nics = [link for link in server.links.values() if link.is_nic and link.device != "lo"]
    if interface.mac is None:
        found, by = [nic for nic in nics if nic.device == interface.name], f"name {interface.name}"
    else:
        found, by = [nic for nic in nics if nic.mac == interface.mac], f"MAC {interface.mac}"
    if not found:
        there = ", ".join(f"{nic.device} ({nic.mac})" for nic in nics) or "none"
        raise Refused(f"{place}: this server has no NIC with {by}; its NICs are: {there}")
    if len(found) > 1:
        devices = " and ".join(nic.device for nic in found)
        raise Refused(f"{place}: the {by} is found on {devices}; declare the interface by name without a MAC")
    return found[0]


def _check(server: Server, target: Target) -> None:
    interface, link = target.interface, server.links[target.device]
    place = f"interface {interface.name}"
    managed_through = management(server).get(link.device)
    if managed_through:
        raise Refused(f"{place}: {link.device} {managed_through} and is never changed; declare RNICs only")
    if link.master:
        raise Refused(f"{place}: {link.device} is a port of {link.master}, which has the settings; take it out first")
    _check_mtu(place, interface, link)
    if interface.addresses is None and not _own_settings(server, interface) and link.dynamic:
        raise Refused(f"{place}: {link.device} has {link.dynamic[0]} from DHCP or a router; declare its addresses")
    _check_files(server, target, place)


def _check_mtu(place: str, interface: Interface, link: Link) -> None:
    if interface.mtu is None or link.min_mtu <= interface.mtu <= (link.max_mtu or interface.mtu):
        return
    limits = f"{link.min_mtu} to {link.max_mtu}" if link.max_mtu else f"{link.min_mtu} or more"
    raise Refused(f"{place}: mtu {interface.mtu} is not possible on {link.device}, which takes {limits}")


def _check_files(server: Server, target: Target, place: str) -> None:
    path = network_file.path_of(target.interface.name)
    if path in server.files and _own_settings(server, target.interface) is None:
        raise Refused(f"{place}: {path} was not written by this collection; move it away")
    used = server.network_files.get(target.device)
    # networkd takes the first file that matches, in the order of the names without their folders.
    if used and used != path and os.path.basename(used) < os.path.basename(path):
        raise Refused(f"{place}: {used} already configures {target.device} and would win; move it away")


def _refuse_addresses_of_others(server: Server, targets: Sequence[Target]) -> None:
    devices = {target.device for target in targets if target.interface.addresses is not None}
    for target in targets:
        ips = {address.split("/")[0] for address in target.interface.addresses or ()}
        for link in server.links.values():
            taken = sorted(ips & link.ips) if link.device not in devices else []
            if taken:
                place = f"interface {target.interface.name}"
                raise Refused(f"{place}: this server has {taken[0]} on {link.device} already; take it away there first")


def _own_settings(server: Server, interface: Interface) -> list[str] | None:
    text = server.files.get(network_file.path_of(interface.name))
    return None if text is None else network_file.parse(text)


def _fields(server: Server, target: Target) -> Fields:
    link = server.links.get(target.device)
    if link is None:
        raise DeviceError(f"interface {target.interface.name}: {target.device} has disappeared from this server")
    return {
        "device": link.device,
        "mac": link.mac,
        "up": link.up,
        "mtu": link.mtu,
        "addresses": list(link.addresses),
        "network_file": server.network_files.get(link.device),
        "file": _own_settings(server, target.interface),
    }


def _wanted(interface: Interface, before: Mapping[str, Any]) -> Fields:
    """What is declared; where nothing is, what the interface's own file says; where there is none, what is running."""
    file = before["file"]
    kept_mtus = [int(mtu) for mtu in network_file.values(file or [], "Link.MTUBytes") if mtu.isdigit()]
    kept_addresses = before["addresses"] if file is None else network_file.values(file, "Network.Address")
    kept_descriptions = network_file.values(file or [], "Network.Description")
    mtu = (kept_mtus or [before["mtu"]])[0] if interface.mtu is None else interface.mtu
    addresses = sorted_addresses(kept_addresses if interface.addresses is None else interface.addresses)
    description = (kept_descriptions or [""])[0] if interface.description is None else interface.description
    return {
        "up": True,
        "mtu": mtu,
        "addresses": addresses,
        "network_file": network_file.path_of(interface.name),
        "file": network_file.settings_for(interface.name, interface.mac, mtu, addresses, description),
    }


def _reason(before: Mapping[str, Any], changes: Mapping[str, Any]) -> str:
    """The changed fields in words; of the file only whether it is missing or other than wanted."""
    reasons = [reason_for(before, {field: value for field, value in changes.items() if field != "file"})]
    if "file" in changes:
        reasons.append("file is missing" if before["file"] is None else "file is not as wanted")
    return ", ".join(reason for reason in reasons if reason)
