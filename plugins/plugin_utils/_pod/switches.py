# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of switches as types: VLANs, ports by name with role and owner, ToR and management switches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RNIC_OF_MACHINE, RNIC_OF_SERVER, STORAGE, UPLINK, SPARE = "ipu_machine", "poplar_server", "storage", "uplink", "spare"
POD_OWNER, EXTERNAL = "pod", "external"
KEPT, QUARANTINE = "kept", "quarantine"
DEVICE = "device"
ASCENDING, DESCENDING = "ascending", "descending"
REFERENCE = "reference"


@dataclass(frozen=True)
class Vlan:
    """A VLAN by number, and its VXLAN network, None without one."""

    vlan_id: int
    vni: int | None = None


@dataclass(frozen=True)
class SwitchPort:
    """The declaration of one port."""

    name: str  # as pods.yml spells it
    port: str  # the same in full, for example ``Ethernet9/1``
    role: str | None = None  # what it is for, where the port map does not say it; None for what the port map says
    owner: str | None = None  # ``pod`` or ``external``; None for whom it belongs to by its role
    roce: bool | None = None  # whether it gets the RoCE profile; None for what its role says
    # Options of a port of the module tor_switch. Their VLANs may still be names, and ``vlans`` are those that a
    # trunk carries.
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Tor:
    """A pod's ToR switch.

    ``mtu`` and ``spanning_tree_edge`` of None keep what is there. ``roce`` holds the differences from the reference
    profile, none if empty; None keeps the quality of service as it is. ``canary`` names devices or ports that are
    changed first. ``descriptions`` says whether RNIC ports are described by their devices.
    """

    ipu_machine_order: str
    address: str | None
    mtu: int | None
    spanning_tree_edge: bool | None
    roce: Mapping[str, Any] | None
    ports: tuple[SwitchPort, ...]
    descriptions: str
    spare_ports: str
    canary: tuple[str, ...]


@dataclass(frozen=True)
class ManagementSwitch:
    """A pod's management switch. Its port map is not known: nothing is derived."""

    address: str
    vlans: Mapping[str, Vlan]
    ports: tuple[SwitchPort, ...]


def is_range(reference: str) -> bool:
    """Whether a reference is a range of VLANs, and no name."""
    return re.fullmatch(r"\d+-\d+", reference) is not None
