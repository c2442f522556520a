# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lossless settings of a server's RDMA NICs as their owner declares them, checked by themselves. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from .._plan.converge import Refused
from .._rnic.declared import Interface, interfaces_from
from .settings import DSCPS, NAMES, NO_TRAFFIC_CLASS, PRIORITIES, Settings

_CONGESTION_EXPERIENCED = 0b11

# The option interfaces, said once for the module and for plans; the documentation is in the module.
_INTERFACE: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "mac": {"type": "str"},
    "pci": {"type": "str"},
    "trust": {"type": "str", "choices": ["dscp", "pcp"]},
    "dscp_map": {"type": "dict"},
    "pfc": {"type": "list", "elements": "int"},
    "pause": {"type": "dict", "options": {"rx": {"type": "bool"}, "tx": {"type": "bool"}}},
    "ecn": {"type": "list", "elements": "int"},
    "roce_mode": {"type": "str", "choices": ["v1", "v2"]},
    "roce_tos": {"type": "int"},
    "traffic_class": {"type": "int"},
    "rings": {"type": "dict", "options": {"rx": {"type": "int"}, "tx": {"type": "int"}}},
    "buffer_sizes": {"type": "list", "elements": "int"},
}

INTERFACES: dict[str, Any] = {"type": "list", "elements": "dict", "options": _INTERFACE}


@dataclass(frozen=True)
class RoceInterface:
    """One declared interface.

    Args:
        nic: its name, and by what it is found.
        settings: only those that are declared; of ``pause``, ``rings`` and ``dscp_map`` only the declared entries.
    """

    nic: Interface
    settings: Settings = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The declared name."""
        return self.nic.name


def roce_interfaces_from(options: Sequence[Mapping[str, Any]]) -> list[RoceInterface]:
    """The declared interfaces. Raises Refused: something is malformed, declared twice, or cannot be."""
    nics = interfaces_from([{key: option.get(key) for key in ("name", "mac", "pci")} for option in options])
    return [RoceInterface(nic, _settings(f"interface {nic.name}", option)) for nic, option in zip(nics, options)]


def _settings(place: str, option: Mapping[str, Any]) -> Settings:
    settings = {name: option[name] for name in NAMES if option.get(name) is not None}
    for name in ("pause", "rings"):
        if name in settings:
            settings[name] = {way: value for way, value in settings[name].items() if value is not None}
    for way, size in settings.get("rings", {}).items():
        if size < 1:
            raise Refused(f"{place}: rings.{way} is {size}; a ring has at least 1 descriptor")
    if "dscp_map" in settings:
        settings["dscp_map"] = _dscp_map(place, settings["dscp_map"])
    for name in ("pfc", "ecn"):
        if name in settings:
            settings[name] = _priorities(place, name, settings[name])
    if "ecn" in settings:
        settings["ecn"] = {"np": settings["ecn"], "rp": settings["ecn"]}
    if "buffer_sizes" in settings:
        _check_buffers(place, settings["buffer_sizes"])
    _check_tos(place, "roce_tos", settings.get("roce_tos"), 0)
    _check_tos(place, "traffic_class", settings.get("traffic_class"), NO_TRAFFIC_CLASS)
    # A mapping without an entry declares nothing.
    return {name: value for name, value in settings.items() if value != {}}


def _dscp_map(place: str, declared: Mapping[Any, Any]) -> dict[str, int]:
    """With DSCPs as text, which is what JSON makes of them, in their order."""
    entries = {}
    for dscp, priority in declared.items():
        try:
            entries[int(dscp)] = int(priority)
        except (TypeError, ValueError):
            raise Refused(f"{place}: dscp_map {dscp}: {priority} are no numbers; write it like 26: 3") from None
        if int(dscp) not in DSCPS or int(priority) not in PRIORITIES:
            raise Refused(f"{place}: dscp_map {dscp}: {priority} is out of range; a DSCP is 0 to 63, a priority 0 to 7")
    return {str(dscp): entries[dscp] for dscp in sorted(entries)}


def _priorities(place: str, name: str, declared: Sequence[int]) -> list[int]:
    for priority in declared:
        if priority not in PRIORITIES:
            raise Refused(f"{place}: {name} holds {priority}; a priority is 0 to 7")
    return sorted(set(declared))


def _check_buffers(place: str, sizes: Sequence[int]) -> None:
    if len(sizes) != len(PRIORITIES) or min(sizes) < 0:
        raise Refused(f"{place}: buffer_sizes needs 8 sizes in bytes, one for each receive buffer, 0 for one unused")


def _check_tos(place: str, name: str, tos: int | None, lowest: int) -> None:
    if tos is None:
        return
    if not lowest <= tos <= 255:
        raise Refused(f"{place}: {name} {tos} is out of range; it is a byte, DSCP times 4 plus the ECN bits, like 106")
    if tos >= 0 and tos & _CONGESTION_EXPERIENCED == _CONGESTION_EXPERIENCED:
        raise Refused(f"{place}: {name} {tos} marks every packet as having met congestion; {tos - 1} is without that")
