# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a switch sees around it: links, LLDP neighbours, learned addresses, counters.

The data plane says what it knows. The rest, which no data plane here can produce (pause frames, ECN marks, symbol
errors, LLDP of machines without a daemon for it), stands in a JSON file that may be rewritten while the switch runs:

    {"neighbours": {"Ethernet9/1": {"device": "ipum1", "port": "rnic0", "mac": "0c:42:a1:00:00:01"}},
     "namespaces": {"Ethernet9/1": "/run/netns/ipum1"},
     "macs": [{"mac": "0c:42:a1:00:00:01", "port": "Ethernet9/1", "vlan": 101}],
     "counters": {"Ethernet9/1": {"inErrors": 0, "rxPause": 5, "txPause": 0, "ecn": {"3": 7}, "stuck": {"3": 1}}},
     "unplugged": ["Ethernet11/1"]}

Every key may be left out. A MAC without `vlan` sends untagged. A port whose network namespace has no process any more
leads to a machine that is switched off: it has no link.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

from podsim.eos.config import Node
from podsim.eos.errors import InternalError
from podsim.eos.ports import Port, ports, vlans

LLDP_HOLD_SECONDS = 120


@dataclass(frozen=True)
class Neighbour:
    """What the device at the other end of a cable says of itself by LLDP."""

    device: str
    port: str
    mac: str


@dataclass(frozen=True)
class Address:
    """A MAC address that sends on a port, tagged with `vlan` or untagged."""

    mac: str
    port: str
    vlan: int | None = None


@dataclass(frozen=True)
class Observed:
    """The content of the file, see the module's description."""

    neighbours: dict[str, Neighbour] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)
    macs: tuple[Address, ...] = ()
    counters: dict[str, dict[str, Any]] = field(default_factory=dict)
    unplugged: tuple[str, ...] = ()


class DataPlane(Protocol):
    """What of the data plane is seen."""

    def connected(self) -> set[str]:
        """The interfaces that have a link."""

    def unbundled(self) -> set[str]:
        """The members of port channels that found no LACP partner."""

    def mac_table(self) -> list[tuple[str, int, str]]:
        """The learned addresses as (MAC, VLAN, interface)."""

    def statistics(self) -> dict[str, dict[str, int]]:
        """The frame and byte counters of each interface, as EOS names them."""


class Surroundings:
    """The surroundings of one switch; every question looks anew."""

    def __init__(self, data_plane: DataPlane, file: Path | None = None) -> None:
        self._data_plane = data_plane
        self._file = file

    def linked(self) -> set[str]:
        """The interfaces that have a link."""
        observed = self._observed()
        return self._data_plane.connected() - set(observed.unplugged) - _switched_off(observed.namespaces)

    def bundled(self) -> set[str]:
        """The interfaces that have a link, and a partner if they ask for one."""
        return self.linked() - self._data_plane.unbundled()

    def neighbours(self, running: Node) -> dict[str, Neighbour]:
        """The LLDP neighbour of each port that has one: the link is up and LLDP is on."""
        if running.has("no lldp run"):
            return {}
        listening = {name for name, port in self._up(running).items() if not _deaf(running, port)}
        return {port: neighbour for port, neighbour in self._observed().neighbours.items() if port in listening}

    def mac_table(self, running: Node) -> list[tuple[str, int, str]]:
        """The learned addresses of ports with a link, as (MAC, VLAN, interface)."""
        up, database = self._up(running), vlans(running)
        learned = self._data_plane.mac_table()
        seen = [(mac, vlan, up[name].channel or name) for mac, vlan, name in learned if name in up]
        for address in self._observed().macs:
            port = up.get(address.port)
            if port is None:
                continue
            untagged = port.access_vlan if port.mode == "access" else port.native_vlan
            vlan = untagged if address.vlan is None else address.vlan
            tagged_on_access = address.vlan not in (None, untagged) and port.mode == "access"
            if vlan in port.carried(database) and not tagged_on_access:
                seen.append((address.mac, vlan, port.channel or port.name))
        return seen

    def counters(self) -> dict[str, dict[str, Any]]:
        """The counters of each interface that has any."""
        moved, observed = self._data_plane.statistics(), self._observed().counters
        return {name: {**moved.get(name, {}), **observed.get(name, {})} for name in {**moved, **observed}}

    def _up(self, running: Node) -> dict[str, Port]:
        linked = self.linked()
        return {name: port for name, port in ports(running).items() if name in linked and not port.shutdown}

    def _observed(self) -> Observed:
        if self._file is None:
            return Observed()
        try:
            return _parse(json.loads(self._file.read_text()))
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise InternalError(f"{self._file} does not say what is observed: {error}") from None


def _parse(content: dict[str, Any]) -> Observed:
    known = {each.name for each in fields(Observed)}
    if unknown := sorted(set(content) - known):
        raise ValueError(f"unknown key {unknown[0]}; it takes {', '.join(sorted(known))}")
    return Observed(
        neighbours={port: Neighbour(**each) for port, each in content.get("neighbours", {}).items()},
        namespaces=dict(content.get("namespaces", {})),
        macs=tuple(Address(**each) for each in content.get("macs", [])),
        counters=dict(content.get("counters", {})),
        unplugged=tuple(content.get("unplugged", [])),
    )


def _deaf(running: Node, port: Port) -> bool:
    return running.children["interface", port.name].has("no lldp receive")


def _switched_off(namespaces: dict[str, str]) -> set[str]:
    """The ports whose network namespace is gone, or has no process."""
    if not namespaces:
        return set()
    inhabited = set(_inodes(Path("/proc").glob("[0-9]*/ns/net")))
    return {port for port, path in namespaces.items() if not inhabited & set(_inodes([Path(path)]))}


def _inodes(paths: Iterable[Path]) -> Iterable[int]:
    for path in paths:
        # A process may end while we look at it.
        with contextlib.suppress(OSError):
            yield os.stat(path).st_ino
