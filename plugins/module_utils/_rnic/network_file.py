# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The systemd-networkd file of one interface, as text and as settings. Pure.

Settings are sorted lines like ``Link.MTUBytes=9000``: section, key and value in networkd's own words.
"""

from __future__ import annotations

from typing import Sequence

DIRECTORY = "/etc/systemd/network"
HEADER = "# Written by ipu.pod.rnic_network, which overwrites what is changed here by hand."

_SECTIONS = ("Match", "Link", "Network")

# DHCP and router advertisements would bring a gateway; the link-local address is the one that RoCE's first GID uses.
# Without a carrier the addresses stay: a flapping switch port must not take the GIDs from under running jobs.
_FIXED = (
    "Link.RequiredForOnline=no",
    "Network.DHCP=no",
    "Network.IPv6AcceptRA=no",
    "Network.LinkLocalAddressing=ipv6",
    "Network.ConfigureWithoutCarrier=yes",
)


def path_of(name: str) -> str:
    """The file of the interface that is declared as ``name``."""
    return f"{DIRECTORY}/50-ipu-{name}.network"


def settings_for(name: str, mac: str | None, mtu: int, addresses: Sequence[str], description: str) -> list[str]:
    """The settings of an interface that is matched by its MAC, or by its name where that is None."""
    # A VLAN interface has the MAC of the NIC below it; only the NIC is of networkd's type "ether".
    match = [f"Match.MACAddress={mac}", "Match.Type=ether"] if mac else [f"Match.Name={name}"]
    settings = [*match, *_FIXED, f"Link.MTUBytes={mtu}", *(f"Network.Address={address}" for address in addresses)]
    if description:
        settings.append(f"Network.Description={description}")
    return sorted(settings)


def values(settings: Sequence[str], key: str) -> list[str]:
    """The values of a key such as ``Network.Address``."""
    prefix = key + "="
    return [setting[len(prefix) :] for setting in settings if setting.startswith(prefix)]


def render(settings: Sequence[str]) -> str:
    """The file's text."""
    text = HEADER + "\n"
    for section in _SECTIONS:
        prefix = section + "."
        lines = [setting[len(prefix) :] for setting in settings if setting.startswith(prefix)]
        text += f"\n[{section}]\n" + "".join(line + "\n" for line in lines)
    return text


def parse(text: str) -> list[str] | None:
    """The settings in a file that was rendered here, whatever was added since; None for anybody else's file."""
    first, *rest = text.splitlines() or [""]
    if first != HEADER:
        return None
    settings = []
    section = ""
    for line in (line.strip() for line in rest):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif line and line[0] not in "#;":
            settings.append(f"{section}.{line}")
    return sorted(settings)
