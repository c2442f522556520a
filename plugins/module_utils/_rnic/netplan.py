# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The netplan back end: a YAML file per interface, which netplan hands to systemd-networkd. Pure."""

from __future__ import annotations

import re
from typing import Callable, Sequence

from .._plan.steps import Step
from .declared import BOND, NIC, VLAN
from .networkd import reload, reload_after_undo
from .profile import HEADER, MII_MONITOR_MS, Commands, Kept, Profile, Texts, kept_addresses, kept_number

DIRECTORY = "/etc/netplan"
GENERATED = "/run/systemd/network"
GENERATED_PREFIX = f"{GENERATED}/10-netplan-"

# netplan reads its files by name and wants an interface defined before the ones that are made of it.
_ORDER = {NIC: "60", BOND: "61", VLAN: "62"}
_SECTION = {NIC: "ethernets", BOND: "bonds", VLAN: "vlans"}
_OWN = re.compile(re.escape(DIRECTORY) + r"/6[0-2]-ipu-(.+)\.yaml")
_GENERATED = re.compile(re.escape(GENERATED_PREFIX) + r"(.+)\.(?:network|netdev|link)")
_DESCRIPTION = "# Description: "


class Netplan:
    """See :class:`.profile.Backend`."""

    name = "netplan"
    mode = "0600"

    def directories(self, _names: Callable[[str], Sequence[str]]) -> list[str]:
        """The one directory for administrators."""
        return [DIRECTORY]

    def interface_of(self, path: str) -> str | None:
        """The name between ``-ipu-`` and the ending."""
        found = _OWN.fullmatch(path)
        return found.group(1) if found else None

    def render(self, profile: Profile) -> Texts:
        """One YAML file."""
        lines = [HEADER]
        if profile.description:
            lines.append(_DESCRIPTION + profile.description)
        lines += ["network:", "  version: 2", f"  {_SECTION[profile.type]}:", f'    "{profile.name}":']
        lines += ["      " + line for line in _definition(profile)]
        path = f"{DIRECTORY}/{_ORDER[profile.type]}-ipu-{profile.name}.yaml"
        return {path: "".join(line + "\n" for line in lines)}

    def kept(self, texts: Texts) -> Kept:
        """What the file says in the lines that were rendered here."""
        lines = [line for text in texts.values() for line in text.split("\n")]
        mtu, addresses = _value(lines, "      mtu: "), _value(lines, "      addresses: ")
        return Kept(kept_number(mtu), kept_addresses(re.findall(r'"([^"]+)"', addresses)), _value(lines, _DESCRIPTION))

    def used_file(self, profile: Profile) -> str:
        """What netplan generates for networkd."""
        return f"{GENERATED_PREFIX}{profile.name}.network"

    def prepare(self) -> Commands:
        """Generate networkd's files, which also checks ours."""
        return [["netplan", "generate"]]

    def load(self, steps: Sequence[Step]) -> Commands:
        """Have networkd load them. ``netplan apply`` would also reconfigure the management interface."""
        return reload(steps)

    def unload(self, steps: Sequence[Step]) -> Commands:
        """The same with the old files."""
        return reload_after_undo(steps)


def generated_for(path: str) -> str | None:
    """The name of the interface that netplan has generated this file for; None for files of others."""
    found = _GENERATED.fullmatch(path)
    return found.group(1) if found else None


def mentions(text: str, name: str, mac: str | None) -> bool:
    """Whether a netplan file defines an interface of this name or with this MAC, or makes it a port of another."""
    word = rf"""["']?{re.escape(name)}["']?"""
    defined = re.search(rf"^\s+{word}\s*:", text, re.MULTILINE)
    listed = re.search(rf"(?:[\[,]|-\s)\s*{word}\s*(?:[\],#]|$)", text, re.MULTILINE)
    return bool(defined or listed) or (mac is not None and mac in text.lower())


def _definition(profile: Profile) -> list[str]:
    lines = _identity(profile)
    lines += ["optional: true", "dhcp4: false", "dhcp6: false", "accept-ra: false", "ignore-carrier: true"]
    lines.append("link-local: []" if profile.bond else "link-local: [ipv6]")
    if profile.mtu is not None:
        lines.append(f"mtu: {profile.mtu}")
    if profile.addresses:
        lines.append(f"addresses: {_list(profile.addresses)}")
    return lines


def _identity(profile: Profile) -> list[str]:
    if profile.type == VLAN:
        return [f"id: {profile.vlan_id}", f'link: "{profile.parent}"']
    if profile.type == BOND:
        parameters = f'{{mode: "{profile.mode}", mii-monitor-interval: {MII_MONITOR_MS}}}'
        return [f"interfaces: {_list(profile.members)}", f"parameters: {parameters}"]
    if profile.mac:
        return [f'match: {{macaddress: "{profile.mac}"}}']
    return [f'match: {{name: "{profile.device}"}}'] if profile.device != profile.name else []


def _list(values: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{value}"' for value in values) + "]"


def _value(lines: Sequence[str], prefix: str) -> str:
    return next((line[len(prefix) :] for line in lines if line.startswith(prefix)), "")
