# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The surroundings of a switch: links, LLDP neighbours, learned addresses, counters.

The data plane says what it knows; the rest, and what is to be wrong, is in a file, see faults.py.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from podsim.eos.config import Node
from podsim.eos.faults import Neighbour, Observed, observed_in
from podsim.eos.ports import Port, ports, vlans

LLDP_HOLD_SECONDS = 120


class DataPlane(Protocol):
    """The state of the data plane that commands can show."""

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
        down = {*observed.unplugged, *observed.errdisabled, *_switched_off(observed.namespaces)}
        return self._data_plane.connected() - down

    def errdisabled(self, running: Node) -> dict[str, str]:
        """The ports that the switch has disabled for an error, with the cause; to shut a port down ends that."""
        every = ports(running)
        return {name: cause for name, cause in self._observed().errdisabled.items() if not every[name].shutdown}

    def blocked(self, running: Node) -> dict[str, list[str]]:
        """The ports that spanning tree blocks, by its instances; a port that is down takes no part in it."""
        linked, told = self._up(running), self._observed().blocked
        found = {instance: [name for name in names if name in linked] for instance, names in told.items()}
        return {instance: names for instance, names in found.items() if names}

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
        return observed_in(self._file)


def _deaf(running: Node, port: Port) -> bool:
    return running.children["interface", port.name].has("no lldp receive")


def _switched_off(namespaces: dict[str, str]) -> set[str]:
    """The ports whose network namespace is gone, or has no process."""
    if not namespaces:
        return set()
    # Listed, not globbed: a glob looks into each folder, and one whose process has just ended breaks it off.
    inhabited = set(_inodes(Path("/proc", name, "ns/net") for name in os.listdir("/proc") if name.isdecimal()))
    return {port for port, path in namespaces.items() if not inhabited & set(_inodes([Path(path)]))}


def _inodes(paths: Iterable[Path]) -> Iterable[int]:
    for path in paths:
        # A process may end while we look at it.
        with contextlib.suppress(OSError):
            yield os.stat(path).st_ino
