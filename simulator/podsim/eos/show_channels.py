# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`show port-channel`, `show lacp neighbor` and `show vxlan vni`."""

from __future__ import annotations

from typing import Any

from podsim.eos.cli import Cli, Command, command
from podsim.eos.interface_names import natural_order, short
from podsim.eos.ports import Port, ports
from podsim.eos.reply import Reply, table


def _port_channels(cli: Cli, _words: list[str]) -> Reply:
    model: dict[str, Any] = {}
    text = ""
    for channel, members in _members(cli).items():
        active, inactive = _by_state(cli, channel, members)
        model[channel] = {
            "activePorts": {port.name: _member(port) for port in active},
            "inactivePorts": {port.name: {**_member(port), "reasonUnconfigured": "not bundled"} for port in inactive},
            "fallbackState": "unconfigured",
            "minLinks": 0,
            "currWeight": 0,
            "maxWeight": 16,
            "inactiveLag": False,
            "recircFeature": [],
        }
        for what, some in (("Active", active), ("Configured, but inactive", inactive)):
            text += f"Port Channel {channel}:\n  {what} Ports: {' '.join(port.name for port in some) or 'none'}\n"
    return Reply(text, {"portChannels": model})


def _summary(cli: Cli, _words: list[str]) -> Reply:
    model: dict[str, Any] = {}
    rows = []
    for channel, members in _members(cli).items():
        active, _ = _by_state(cli, channel, members)
        state = "up" if active else "down"
        protocol = _protocol(members)
        model[channel] = {
            "protocol": protocol,
            "linkState": state,
            "ports": {port.name: {"lacpMode": port.channel_mode} for port in members},
        }
        flag = "U" if active else "D"
        listed = " ".join(f"{short(port.name)}({'P' if port in active else 'D'})" for port in members)
        rows.append([f"{short(channel)}({flag})", protocol.upper(), listed])
    counted = {"numberOfChannelsInUse": sum(bool(each["ports"]) for each in model.values()), "portChannels": model}
    return Reply(table(["Port-Channel", "Protocol", "Ports"], rows), counted)


def _lacp_neighbors(cli: Cli, _words: list[str]) -> Reply:
    """The state of each LACP member."""
    model: dict[str, Any] = {}
    rows = []
    neighbours = cli.switch.surroundings.neighbours(cli.switch.running)
    for channel, members in _members(cli).items():
        active, _ = _by_state(cli, channel, members)
        interfaces: dict[str, Any] = {}
        for port in members:
            if port.channel_mode == "on":
                continue
            state = "bundled" if port in active else "noAgg"
            mac = neighbours[port.name].mac if port.name in neighbours else "00:00:00:00:00:00"
            partner = f"FFFF,{mac.replace(':', '-')}"
            interfaces[port.name] = {"actorPortStatus": state, "partnerSystemId": partner}
            rows.append([short(channel), short(port.name), state, partner])
        if interfaces:
            model[channel] = {"interfaces": interfaces}
    return Reply(table(["Channel", "Port", "Status", "Partner Sys-id"], rows), {"portChannels": model})


def _vxlan(cli: Cli, _words: list[str]) -> Reply:
    model: dict[str, Any] = {}
    rows = []
    for block in cli.switch.running.blocks("interface"):
        name = block.line.split()[1]
        if not name.startswith("Vxlan"):
            continue
        bound = [line.line.split() for line in block.ordered_children() if line.line.startswith("vxlan vlan ")]
        model[name] = {
            "vniBindings": {
                words[4]: {"vlan": int(words[2]), "dynamicVlan": False, "source": "static", "interfaces": {}}
                for words in bound
            },
            "vniBindingsToVrf": {},
        }
        rows += [[words[4], words[2], "static"] for words in bound]
    return Reply("VNI to VLAN Mapping for Vxlan1\n" + table(["VNI", "VLAN", "Source"], rows), {"vxlanIntfs": model})


def _members(cli: Cli) -> dict[str, list[Port]]:
    every = ports(cli.switch.running)
    channels = sorted((name for name in every if name.startswith("Port-Channel")), key=natural_order)
    return {
        channel: sorted((p for p in every.values() if p.channel == channel), key=lambda port: natural_order(port.name))
        for channel in channels
    }


def _by_state(cli: Cli, channel: str, members: list[Port]) -> tuple[list[Port], list[Port]]:
    """The members that carry traffic, and those that do not."""
    shut = ports(cli.switch.running)[channel].shutdown
    able = cli.switch.surroundings.bundled()
    active = [port for port in members if not shut and not port.shutdown and port.name in able]
    return active, [port for port in members if port not in active]


def _protocol(members: list[Port]) -> str:
    return "static" if any(port.channel_mode == "on" for port in members) else "lacp"


def _member(port: Port) -> dict[str, Any]:
    return {"protocol": _protocol([port]), "lacpMode": port.channel_mode}


COMMANDS: tuple[Command, ...] = (
    command("show port-channel", _port_channels),
    command("show port-channel dense", _summary),
    command("show port-channel summary", _summary),
    command("show lacp neighbor", _lacp_neighbors),
    command("show vxlan vni", _vxlan),
)
