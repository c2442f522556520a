# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the owner declares for a switch, checked and in one spelling. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence, TypeVar

from .._plan.converge import Refused
from .._plan.steps import Fields
from .spelling import MTU_BYTES, VLAN_IDS, port_name, vlan_ids, vlan_ranges

EXTERNAL = "external"

Given = TypeVar("Given")
Spelled = TypeVar("Spelled")


@dataclass(frozen=True)
class Port:
    """The wanted fields of one port (None: keep what is there) and who owns it: ``pod`` or ``vpod NAME``."""

    owner: str
    fields: Fields


@dataclass(frozen=True)
class Declared:
    """VLANs by ID as text, with their names (None: keep), and our ports by full name. External ports are left out."""

    vlans: dict[str, Fields]
    ports: dict[str, Port]


def declare(vlans: Sequence[Mapping[str, Any]], ports: Sequence[Mapping[str, Any]]) -> Declared:
    """Check the module's options and spell them as EOS does.

    Raises:
        Refused: something is wrong that no switch is needed to see.
    """
    our_vlans: dict[str, Fields] = {}
    for number, vlan in enumerate(vlans):
        place = f"vlans[{number}]"
        vlan_id = str(_vlan_id(f"{place}.vlan_id", vlan["vlan_id"]))
        if vlan_id in our_vlans:
            raise Refused(f"{place}: VLAN {vlan_id} is declared twice; declare it once")
        our_vlans[vlan_id] = {"name": _vlan_name(f"{place}.name", vlan.get("name"))}
    seen: dict[str, str] = {}
    our_ports: dict[str, Port] = {}
    for number, port in enumerate(ports):
        place = f"ports[{number}]"
        name = _spelled(f"{place}.name", port_name, port["name"])
        if name in seen:
            raise Refused(f"{place}: {name} is already declared by {seen[name]}; give each port one owner, once")
        seen[name] = place
        owner = port.get("owner") or "pod"
        if not re.fullmatch(r"pod|vpod \S+|external", owner):
            raise Refused(f"{place}.owner: {owner!r} is no owner; write pod, vpod NAME or external")
        if owner != EXTERNAL:
            our_ports[name] = Port(owner, _port_fields(f"{place} ({name})", port))
    return Declared(our_vlans, our_ports)


def _port_fields(place: str, port: Mapping[str, Any]) -> Fields:
    description, mtu, allowed = port.get("description"), port.get("mtu"), port.get("allowed_vlans")
    if description is not None and not description.isprintable():
        raise Refused(f"{place}.description: it has characters that cannot be printed; write it in one line")
    if mtu is not None and mtu not in MTU_BYTES:
        raise Refused(f"{place}.mtu: {mtu} bytes is not possible; give {MTU_BYTES[0]} to {MTU_BYTES[-1]}")
    return {
        "description": None if description is None else description.strip(),
        "mtu": mtu,
        "enabled": port.get("enabled"),
        "vlan": _vlan_id(f"{place}.vlan", port.get("vlan")),
        "native_vlan": _vlan_id(f"{place}.native_vlan", port.get("native_vlan")),
        "allowed_vlans": None if allowed is None else _allowed_vlans(f"{place}.allowed_vlans", allowed),
        "mode": port.get("mode"),
    }


def _vlan_id(place: str, vlan_id: Any) -> Any:
    if vlan_id is not None and vlan_id not in VLAN_IDS:
        raise Refused(f"{place}: {vlan_id} is no VLAN ID; give 1 to 4094")
    return vlan_id


def _vlan_name(place: str, name: Any) -> Any:
    if name is not None and not re.fullmatch(r"[!-~]{1,32}", name):
        raise Refused(f"{place}: {name!r} is no VLAN name; EOS takes 1 to 32 characters without spaces")
    return name


def _allowed_vlans(place: str, items: Sequence[Any]) -> list[str]:
    return _spelled(place, lambda ranges: vlan_ranges(vlan_ids(ranges)), [str(item) for item in items])


def _spelled(place: str, spell: Callable[[Given], Spelled], value: Given) -> Spelled:
    try:
        return spell(value)
    except ValueError as error:
        raise Refused(f"{place}: {error}") from error
