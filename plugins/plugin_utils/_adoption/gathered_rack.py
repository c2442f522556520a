# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A finding, and which port has what at its other end. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import BOND, VLAN
from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import CHANNEL, EVERY_VLAN

from .._link_checks.ends import PortEnd, gathered_port
from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, Device, ports_of
from .servers import main_interface

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Finding:
    """One contradiction: where it shows, a sentence that names both places, and one that says what to do about it."""

    device: str
    finding: str
    remedy: str


class Rack:
    """The declared devices, and what tor_info returned of switches and rnic_network gathered on servers, by name."""

    def __init__(
        self, devices: Mapping[str, Device], switches: Mapping[str, Fields], servers: Mapping[str, Fields]
    ) -> None:
        self.devices, self.switches, self.servers = devices, switches, servers
        self._ports = {
            switch: {port["name"]: port for port in there.get("ports", ())} for switch, there in switches.items()
        }
        self._at: dict[str, list[Device]] = {}
        for device in devices.values():
            self._at.setdefault(device.facts.get("switch", ""), []).append(device)
        self._machines = {
            fact: device.name
            for device in devices.values()
            if device.kind == IPU_MACHINE
            for fact in (device.name, device.facts["gateway_address"])
        }

    def first_port(self, device: Device) -> PortEnd | None:
        """The port of a device's (first) RNIC, as frames see it; None for one that was not read, or does not switch."""
        name, switch = next(iter(ports_of(device)), ""), device.facts.get("switch", "")
        if name not in self._ports.get(switch, {}):
            return None
        end = gathered_port(switch, self.switches[switch], name, has_profile=False)
        return None if end.carried is None else end

    def carries_every_vlan(self, device: Device) -> bool:
        """Whether that port is a trunk that carries every VLAN there is, which nobody has chosen."""
        ports = self._ports[device.facts["switch"]]
        fields = ports[ports_of(device)[0]]
        allowed = ports.get(f"{CHANNEL}{fields.get('channel_group')}", fields).get("allowed_vlans", ())
        return list(allowed) == EVERY_VLAN

    def channels(self, switch: str) -> dict[str, list[str]]:
        """Port channel to its ports."""
        members: dict[str, list[str]] = {}
        for name, fields in self._ports[switch].items():
            if fields.get("channel_group"):
                members.setdefault(f"{CHANNEL}{fields['channel_group']}", []).append(name)
        return members

    def machine_of(self, agent: str, fields: Fields) -> str:
        """The IPU-Machine that an agent runs on; the agent's own name where that is not declared."""
        return self._machines.get(agent) or self._machines.get(str(fields.get("host"))) or agent

    def rnic(self, server: Device) -> Fields | None:
        """The NIC or bond at a server's port, as it was read; None where that is not known."""
        interfaces = self.interfaces(server.name)
        main = main_interface(server, interfaces)
        if main and main["type"] == VLAN:
            main = next((each for each in interfaces if each["name"] == main["parent"]), None)
        bonds = (each for each in interfaces if main and each["type"] == BOND and main["name"] in each["members"])
        return next(bonds, main)

    def interfaces(self, server: str) -> Sequence[Fields]:
        """The interfaces of a server that were read."""
        found: Sequence[Fields] = self.servers.get(server, {}).get("gathered", ())
        return found

    def at(self, switch: str) -> list[Device]:
        """The devices that are cabled to a switch."""
        return self._at.get(switch, [])

    def servers_at(self, switch: str) -> list[Device]:
        """Those of them that are servers and were read."""
        return [each for each in self.at(switch) if each.kind == POPLAR_SERVER and each.name in self.servers]
