# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The systemd-networkd back end: .network files, .netdev files for what is no NIC, a drop-in per VLAN. Pure."""

from __future__ import annotations

import re
from typing import Callable, Pattern, Sequence

from .._plan.steps import Step
from .declared import BOND, NIC, VLAN
from .profile import (
    HEADER,
    MII_MONITOR_MS,
    Backend,
    Commands,
    Kept,
    Profile,
    Texts,
    device_before,
    kept_addresses,
    kept_number,
)

DIRECTORY = "/etc/systemd/network"

# DHCP and router advertisements would bring a gateway; the link-local address is the one that RoCE's first GID uses.
# Without a carrier the addresses stay: a flapping switch port must not take the GIDs from under running jobs.
_FIXED = (
    ("Link", "RequiredForOnline=no"),
    ("Network", "DHCP=no"),
    ("Network", "IPv6AcceptRA=no"),
    ("Network", "ConfigureWithoutCarrier=yes"),
)
_SECTIONS = ("NetDev", "VLAN", "Bond", "Match", "Link", "Network")


class Networkd(Backend):
    """See :class:`.profile.Backend`."""

    name = "networkd"
    directory = DIRECTORY
    mode = "0644"
    own: tuple[Pattern[str], ...] = (
        re.compile(re.escape(DIRECTORY) + r"/50-ipu-(.+)\.(?:network|netdev)"),
        # A VLAN stands in a drop-in of its parent, so that VLANs come and go without a change of the parent's own file.
        re.compile(re.escape(DIRECTORY) + r"/50-ipu-.+\.network\.d/50-ipu-(.+)\.conf"),
    )

    def directories(self, names: Callable[[str], Sequence[str]]) -> list[str]:
        """The directory of all files, and those of the drop-ins for our own."""
        drop_ins = (name for name in names(self.directory) if re.fullmatch(r"50-ipu-.*\.network\.d", name))
        return [self.directory, *(f"{self.directory}/{name}" for name in drop_ins)]

    def render(self, profile: Profile) -> Texts:
        """The .network file; for a VLAN or bond also what creates it."""
        texts = {self.used_file(profile.name): _text(_network(profile))}
        if profile.type != NIC:
            texts[f"{DIRECTORY}/50-ipu-{profile.name}.netdev"] = _text(_netdev(profile))
        if profile.type == VLAN:
            drop_in = f"{DIRECTORY}/50-ipu-{profile.parent}.network.d/50-ipu-{profile.name}.conf"
            texts[drop_in] = _text([("Network", f"VLAN={profile.name}")])
        return texts

    def kept(self, texts: Texts) -> Kept:
        """Return the settings of the .network file."""
        lines = [line for path, text in texts.items() if path.endswith(".network") for line in text.split("\n")]
        pairs = [line.partition("=")[::2] for line in lines]
        mtus = [kept_number(value) for key, value in pairs if key == "MTUBytes"]
        return Kept(
            mtu=next((mtu for mtu in mtus if mtu), None),
            addresses=kept_addresses([value for key, value in pairs if key == "Address"]),
            description=next((value for key, value in pairs if key == "Description"), ""),
        )

    def used_file(self, name: str) -> str:
        """Our own .network file."""
        return f"{DIRECTORY}/50-ipu-{name}.network"

    def load(self, steps: Sequence[Step]) -> Commands:
        """Have networkd configure what a new or rewritten file matches; it never removes a device by itself.

        A device whose file was written anew keeps the addresses that it had and has. ``networkctl reconfigure`` would
        take them all away first, and ``netplan apply`` would also reconfigure the management interface.
        """
        gone = [device_before(step) for step in steps if step.after is None and device_before(step)]
        return [["networkctl", "reload"], *(["ip", "link", "delete", "dev", device] for device in gone)]

    def unload(self, steps: Sequence[Step]) -> Commands:
        """The same with the old files, and wait for every device: networkd goes on after it has answered."""
        new = [step.after["device"] for step in steps if step.after and not device_before(step)]
        parents = [step.after["parent"] for step in steps if step.after and step.after["type"] == VLAN]
        there = [device_before(step) for step in steps if device_before(step)]
        commands = [["networkctl", "reload"], *(["ip", "link", "delete", "dev", device] for device in new)]
        return [*commands, *(["settle", device] for device in dict.fromkeys([*parents, *there]) if device not in new)]


def _network(profile: Profile) -> list[tuple[str, str]]:
    lines = [*_match(profile), *_FIXED]
    if profile.mtu is not None:
        lines.append(("Link", f"MTUBytes={profile.mtu}"))
    if profile.bond:
        lines += [("Network", f"Bond={profile.bond}"), ("Network", "LinkLocalAddressing=no")]
    else:
        lines.append(("Network", "LinkLocalAddressing=ipv6"))
    lines += [("Network", f"Address={address}") for address in profile.addresses or ()]
    if profile.description:
        lines.append(("Network", f"Description={profile.description}"))
    return lines


def _match(profile: Profile) -> list[tuple[str, str]]:
    if profile.mac is None:
        return [("Match", f"Name={profile.device}")]
    if profile.bond:
        # The members of a bond all have its MAC.
        return [("Match", f"PermanentMACAddress={profile.mac}")]
    # A VLAN interface has the MAC of the NIC below it; only the NIC is of networkd's type "ether".
    return [("Match", f"MACAddress={profile.mac}"), ("Match", "Type=ether")]


def _netdev(profile: Profile) -> list[tuple[str, str]]:
    lines = [("NetDev", f"Name={profile.name}"), ("NetDev", f"Kind={profile.type}")]
    if profile.type == BOND:
        return [*lines, ("Bond", f"Mode={profile.mode}"), ("Bond", f"MIIMonitorSec={MII_MONITOR_MS}ms")]
    return [*lines, ("VLAN", f"Id={profile.vlan_id}")]


def _text(lines: Sequence[tuple[str, str]]) -> str:
    text = HEADER + "\n"
    for section in _SECTIONS:
        in_section = sorted(line for name, line in lines if name == section)
        if in_section:
            text += f"\n[{section}]\n" + "".join(line + "\n" for line in in_section)
    return text
