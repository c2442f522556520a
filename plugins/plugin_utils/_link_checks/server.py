# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is declared of a Poplar server and of a switch, and what was seen of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Options = Mapping[str, Any]


@dataclass(frozen=True)
class SeenServer:
    """What was read of a server.

    Attributes:
        interfaces: ``gathered`` of ``rnic_network``.
        nics: ``nics`` of ``rnic_info``.
        minimum: ``minimum`` of ``rnic_info``.
        roce: ``gathered`` of ``rnic_roce``; empty where the server has no tools that could tell.
    """

    interfaces: Sequence[Options]
    nics: Sequence[Options]
    minimum: Options
    roce: Sequence[Options] = ()


@dataclass(frozen=True)
class Server:
    """A Poplar server.

    Attributes:
        name: its host name.
        pod: the pod that it stands in.
        switch: the host name of its ToR switch.
        ports: the switch ports of its RNICs, by the port map or ``overrides``.
        rnic: the declared name of the interface on the first of them.
        vlan: the VLAN that the RNIC is in without tag; None where pods.yml does not tell.
        interfaces: declared, as options of ``rnic_network``.
        roce: declared, as options of ``rnic_roce``.
        seen: what was read; None where it was not.
    """

    name: str
    pod: str
    switch: str
    ports: Sequence[str]
    rnic: str
    vlan: int | None
    interfaces: Sequence[Options]
    roce: Sequence[Options] = ()
    seen: SeenServer | None = None


@dataclass(frozen=True)
class Switch:
    """A ToR switch.

    Attributes:
        name: its host name.
        declared: ``vlans``, ``ports`` and ``qos``, as options of ``tor_switch``.
        seen: what ``tor_info`` returned; None where it was not asked.
    """

    name: str
    declared: Options
    seen: Options | None = None

    def declared_port(self, name: str) -> Options:
        """What is declared of a port; empty for nothing."""
        return next((port for port in self.declared["ports"] if port["name"] == name), {})

    def has_on(self, name: str) -> bool:
        """Whether the switch had a port switched on when it was asked."""
        ports = self.seen["ports"] if self.seen else ()
        return any(port["name"] == name and port.get("enabled", True) for port in ports)


def settings_of(nic: Options, roce: Sequence[Options]) -> Options:
    """The lossless settings that are meant for a NIC, by its MAC address or its name; empty for none."""
    mac = (nic.get("mac") or "").lower()
    by_mac = (each for each in roce if mac and (each.get("mac") or "").lower() == mac)
    by_name = (each for each in roce if not each.get("mac") and each["name"] == nic["name"])
    return next(by_mac, None) or next(by_name, None) or {}
