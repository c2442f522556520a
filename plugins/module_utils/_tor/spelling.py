# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""EOS's names and numbers: of ports, VLANs and lists of VLANs, in one spelling each. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Iterable

VLAN_IDS = range(1, 4095)
EVERY_VLAN = ["1-4094"]
VNI_NUMBERS = range(1, 16777215)
MTU_BYTES = range(68, 9215)
SWITCHED_MTU = 9214
UNSHOWN_MTU = 1500
"""EOS takes this for its default and shows no line for it; a switched port without such a line carries 9214 bytes."""

ACCESS, TRUNK, ROUTED = "access", "trunk", "routed"
CHANNEL = "Port-Channel"
MANAGEMENT = "Management"
TENANT_VLAN = "vpod-"
"""How the name of a tenant's VLAN begins, in every pod that this collection sets up."""

# Any beginning of the full name that has at least so many letters names the same kind of port.
_PORT_KINDS = (("Ethernet", 2), (CHANNEL, 2))
_PORT_NAME = re.compile(r"([a-z-]+?)\s*(\d+(?:/\d+)*)", re.IGNORECASE)


# Every rack of a fleet has the same ports.
@lru_cache(maxsize=1024)
def port_name(text: str) -> str:
    """The name as the running-config spells it: ``Ethernet9/1`` for ``Et9/1``, ``eth 9/1`` or ``ethernet9/1``.

    Raises:
        ValueError: ``text`` names no Ethernet port or port channel.
    """
    match = _PORT_NAME.fullmatch(text.strip())
    if match:
        beginning, number = match.groups()
        for kind, letters in _PORT_KINDS:
            if len(beginning) >= letters and kind.lower().startswith(beginning.lower()):
                return kind + "/".join(str(int(part)) for part in number.split("/"))
    raise ValueError(f"{text!r} is no port name; write for example Ethernet9/1 or Et9/1")


def canonical_port(text: str) -> str:
    """The name of a port of the ToR, whose Ethernet ports have lanes: ``Ethernet9/1`` for ``Et9``, too.

    Raises:
        ValueError: as :func:`port_name`.
    """
    name = port_name(text)
    return name if "/" in name or not name.startswith("Ethernet") else f"{name}/1"


def vlan_ids(ranges: Iterable[str]) -> frozenset[int]:
    """The VLAN IDs in ``["100-102", "200"]``; an item may itself be a list as EOS writes it, ``"100-102,200"``.

    Raises:
        ValueError: an item is no VLAN ID and no range, or lies outside 1 to 4094.
    """
    items = list(ranges)
    return _vlan_ids(",".join(items)) if items else frozenset()


# Most ports say the same, and the list of every VLAN is long.
@lru_cache(maxsize=256)
def _vlan_ids(text: str) -> frozenset[int]:
    ids: set[int] = set()
    for item in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", item)
        if not match:
            raise ValueError(f"{item!r} is no VLAN ID or range; write for example 100 or 100-110")
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if first > last or first not in VLAN_IDS or last not in VLAN_IDS:
            raise ValueError(f"{item.strip()!r} is outside the VLAN IDs 1 to 4094, or runs backwards")
        ids.update(range(first, last + 1))
    return frozenset(ids)


def vlan_ranges(ids: Iterable[int]) -> list[str]:
    """The shortest ordered spelling of some VLAN IDs: ``["100-102", "200"]``."""
    return list(_vlan_ranges(frozenset(ids)))


@lru_cache(maxsize=256)
def _vlan_ranges(ids: frozenset[int]) -> tuple[str, ...]:
    runs: list[list[int]] = []
    for vlan_id in sorted(ids):
        if runs and vlan_id == runs[-1][1] + 1:
            runs[-1][1] = vlan_id
        else:
            runs.append([vlan_id, vlan_id])
    return tuple(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def default_vlan_name(vlan_id: int) -> str:
    """Return EOS's name of a VLAN without a name."""
    return "default" if vlan_id == 1 else f"VLAN{vlan_id:04d}"
