# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From declared interfaces and what a server looks like to the steps that bring both together. Pure.

The state has one kind, ``interface``, by declared name. Running and persistent settings stand side by side:
``network_file`` is the file that the back end configures the device from now, ``files`` are the interface's own files
on disk. An interface that has files and no device has the ``device`` None.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Mapping, Sequence

from .._plan.converge import DeviceError, Refused
from .._plan.steps import (
    CREATE,
    DESTRUCTIVE,
    DISRUPTIVE,
    NO_RISK,
    REMOVE,
    UPDATE,
    Fields,
    State,
    Step,
    changed_fields,
    reason_for,
)
from . import virtual_functions
from .declared import BOND, NIC, VLAN, Interface, sorted_addresses
from .foreign_files import is_lasting
from .profile import Backend, Profile, own_texts
from .server import Link, Server, management
from .targets import Target, own_files

KIND = "interface"
# The kernel's own for Ethernet.
DEFAULT_MTU = 1500

# Members take their MTU from their bond, and VLANs from what they are on.
_ORDER = {BOND: 0, NIC: 1, VLAN: 2}
_RUNNING = ("up", "mtu", "addresses", "bond", "members", "mode", "parent", "vlan_id", "virtual_functions")


class Planner:
    """Compares what is declared with what a server has, in the words of one back end.

    Args:
        replaced: whether settings that are not declared get their defaults instead of being kept.
    """

    def __init__(self, targets: Sequence[Target], backend: Backend, replaced: bool = False) -> None:
        self._targets = sorted(targets, key=lambda target: _ORDER[target.interface.type])
        self._devices = {target.interface.name: target.device for target in targets}
        self.backend = backend
        self._replaced = replaced

    def state_of(self, server: Server) -> State:
        """The state of the declared interfaces that exist. Raises DeviceError: a NIC is no longer there."""
        names: dict[str, Fields] = {}
        for target in self._targets:
            link = server.links.get(target.device)
            files = own_files(server, target.interface.name, self.backend)
            if link is None and target.interface.type == NIC:
                raise DeviceError(f"{target.interface.place}: {target.device} has disappeared from this server")
            if link or files:
                used = server.claims.get(target.device, {}).get(self.backend.name)
                names[target.interface.name] = _fields(server, target, link, used, files)
        return {KIND: names}

    def plan(self, actual: State) -> list[Step]:
        """One step per interface that differs from what is declared, running or persistent; removals first.

        Raises Refused: the MTUs do not fit each other, or something undeclared is above what shall go.
        """
        there = actual[KIND]
        removals = [
            _removal(target, there[target.interface.name])
            for target in reversed(self._targets)
            if target.interface.absent and target.interface.name in there
        ]
        steps = []
        profiles: dict[str, Profile] = {}
        for target in self._targets:
            if not (target.interface.absent or target.left):
                before = there.get(target.interface.name)
                profiles[target.interface.name] = self._profile(target, before, profiles)
                steps += self._steps(target, before, profiles[target.interface.name])
        return [*removals, *steps]

    def _profile(self, target: Target, before: Fields | None, profiles: Mapping[str, Profile]) -> Profile:
        """Return the declared value, else that of the interface's own files, else the running one."""
        interface = target.interface
        own = own_texts((before or {}).get("files", {}))
        kept = self.backend.kept(own)
        running = before if before and before["device"] and not self._replaced else {}
        mtu = _first(interface.mtu, None if self._replaced else kept.mtu, running.get("mtu"))
        addresses = () if self._replaced else kept.addresses if own else running.get("addresses", ())
        description = "" if self._replaced else kept.description
        parent = profiles.get(interface.parent or "")
        found = {
            "device": target.device,
            "mtu": mtu or (parent.mtu if parent else DEFAULT_MTU),
            "addresses": tuple(sorted_addresses(_first(interface.addresses, addresses))),
            "description": _first(interface.description, description),
            "parent_device": self._devices.get(interface.parent or "", ""),
        }
        profile = Profile(**{**vars(interface), **found})
        if target.bond:
            profile = replace(profile, bond=target.bond, addresses=(), mtu=profiles[target.bond].mtu)
        _check_mtu(target, profile, parent)
        return profile

    def _steps(self, target: Target, before: Fields | None, profile: Profile) -> list[Step]:
        wanted = self._wanted(target, before, profile)
        name = profile.name
        if before is None:
            return [Step(CREATE, KIND, name, "it does not exist", NO_RISK, after=wanted)]
        changes = changed_fields(before, wanted)
        if not changes:
            return []
        disruptive = before["device"] and set(changes) & {*_RUNNING, "network_file"}
        risk = DISRUPTIVE if disruptive else NO_RISK
        return [Step(UPDATE, KIND, name, _reason(before, changes), risk, before=before, after={**before, **wanted})]

    def _wanted(self, target: Target, before: Fields | None, profile: Profile) -> Fields:
        files = self.backend.render(profile)
        wanted: Fields = {
            "type": profile.type,
            "device": profile.device,
            "network_file": self.backend.used_file(profile.name),
            "up": True,
            "mtu": profile.mtu,
            "addresses": list(profile.addresses or ()),
        }
        if profile.type == NIC:
            functions = self._functions(target.interface, before or {})
            wanted.update(bond=profile.bond or "", virtual_functions=functions)
            if functions:
                text = virtual_functions.unit_text(profile.device, functions)
                files[virtual_functions.unit_path(profile.name)] = text
        if profile.type == VLAN:
            wanted.update(parent=profile.parent_device, vlan_id=profile.vlan_id)
        if profile.type == BOND:
            wanted.update(members=sorted(self._devices[member] for member in profile.members), mode=profile.mode)
        return {**wanted, "files": files}

    def _functions(self, interface: Interface, before: Mapping[str, Any]) -> list[dict[str, Any]]:
        if interface.virtual_functions is not None:
            return [function.fields() for function in interface.virtual_functions]
        return [] if self._replaced else list(before.get("virtual_functions", []))


def gathered(server: Server) -> list[dict[str, Any]]:
    """Every interface that may be declared, with its running settings, in the form of the option ``interfaces``."""
    managed_through = management(server)
    links = [link for link in server.links.values() if link.device not in managed_through and link.device != "lo"]
    nics = [_gathered(link) for link in links if link.is_nic and link.mac]
    bonds = [
        {**_gathered(link), "type": BOND, "members": _ports(server, link.device), "mode": link.bond_mode}
        for link in links
        if link.kind == BOND
    ]
    vlans = [
        {**_gathered(link), "type": VLAN, "parent": link.parent, "vlan_id": link.vlan_id}
        for link in links
        if link.kind == VLAN
    ]
    return [*nics, *bonds, *vlans]


def lasting(server: Server) -> list[str]:
    """Those of the gathered NICs whose running settings come back after a restart, by name."""
    names = {each["name"] for each in gathered(server) if each["type"] == NIC}
    return [
        name
        for name in server.links
        if name in names and any(is_lasting(server, server.links[name], each) for each in server.claims.get(name, {}))
    ]


def rendered(interfaces: Sequence[Interface], backend: Backend) -> dict[str, str]:
    """The files that the declared interfaces get, by path, as far as that can be said without a server."""
    bonds = {member: bond for bond in interfaces for member in bond.members}
    files: dict[str, str] = {}
    for interface in interfaces:
        if interface.absent:
            continue
        bond = bonds.get(interface.name)
        profile = Profile(**vars(interface), device=interface.name, parent_device=interface.parent or "")
        if bond:
            profile = replace(profile, bond=bond.name, mtu=bond.mtu)
        files.update(backend.render(profile))
        if interface.virtual_functions:
            functions = [function.fields() for function in interface.virtual_functions]
            files[virtual_functions.unit_path(interface.name)] = virtual_functions.unit_text(interface.name, functions)
    return files


def _fields(server: Server, target: Target, link: Link | None, used: str | None, files: Mapping[str, str]) -> Fields:
    fields: Fields = {
        "type": target.interface.type,
        "device": link.device if link else None,
        "network_file": used,
        "up": bool(link and link.up),
        "mtu": link.mtu if link else None,
        "addresses": list(link.addresses) if link else [],
        "files": dict(files),
    }
    if target.interface.type == NIC and link:
        functions = [dict(function) for function in link.virtual_functions]
        fields.update(mac=link.mac, bond=link.master or "", virtual_functions=functions)
    if target.interface.type == VLAN:
        fields.update(parent=link.parent if link else None, vlan_id=link.vlan_id if link else None)
    if target.interface.type == BOND:
        fields.update(members=_ports(server, target.device), mode=link.bond_mode if link else None)
    return fields


def _gathered(link: Link) -> dict[str, Any]:
    settings: dict[str, Any] = {"name": link.device, "type": NIC}
    if link.is_nic:
        settings["mac"] = link.mac
    if not link.master:
        settings.update(addresses=list(link.addresses), mtu=link.mtu)
    if link.virtual_functions:
        settings["virtual_functions"] = [dict(function) for function in link.virtual_functions]
    return settings


def _ports(server: Server, bond: str) -> list[str]:
    return sorted(link.device for link in server.links.values() if link.master == bond)


def _removal(target: Target, before: Fields) -> Step:
    if target.tallest:
        name = target.interface.name
        raise Refused(
            f"{target.interface.place}: {target.tallest[0]} is above {name} and would go with it; declare it, too"
        )
    return Step(REMOVE, KIND, target.interface.name, "declared absent", DESTRUCTIVE, before=before)


def _check_mtu(target: Target, profile: Profile, parent: Profile | None) -> None:
    mtu = profile.mtu or DEFAULT_MTU
    if parent and parent.mtu and mtu > parent.mtu:
        raise Refused(
            f"{target.interface.place}: its mtu would be {mtu}, more than the {parent.mtu} of its parent "
            f"{parent.name}; declare both"
        )
    if target.tallest and target.tallest[1] > mtu:
        name, tallest = target.tallest
        raise Refused(
            f"{target.interface.place}: {name} above it has mtu {tallest}, which {mtu} would cut; declare {name}, too"
        )


def _first(*values: Any) -> Any:
    """The first of them that says something."""
    return next((value for value in values if value is not None), None)


def _reason(before: Mapping[str, Any], changes: Mapping[str, Any]) -> str:
    """The changed fields in words; of the files only whether they are missing or other than wanted."""
    reasons = [reason_for(before, {field: value for field, value in changes.items() if field != "files"})]
    if "files" in changes:
        missing = sorted(set(changes["files"]) - set(before["files"]))
        reasons.append(f"{missing[0]} is missing" if missing else "its files are not as wanted")
    return ", ".join(reason for reason in reasons if reason)
