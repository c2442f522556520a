# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the devices on a switch's ports with the declared cables. Pure.

A device is recognised by its LLDP system name (the part before the first dot, in any case) or by its MAC address, which
a switch learns from frames and from LLDP port or system identifiers.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Iterable, Iterator, Mapping, Sequence

from .._plan.steps import Fields
from .._text.table import aligned
from .observed import Observed
from .spelling import CHANNEL, port_name

RIGHT, WRONG, MISSING, UNKNOWN = "right", "wrong", "missing", "unknown"


@dataclass(frozen=True)
class Cable:
    """One declared cable: the port's full name, the device at its other end, and the device's MAC address there."""

    port: str
    device: str
    mac: str | None = None


@dataclass(frozen=True)
class Finding:
    """The device on one port.

    Attributes:
        port: its full name.
        declared: the device that should be there; None where no cable is declared.
        seen: what is recognised there, empty for nothing.
        verdict: ``right``; ``wrong``, a declared device is here that belongs to another port; ``missing``, nothing is
            seen here; ``unknown``, the device here announces nothing that is declared.
    """

    port: str
    declared: str | None
    seen: list[str]
    verdict: str


def declare_cables(cables: Sequence[Mapping[str, Any]]) -> list[Cable]:
    """Spell cables, each with ``port``, ``device`` and perhaps ``mac``, as the switch does.

    Raises:
        ValueError: a port has no such name, has two cables, or a MAC address is none; the message says which.
    """
    declared = [
        Cable(port_name(cable["port"]), cable["device"], _mac_of(cable["device"], cable.get("mac"))) for cable in cables
    ]
    by_port: dict[str, Cable] = {}
    for cable in declared:
        other = by_port.setdefault(cable.port, cable)
        if other is not cable:
            raise ValueError(f"{cable.port} has two cables, to {other.device} and to {cable.device}; declare one")
    return declared


def _mac_of(device: str, text: str | None) -> str | None:
    spelled = mac(text) if text else None
    if text and not spelled:
        raise ValueError(f"{text!r} of {device} is no MAC address; write for example 0c:42:a1:00:01:01")
    return spelled


def mac(text: str) -> str | None:
    """A MAC address in one spelling, ``0c:42:a1:00:01:01``, from any (``0c42.a100.0101``); None where it is none."""
    digits = re.sub(r"[:.-]", "", text).lower()
    if not re.fullmatch(r"[0-9a-f]{12}", digits):
        return None
    return ":".join(digits[start : start + 2] for start in range(0, 12, 2))


def check(
    cables: Sequence[Cable], seen: Observed, channel_members: Mapping[str, Sequence[str]] | None = None
) -> list[Finding]:
    """Compare the cables with what a switch sees, in the order of its ports.

    What is learned at a port channel counts for each of its members.
    """
    devices = {cable.device.lower(): cable.device for cable in cables}
    macs = {cable.mac: cable for cable in cables if cable.mac}
    declared = {cable.port: cable for cable in cables}
    found = _recognised(seen, devices, macs, channel_members or {})
    ports = sorted({*declared, *(port for port, (known, _strangers) in found.items() if known)}, key=_natural)
    return [_judge(port, declared.get(port), *found.get(port, ({}, []))) for port in ports]


def channel_members(ports: Mapping[str, Fields]) -> dict[str, list[str]]:
    """Port channel to its ports."""
    members: dict[str, list[str]] = {}
    for name, fields in ports.items():
        if fields["channel_group"]:
            members.setdefault(f"{CHANNEL}{fields['channel_group']}", []).append(name)
    return members


def cabling(cables: Sequence[Cable], seen: Observed, ports: Mapping[str, Fields]) -> dict[str, Any]:
    """The findings as tor_info returns them: as data, and as lines for a person."""
    findings = check(cables, seen, channel_members(ports))
    return {"cabling": [asdict(finding) for finding in findings], "table": table(findings)}


def _recognised(
    seen: Observed, devices: Mapping[str, str], macs: Mapping[str, Cable], channel_members: Mapping[str, Sequence[str]]
) -> dict[str, tuple[dict[str, bool], list[str]]]:
    """Port to the declared devices there (True where their address belongs to another port), and the strangers."""
    found: dict[str, tuple[dict[str, bool], list[str]]] = {}
    for port, signs in _signs(seen, channel_members):
        known, strangers = found.setdefault(port, ({}, []))
        cable = next((macs[address] for address in map(mac, signs) if address and address in macs), None)
        named = next((devices[name] for name in map(_host, signs) if name in devices), None)
        if cable:
            misplaced = cable.port != port and cable.port not in _siblings(port, channel_members)
            known[cable.device] = misplaced or known.get(cable.device, False)
        elif named:
            known.setdefault(named, False)
        else:
            strangers.append(signs[0])
    return found


def _signs(seen: Observed, channel_members: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return a tuple for each LLDP neighbour and each learned MAC address, with its port."""
    for port, neighbours in (seen.neighbours or {}).items():
        for neighbour in neighbours:
            yield port, (neighbour["device"], neighbour["port"])
    for port, entries in (seen.macs or {}).items():
        for entry in entries:
            for member in channel_members.get(port, (port,)):
                yield member, (entry["mac"],)


def _siblings(port: str, channel_members: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """The other ports of the channel that a port is in; an address may be learned from any of them."""
    return next((members for members in channel_members.values() if port in members), ())


def _host(name: str) -> str:
    return name.partition(".")[0].lower()


def _natural(port: str) -> list[Any]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", port)]


def _judge(port: str, cable: Cable | None, known: Mapping[str, bool], strangers: Sequence[str]) -> Finding:
    if cable is None:
        return Finding(port, None, sorted(known), WRONG)
    seen = sorted(known) or sorted(set(strangers))
    if any(device != cable.device or misplaced for device, misplaced in known.items()):
        return Finding(port, cable.device, seen, WRONG)
    if known:
        return Finding(port, cable.device, seen, RIGHT)
    if strangers:
        return Finding(port, cable.device, seen, UNKNOWN)
    return Finding(port, cable.device, seen, MISSING)


def table(findings: Sequence[Finding]) -> list[str]:
    """The findings as lines for a person."""
    rows = [("port", "declared", "seen", "verdict")]
    rows += [(each.port, each.declared or "-", ", ".join(each.seen) or "-", each.verdict) for each in findings]
    return aligned(rows)
