# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Neighbours, MAC addresses and counters of an EOS switch, from the JSON of its show commands. Pure.

An answer of another shape is an error, never "nothing there".
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, Callable, Dict, Mapping, TypeVar

from .._plan.converge import NOT_UNDERSTOOD, DeviceError
from .._text.line import encodable
from .spelling import port_name

Understood = TypeVar("Understood")
Counters = Dict[str, Dict[str, int]]
"""Port by full name to its counters by name."""

LLDP = "show lldp neighbors"
MACS = "show mac address-table"
VLAN_MEMBERS = "show vlan"
ERRORS = "show interfaces counters errors"
PAUSE_FRAMES = "show priority-flow-control counters"
ECN_MARKS = "show qos interfaces ecn counters queue"
ALWAYS = (LLDP, MACS, VLAN_MEMBERS, ERRORS)
COUNTERS = (PAUSE_FRAMES, ECN_MARKS)
"""Commands that some platforms do not have, such as a virtual EOS."""

NO_ECN = "-"


@dataclass(frozen=True)
class Observed:
    """The observations of a switch.

    Attributes:
        neighbours: port to the LLDP neighbours there, each ``{"device": system name, "port": its port}``.
        macs: port to the dynamic entries there, each ``{"mac": lower case with colons, "vlan": ID}``.
        vlan_members: VLAN ID as text to the ports that are in it now, as `show vlan` says.
        errors: port to its error counters.
        pause_frames: port to the PFC frames that it received (``rx``) and sent (``tx``).
        ecn_marks: port to the packets marked, by queue; queues without ECN are left out.

    A part that the switch was not asked for, or does not have, is None.
    """

    neighbours: dict[str, list[dict[str, str]]] | None = None
    macs: dict[str, list[dict[str, Any]]] | None = None
    vlan_members: dict[str, list[str]] | None = None
    errors: Counters | None = None
    pause_frames: Counters | None = None
    ecn_marks: Counters | None = None

    def vlans_by_port(self) -> dict[str, set[str]]:
        """Port to the VLANs, as text, that it is in now."""
        vlans: dict[str, set[str]] = {}
        for vlan_id, names in (self.vlan_members or {}).items():
            for name in names:
                vlans.setdefault(name, set()).add(vlan_id)
        return vlans


def observed(answers: Mapping[str, str]) -> Observed:
    """Understand the JSON answers to some of this file's commands.

    Raises:
        DeviceError: an answer is not what EOS documents; the message names the command.
    """
    asked = {part: how for part, how in _PARTS.items() if how[0] in answers}
    return Observed(**{part: understood(*how, answers) for part, how in asked.items()})


def observed_from(reported: Mapping[str, Any]) -> Observed:
    """Return the observations that tor_info and tor_look have returned."""
    return Observed(**{field.name: reported[field.name] for field in fields(Observed)})


def understood(command: str, understand: Callable[[Any], Understood], answers: Mapping[str, str]) -> Understood:
    """Return the answer to a command as a function reads it; DeviceError where it cannot."""
    try:
        return understand(encodable(json.loads(answers[command])))
    except NOT_UNDERSTOOD as error:
        raise DeviceError(f"the answer to {command!r} is not understood: {answers[command][:200]!r}") from error


def _neighbours(answer: Any) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for entry in answer["lldpNeighbors"]:
        neighbour = {"device": str(entry["neighborDevice"]), "port": str(entry["neighborPort"])}
        found.setdefault(full_name(entry["port"]), []).append(neighbour)
    return found


def _macs(answer: Any) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in answer["unicastTable"]["tableEntries"]:
        if entry["entryType"] == "dynamic":
            learned = {"mac": str(entry["macAddress"]).lower(), "vlan": int(entry["vlanId"])}
            found.setdefault(full_name(entry["interface"]), []).append(learned)
    return found


def vlan_members(answer: Any) -> dict[str, list[str]]:
    """VLAN ID as text to the ports that are in it now, from the answer to `show vlan`."""
    return {vlan_id: [full_name(name) for name in vlan["interfaces"]] for vlan_id, vlan in answer["vlans"].items()}


def _errors(answer: Any) -> Counters:
    return {
        full_name(name): {counter: int(value) for counter, value in counters.items()}
        for name, counters in answer["interfaceErrorCounters"].items()
    }


def _pause_frames(answer: Any) -> Counters:
    return {
        full_name(name): {"rx": int(counters["rxFrames"]), "tx": int(counters["txFrames"])}
        for name, counters in answer["interfaceCounters"].items()
    }


def _ecn_marks(answer: Any) -> Counters:
    return {
        full_name(name): {
            queue: int(marked) for queue, marked in counters["queueCounters"].items() if str(marked) != NO_ECN
        }
        for name, counters in answer["intfQueueCounters"].items()
    }


def full_name(name: str) -> str:
    """The full name; what is no port of ours (Cpu, Vxlan1, Router) keeps the switch's own."""
    try:
        return port_name(name)
    except ValueError:
        return name


_PARTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "neighbours": (LLDP, _neighbours),
    "macs": (MACS, _macs),
    "vlan_members": (VLAN_MEMBERS, vlan_members),
    "errors": (ERRORS, _errors),
    "pause_frames": (PAUSE_FRAMES, _pause_frames),
    "ecn_marks": (ECN_MARKS, _ecn_marks),
}
