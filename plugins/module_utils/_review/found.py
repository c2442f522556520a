# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all searches for contradictions share: a finding, and which port has what at its other end. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, Device, ports_of
from .._rnic.adoption import main_interface
from .._rnic.declared import BOND, VLAN
from .._tor.spelling import ACCESS, CHANNEL, EVERY_VLAN, TRUNK, vlan_ids

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Finding:
    """One contradiction.

    Args:
        device: where it shows.
        finding: one sentence that names both places.
        remedy: one sentence that says what to do about it.
    """

    device: str
    finding: str
    remedy: str


@dataclass(frozen=True)
class Port:
    """A port of a ToR as frames see it: where it is in a port channel, with the channel's settings.

    Args:
        name: for people, with its switch.
        untagged: the VLAN of frames without a tag; None where there is none.
        tagged: the VLANs of frames with one.
        carries_every: whether that is every VLAN there is, which nobody has chosen.
        mtu: in bytes; None where it is not known.
    """

    name: str
    untagged: int | None
    tagged: frozenset[int]
    carries_every: bool
    mtu: int | None


class Rack:
    """The declared devices, and what was read of switches and servers.

    Args:
        devices: by name.
        switches: ToR to what tor_info returned.
        servers: Poplar server to ``gathered`` of rnic_network.
    """

    def __init__(
        self, devices: Mapping[str, Device], switches: Mapping[str, Fields], servers: Mapping[str, Fields]
    ) -> None:
        self.devices = devices
        self.read = (switches, servers)
        self.switches, self.servers = switches, servers
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

    def port(self, switch: str, name: str) -> Port | None:
        """A port that was read; None for one that is not there, or does not switch."""
        ports = self._ports.get(switch, {})
        fields = ports.get(name, {})
        if fields.get("channel_group"):
            fields = ports.get(f"{CHANNEL}{fields['channel_group']}", {})
        place = f"{name} of {switch}"
        if fields.get("mode") == ACCESS:
            return Port(place, fields["vlan"], frozenset(), False, fields.get("mtu"))
        if fields.get("mode") == TRUNK:
            carried = vlan_ids(fields["allowed_vlans"])
            native = fields["native_vlan"] if fields["native_vlan"] in carried else None
            every = list(fields["allowed_vlans"]) == EVERY_VLAN
            return Port(place, native, carried - {fields["native_vlan"]}, every, fields.get("mtu"))
        return None

    def first_port(self, device: Device) -> Port | None:
        """The port of a device's (first) RNIC."""
        ports = ports_of(device)
        return self.port(device.facts["switch"], ports[0]) if ports else None

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
        """The NIC or bond at a server's port, as it was read; None where that cannot be told."""
        interfaces = self.interfaces(server.name)
        main = main_interface(server, interfaces)
        if main is None:
            return None
        if main["type"] == VLAN:
            main = next((each for each in interfaces if each["name"] == main["parent"]), None)
        return next(
            (each for each in interfaces if each["type"] == BOND and main and main["name"] in each["members"]), main
        )

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
