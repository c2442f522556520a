# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The netplan back end: a YAML file per interface, which netplan hands to systemd-networkd. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

from .declared import BOND, NIC, VLAN
from .networkd import Networkd
from .profile import (
    MII_MONITOR_MS,
    Commands,
    Kept,
    Profile,
    Texts,
    head_of,
    kept_addresses,
    kept_description,
    kept_number,
)

try:
    import yaml

    HAS_YAML = True
except ImportError:
    # netplan needs it itself; a server without both may still have netplan's files.
    HAS_YAML = False

DIRECTORY = "/etc/netplan"
GENERATED = "/run/systemd/network"
GENERATED_PREFIX = f"{GENERATED}/10-netplan-"

# netplan reads its files by name and wants an interface defined before the ones that are made of it.
_ORDER = {NIC: "60", BOND: "61", VLAN: "62"}
_SECTION = {NIC: "ethernets", BOND: "bonds", VLAN: "vlans"}
_GENERATED = re.compile(re.escape(GENERATED_PREFIX) + r"(.+)\.(?:network|netdev|link)")


class Netplan(Networkd):
    """See :class:`.profile.Backend`. What netplan has generated is loaded as networkd's own files are."""

    name = "netplan"
    directory = DIRECTORY
    mode = "0600"
    own = (re.compile(re.escape(DIRECTORY) + r"/6[0-2]-ipu-(.+)\.yaml"),)

    def render(self, profile: Profile) -> Texts:
        """One YAML file."""
        lines = [*head_of(profile), "network:", "  version: 2"]
        lines += [f"  {_SECTION[profile.type]}:", f"    {json.dumps(profile.name)}:"]
        lines += ["      " + line for line in _definition(profile)]
        path = f"{DIRECTORY}/{_ORDER[profile.type]}-ipu-{profile.name}.yaml"
        return {path: "".join(line + "\n" for line in lines)}

    def kept(self, texts: Texts) -> Kept:
        """The settings of the interface in its own file."""
        for path, text in texts.items():
            name = self.interface_of(path)
            if name:
                mtu, addresses = _settings_of(name, text)
                # An address may have options, of which it is the key.
                words = [word for each in addresses for word in ([each] if isinstance(each, str) else each)]
                return Kept(kept_number(str(mtu)), kept_addresses(words), kept_description(text))
        return Kept()

    def used_file(self, name: str) -> str:
        """The file that netplan generates for networkd."""
        return f"{GENERATED_PREFIX}{name}.network"

    def prepare(self) -> Commands:
        """Generate networkd's files, which also checks ours."""
        return [["netplan", "generate"]]


def generated_for(path: str) -> str | None:
    """The name of the interface that netplan has generated this file for; None for files of others."""
    found = _GENERATED.fullmatch(path)
    return found.group(1) if found else None


def mentions(text: str, name: str, mac: str | None) -> bool:
    """Whether a netplan file defines an interface of this name or with this MAC, or makes it a port of another."""
    document = _document(text)
    if document is not None:
        names, values = _words(document)
        return name in names or (mac is not None and mac in values)
    word = rf"""["']?{re.escape(name)}["']?"""
    defined = re.search(rf"^\s+{word}\s*:", text, re.MULTILINE)
    listed = re.search(rf"(?:[\[,]|-\s)\s*{word}\s*(?:[\],#]|$)", text, re.MULTILINE)
    return bool(defined or listed) or (mac is not None and mac in text.lower())


def _document(text: str) -> Any:
    """The file as mappings, lists and texts; None where that cannot be read, or says nothing."""
    try:
        return yaml.load(text, Loader=yaml.BaseLoader) if HAS_YAML else None
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError):
        return None


def _words(document: Any) -> tuple[set[str], set[str]]:
    """The keys and items of lists in a document, and all other texts in lower case."""
    names: set[str] = set()
    values: set[str] = set()
    waiting, seen = [document], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            values.add(part.lower())
        # An alias is the same part in another place.
        elif id(part) not in seen:
            seen.add(id(part))
            names.update(word for word in part if isinstance(word, str))
            waiting += part.values() if isinstance(part, dict) else part
    return names, values


def _settings_of(name: str, text: str) -> tuple[Any, Any]:
    """The MTU and the addresses of an interface in a file; where YAML cannot be read, those in lines rendered here."""
    try:
        settings = next(section[name] for section in _document(text)["network"].values() if name in section)
        return settings.get("mtu"), settings.get("addresses", ())
    except (AttributeError, KeyError, StopIteration, TypeError):
        lines = dict(re.findall(r"^      (mtu|addresses): (.*)$", text, re.MULTILINE))
        return lines.get("mtu"), re.findall(r'"([^"]+)"', lines.get("addresses", ""))


def _definition(profile: Profile) -> list[str]:
    lines = _identity(profile)
    lines += ["optional: true", "dhcp4: false", "dhcp6: false", "accept-ra: false", "ignore-carrier: true"]
    lines.append("link-local: []" if profile.bond else "link-local: [ipv6]")
    if profile.mtu is not None:
        lines.append(f"mtu: {profile.mtu}")
    if profile.addresses:
        lines.append(f"addresses: {json.dumps(profile.addresses)}")
    return lines


def _identity(profile: Profile) -> list[str]:
    if profile.type == VLAN:
        return [f"id: {profile.vlan_id}", f"link: {json.dumps(profile.parent)}"]
    if profile.type == BOND:
        parameters = f"{{mode: {json.dumps(profile.mode)}, mii-monitor-interval: {MII_MONITOR_MS}}}"
        return [f"interfaces: {json.dumps(profile.members)}", f"parameters: {parameters}"]
    if profile.mac:
        return [f"match: {{macaddress: {json.dumps(profile.mac)}}}"]
    return [f"match: {{name: {json.dumps(profile.device)}}}"] if profile.device != profile.name else []
