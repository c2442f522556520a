# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The NetworkManager back end: a keyfile per interface, loaded and activated with nmcli. Pure."""

from __future__ import annotations

import re
import uuid
from typing import Any, Mapping, Sequence

from .._plan.steps import Step
from .declared import BOND, NIC, VLAN
from .profile import (
    MII_MONITOR_MS,
    Backend,
    Commands,
    Kept,
    Profile,
    Texts,
    head_of,
    kept_addresses,
    kept_description,
    kept_number,
)

DIRECTORY = "/etc/NetworkManager/system-connections"
RUNTIME_DIRECTORY = "/run/NetworkManager/system-connections"

_TYPE = {NIC: "ethernet", VLAN: "vlan", BOND: "bond"}
# A profile's UUID is made of its name, so that the same declaration gives the same file everywhere.
_NAMESPACE = uuid.UUID("6f7ae3a4-5c53-4c1c-9d7e-3a52d3c1b6d0")


class NetworkManager(Backend):
    """See :class:`.profile.Backend`."""

    name = "networkmanager"
    directory = DIRECTORY
    own = (re.compile(re.escape(DIRECTORY) + r"/ipu-(.+)\.nmconnection"),)

    def render(self, profile: Profile) -> Texts:
        """One keyfile."""
        lines = head_of(profile)
        for section, entries in _sections(profile).items():
            lines += ["", f"[{section}]", *(f"{key}={value}" for key, value in entries.items())]
        return {self.used_file(profile.name): "".join(line + "\n" for line in lines)}

    def kept(self, texts: Texts) -> Kept:
        """Return the settings of the keyfile."""
        text = "\n".join(texts.values())
        pairs = [line.strip().partition("=")[::2] for line in text.split("\n")]
        mtu = next((value for key, value in pairs if key == "mtu"), None)
        addresses = [value for key, value in pairs if re.fullmatch(r"address\d+", key)]
        return Kept(kept_number(mtu), kept_addresses(addresses), kept_description(text))

    def used_file(self, name: str) -> str:
        """Our own keyfile."""
        return f"{DIRECTORY}/ipu-{name}.nmconnection"

    def load(self, steps: Sequence[Step]) -> Commands:
        """Load the new files, activate their profiles, and let go of what is no longer declared."""
        loaded = [["nmcli", "connection", "load", self.used_file(step.name)] for step in steps if step.after]
        activated = [_activate(step.name, step.before, step.after) for step in steps if step.after]
        deleted = [["nmcli", "connection", "delete", "id", f"ipu-{step.name}"] for step in steps if not step.after]
        return [*deleted, *loaded, *activated]

    def unload(self, steps: Sequence[Step]) -> Commands:
        """Read all files again, which also lets go of profiles without a file, and activate the old ones."""
        ours = [step for step in steps if step.before and step.before["network_file"] == self.used_file(step.name)]
        return [
            ["nmcli", "connection", "reload"],
            *(_activate(step.name, step.after, step.before or {}) for step in ours),
        ]


def _activate(name: str, before: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> list[str]:
    """``reapply`` keeps what stays; it works where the device runs with this profile and in the same place."""
    same = before is not None and all(before.get(key) == wanted.get(key) for key in ("network_file", "bond", "device"))
    if same and wanted["device"]:
        return ["nmcli", "device", "reapply", wanted["device"]]
    return ["nmcli", "--wait", "20", "connection", "up", "id", f"ipu-{name}"]


def _sections(profile: Profile) -> dict[str, dict[str, str]]:
    sections: dict[str, dict[str, str]] = {"connection": _connection(profile)}
    if profile.type == VLAN:
        sections["vlan"] = {"id": str(profile.vlan_id), "parent": profile.parent_device}
    if profile.type == BOND:
        sections["bond"] = {"mode": str(profile.mode), "miimon": str(MII_MONITOR_MS)}
    sections["ethernet"] = {
        **({"mac-address": profile.mac} if profile.mac else {}),
        **({"mtu": str(profile.mtu)} if profile.mtu is not None else {}),
    }
    if not profile.bond:
        sections["ipv4"] = _ip(profile.addresses or (), version=4, without="disabled")
        sections["ipv6"] = {"addr-gen-mode": "eui64", **_ip(profile.addresses or (), version=6, without="link-local")}
    return sections


def _connection(profile: Profile) -> dict[str, str]:
    return {
        "id": f"ipu-{profile.name}",
        "uuid": str(uuid.uuid5(_NAMESPACE, profile.name)),
        "type": _TYPE[profile.type],
        **({} if profile.mac else {"interface-name": profile.device}),
        **({"master": profile.bond, "slave-type": "bond"} if profile.bond else {}),
    }


def _ip(addresses: Sequence[str], version: int, without: str) -> dict[str, str]:
    """Static addresses of one IP version, or the method for having none; never a gateway."""
    own = [address for address in addresses if (":" in address) == (version == 6)]
    numbered = {f"address{number}": address for number, address in enumerate(own, start=1)}
    return {"method": "manual" if own else without, **numbered, "never-default": "true"}
