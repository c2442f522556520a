# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pods.yml may say of switches: VLANs, ports by name with role and owner, the RoCE profile. Shape and types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import vlan_ids

from .schema import Address, Choice, Flag, Integer, Kind, ListOf, MapOf, Problems, Record, Text

RNIC_OF_MACHINE, RNIC_OF_SERVER, STORAGE, UPLINK, SPARE = "ipu_machine", "poplar_server", "storage", "uplink", "spare"
POD_OWNER, EXTERNAL = "pod", "external"
KEPT, QUARANTINE = "kept", "quarantine"
DEVICE = "device"
ASCENDING, DESCENDING = "ascending", "descending"
REFERENCE = "reference"

VLAN_NAME = Text(r"(?!\d+(-\d+)?$)[!-~]{1,32}", "a VLAN name of 1 to 32 characters without spaces, and no number")
HOST_OR_PORT = Text(r"[A-Za-z0-9][A-Za-z0-9/._-]{0,62}", "the name of a device or of a port")
PORT_OR_CHANNEL = Text(
    r"(?i)(et[a-z]*\d+(/\d+)*|po[a-z-]*\d+)",
    "a port such as Ethernet9/1 or Et9, or a port channel such as Port-Channel5",
)
VLAN_ID = Integer(2, 4094)
VNI = Integer(1, (1 << 24) - 1)
SWITCH_MTU = Integer(1280, 9214)


@dataclass(frozen=True)
class Vlan:
    """A VLAN by number, and its VXLAN network, None without one."""

    vlan_id: int
    vni: int | None = None


@dataclass(frozen=True)
class SwitchPort:
    """What the owner says of one port.

    Attributes:
        name: as pods.yml spells it.
        role: what it is for, where the port map does not say it; None for what the port map says.
        owner: ``pod`` or ``external``; None for whom it belongs to by its role.
        roce: whether it gets the RoCE profile; None for what its role says.
        settings: options of a port of the module tor_switch. Their VLANs may still be names, and ``vlans`` are those
            that a trunk carries.
    """

    name: str
    role: str | None = None
    owner: str | None = None
    roce: bool | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Tor:
    """A pod's ToR switch.

    ``mtu`` and ``spanning_tree_edge`` of None keep what is there. ``roce`` holds the differences from the reference
    profile, none if empty; None keeps the quality of service as it is. ``canary`` names devices or ports that are
    changed first. ``descriptions`` says whether RNIC ports are described by their devices.
    """

    address: str | None = None
    mtu: int | None = None
    spanning_tree_edge: bool | None = None
    ipu_machine_order: str = ASCENDING
    roce: Mapping[str, Any] | None = None
    ports: tuple[SwitchPort, ...] = ()
    spare_ports: str = KEPT
    descriptions: str = DEVICE
    canary: tuple[str, ...] = ()


@dataclass(frozen=True)
class ManagementSwitch:
    """A pod's management switch. Its port map is not known: nothing is derived."""

    address: str
    vlans: Mapping[str, Vlan]
    ports: tuple[SwitchPort, ...]


class NamedVlan(Kind):
    """A VLAN: its number, or ``{id: 300, vni: 10300}``."""

    _record = Record({"id": VLAN_ID, "vni": VNI}, required=("id",))

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, Mapping):
            return self._record.check(value, path, problems)
        return {"id": VLAN_ID.check(value, path, problems)}


class VlanReference(Kind):
    """A VLAN by its name in ``vlans`` or by its number."""

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        return (VLAN_NAME if isinstance(value, str) else Integer(1, 4094)).check(value, path, problems)


class VlanReferences(Kind):
    """VLANs as :class:`VlanReference`, or as ranges of numbers such as ``100-110``."""

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and is_range(value):
            try:
                vlan_ids([value])
            except ValueError as error:
                return problems.add(path, str(error))
            return value
        return VlanReference().check(value, path, problems)


def is_range(reference: str) -> bool:
    """Whether a reference is a range of VLANs, and no name."""
    return re.fullmatch(r"\d+-\d+", reference) is not None


class RoceDifferences(Kind):
    """The word ``reference``, or a mapping of what differs from it; what may stand there, :mod:`_tor.roce` knows."""

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if value == REFERENCE:
            return {}
        if isinstance(value, Mapping):
            return dict(value)
        return problems.add(path, f"{value!r} is no quality of service; write reference, or what differs from it")


SETTINGS = {
    "description": Text(r"[ -~]*", "a text in one line"),
    "mode": Choice(("access", "trunk")),
    "vlan": VlanReference(),
    "native_vlan": VlanReference(),
    "vlans": ListOf(VlanReferences()),
    "mtu": SWITCH_MTU,
    "enabled": Flag(),
    "channel_group": Integer(0, 2000),
    "lacp": Choice(("active", "passive", "on")),
    "spanning_tree_edge": Flag(),
    "lldp": Flag(),
}
OWNER = Choice((POD_OWNER, EXTERNAL))
PORT = Record({**SETTINGS, "role": Choice((STORAGE, UPLINK, SPARE)), "owner": OWNER, "roce": Flag()})
VLANS = MapOf(VLAN_NAME, NamedVlan())
TOR = Record(
    {
        "address": Address(),
        "mtu": SWITCH_MTU,
        "spanning_tree_edge": Flag(),
        "ipu_machine_order": Choice((ASCENDING, DESCENDING)),
        "roce": RoceDifferences(),
        "ports": MapOf(PORT_OR_CHANNEL, PORT),
        "spare_ports": Choice((KEPT, QUARANTINE)),
        "descriptions": Choice((DEVICE, KEPT)),
        "canary": ListOf(HOST_OR_PORT),
    }
)
MANAGEMENT_SWITCH = Record(
    {
        "address": Address(),
        "vlans": VLANS,
        "ports": MapOf(PORT_OR_CHANNEL, Record({**SETTINGS, "owner": OWNER})),
    },
    required=("address",),
)


def vlans(checked: Mapping[str, Any]) -> dict[str, Vlan]:
    """The VLANs that :data:`VLANS` has checked."""
    return {name: Vlan(fields["id"], fields.get("vni")) for name, fields in checked.items()}


def tor(checked: Mapping[str, Any]) -> Tor:
    """The ToR switch that :data:`TOR` has checked, with its defaults."""
    given = dict(checked, ports=_ports(checked), canary=tuple(checked.get("canary", ())))
    return Tor(**given)


def management_switch(checked: Mapping[str, Any] | None) -> ManagementSwitch | None:
    """The management switch that :data:`MANAGEMENT_SWITCH` has checked, if one is declared."""
    if checked is None:
        return None
    return ManagementSwitch(checked["address"], vlans(checked.get("vlans", {})), _ports(checked))


def _ports(checked: Mapping[str, Any]) -> tuple[SwitchPort, ...]:
    return tuple(_port(name, fields) for name, fields in checked.get("ports", {}).items())


def _port(name: str, fields: Mapping[str, Any]) -> SwitchPort:
    settings = {key: value for key, value in fields.items() if key in SETTINGS}
    return SwitchPort(name, fields.get("role"), fields.get("owner"), fields.get("roce"), settings)
