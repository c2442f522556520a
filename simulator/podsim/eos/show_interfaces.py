# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands about ports and VLANs."""

from __future__ import annotations

from typing import Any

from podsim.eos.cli import Cli, Command, command
from podsim.eos.errors import EosError
from podsim.eos.interface_names import natural_order, short
from podsim.eos.ports import Port, ports, vlans
from podsim.eos.reply import Reply, table
from podsim.eos.show_system import system_mac
from podsim.eos.vlan_lists import ALL_VLANS, format_vlans

ERRDISABLED = "errdisabled"


def _vlan(cli: Cli, words: list[str]) -> Reply:
    wanted = int(words[2]) if len(words) > 2 else None
    members = cli.switch.vlan_members()
    model: dict[str, Any] = {}
    rows = []
    for vlan in vlans(cli.switch.running).values():
        if wanted not in (None, vlan.vlan_id):
            continue
        names = sorted((port.channel or port.name for port in members[vlan.vlan_id]), key=natural_order)
        status = "active" if vlan.active else "suspended"
        model[str(vlan.vlan_id)] = {
            "name": vlan.name,
            "dynamic": False,
            "status": status,
            "interfaces": {name: {"privatePromoted": False} for name in names},
        }
        rows.append([str(vlan.vlan_id), vlan.name, status, ", ".join(dict.fromkeys(map(short, names)))])
    return Reply(table(["VLAN", "Name", "Status", "Ports"], rows), {"sourceDetail": "", "vlans": model})


def _interfaces(cli: Cli, words: list[str]) -> Reply:
    model: dict[str, Any] = {}
    text = ""
    links = _links(cli)
    for port in _wanted(cli, words):
        link, line = links[port.name]
        hardware = {"Ethernet": "ethernet", "Management": "ethernet", "Vlan": "vlan", "Port-Channel": "portChannel"}
        mac = system_mac(f"{cli.switch.hostname}/{port.name}")
        model[port.name] = {
            "name": port.name,
            "forwardingModel": "routed" if port.mode == "routed" else "dataLink" if port.channel else "bridged",
            "lineProtocolStatus": line,
            "interfaceStatus": link,
            "hardware": next((kind for name, kind in hardware.items() if port.name.startswith(name)), "loopback"),
            "interfaceAddress": _addresses(cli, port),
            "physicalAddress": mac,
            "burnedInAddress": mac,
            "description": port.description,
            "bandwidth": cli.switch.hardware.speed(port.name),
            "mtu": port.mtu,
            "l3MtuConfigured": False,
            "duplex": "duplexFull",
            "autoNegotiate": "off",
            "lanes": cli.switch.hardware.lanes,
            "lastStatusChangeTimestamp": cli.switch.booted,
            "interfaceCounters": {},
        }
        unit = "IP MTU" if port.mode == "routed" else "Ethernet MTU"
        state = "administratively down" if port.shutdown else "up" if line == "up" else "down"
        described = f"  Description: {port.description}\n" if port.description else ""
        text += (
            f"{port.name} is {state}, line protocol is {line} ({link})\n"
            f"  Hardware is Ethernet, address is {mac} (bia {mac})\n{described}"
            f"  {unit} {port.mtu} bytes, BW {cli.switch.hardware.speed(port.name) // 1000} kbit\n"
        )
    return Reply(text, {"interfaces": model})


def _status(cli: Cli, words: list[str]) -> Reply:
    model: dict[str, Any] = {}
    rows = []
    links = _links(cli)
    for port in _wanted(cli, words):
        link, line = links[port.name]
        shown, vlan = _vlan_information(port)
        model[port.name] = {
            "vlanInformation": vlan,
            "bandwidth": cli.switch.hardware.speed(port.name),
            "interfaceType": cli.switch.hardware.interface_type if port.name.startswith("Ethernet") else "10/100/1000",
            "description": port.description,
            "autoNegotiateActive": False,
            "duplex": "duplexFull",
            "linkStatus": link,
            "lineProtocolStatus": line,
        }
        rows.append(
            [
                short(port.name),
                port.description,
                link,
                shown,
                "full",
                f"{cli.switch.hardware.speed(port.name) // 10**9}G",
            ]
        )
    return Reply(table(["Port", "Name", "Status", "Vlan", "Duplex", "Speed"], rows), {"interfaceStatuses": model})


def _errdisabled(cli: Cli, _words: list[str]) -> Reply:
    every = ports(cli.switch.running)
    causes = cli.switch.surroundings.errdisabled(cli.switch.running)
    model = {
        name: {"description": every[name].description, "status": ERRDISABLED, "causes": [cause]}
        for name, cause in causes.items()
    }
    rows = [[short(name), every[name].description, ERRDISABLED, cause] for name, cause in causes.items()]
    return Reply(table(["Port", "Name", "Status", "Reason"], rows), {"interfaceStatuses": model})


def _blocked_ports(cli: Cli, _words: list[str]) -> Reply:
    instances = cli.switch.surroundings.blocked(cli.switch.running)
    model = {instance: {"spanningTreeBlockedPorts": names} for instance, names in instances.items()}
    rows = [[instance, ", ".join(map(short, names))] for instance, names in instances.items()]
    count = sum(map(len, instances.values()))
    text = table(["Name", "Blocked Interfaces List"], rows)
    text += f"\nNumber of blocked ports (segments) in the system : {count}\n"
    return Reply(text, {"spanningTreeInstances": model})


def _switchport(cli: Cli, words: list[str]) -> Reply:
    names = {vlan_id: vlan.name for vlan_id, vlan in vlans(cli.switch.running).items()}
    model: dict[str, Any] = {}
    text = ""
    for port in _wanted(cli, words):
        if not port.name.startswith(("Ethernet", "Port-Channel")):
            continue
        allowed = "ALL" if port.allowed_vlans == ALL_VLANS else format_vlans(port.allowed_vlans) or "NONE"
        native = port.native_vlan or 0
        model[port.name] = {
            "enabled": port.mode != "routed",
            "switchportInfo": {
                "mode": "access" if port.mode == "routed" else port.mode,
                "macLearning": True,
                "tpid": "0x8100",
                "tpidStatus": True,
                "accessVlanId": port.access_vlan,
                "accessVlanName": names.get(port.access_vlan, "Inactive"),
                "trunkingNativeVlanId": native,
                "trunkingNativeVlanName": names.get(native, "Inactive"),
                "trunkAllowedVlans": allowed,
                "dynamicAllowedVlans": {},
                "staticTrunkGroups": [],
                "dynamicTrunkGroups": [],
            },
        }
        text += (
            f"Name: {short(port.name)}\nSwitchport: {'Disabled' if port.mode == 'routed' else 'Enabled'}\n"
            f"Administrative Mode: {port.mode}\nOperational Mode: {port.mode}\nMAC Address Learning: enabled\n"
            f"Access Mode VLAN: {port.access_vlan} ({names.get(port.access_vlan, 'Inactive')})\n"
            f"Trunking Native Mode VLAN: {native} ({names.get(native, 'Inactive')})\n"
            f"Trunking VLANs Enabled: {allowed}\n\n"
        )
    return Reply(text, {"switchports": model})


def _wanted(cli: Cli, words: list[str]) -> list[Port]:
    """The interfaces that the command names, else all."""
    every = ports(cli.switch.running)
    named = words[2] if len(words) > 2 and words[2][0].isupper() else None
    if named and named not in every:
        raise EosError("Interface does not exist")
    return [every[name] for name in ([named] if named else sorted(every, key=natural_order))]


def _links(cli: Cli) -> dict[str, tuple[str, str]]:
    """The state of the link and of the line protocol of every interface, for which the surroundings are asked once."""
    surroundings, every = cli.switch.surroundings, ports(cli.switch.running)
    linked, wrong = surroundings.linked(), surroundings.errdisabled(cli.switch.running)
    grouped = any(port.channel for port in every.values())
    bundled = surroundings.bundled() if grouped else set()
    up = {
        *(name for name in every if name in linked or name.startswith(("Vlan", "Loopback", "Vxlan"))),
        *(port.channel for port in every.values() if port.channel and port.name in bundled),
    }

    def state(port: Port) -> tuple[str, str]:
        if port.shutdown:
            return "disabled", "down"
        if port.name in wrong:
            return ERRDISABLED, "down"
        return ("connected", "up") if port.name in up else ("notconnect", "down")

    return {name: state(port) for name, port in every.items()}


def _addresses(cli: Cli, port: Port) -> list[dict[str, Any]]:
    block = cli.switch.running.children["interface", port.name]
    address, _, length = (block.value("ip address") or "").partition("/")
    if not length:
        return []
    primary = {"address": address, "maskLen": int(length)}
    return [{"primaryIp": primary, "secondaryIps": {}, "broadcastAddress": "255.255.255.255"}]


def _vlan_information(port: Port) -> tuple[str, dict[str, Any]]:
    """The VLAN column of `show interfaces status`, as text and as model."""
    if port.channel:
        explained = f"in {short(port.channel)}"
        return explained, {"interfaceForwardingModel": "dataLink", "vlanExplanation": explained}
    if port.mode == "access":
        return str(port.access_vlan), {
            "interfaceMode": "bridged",
            "vlanId": port.access_vlan,
            "interfaceForwardingModel": "bridged",
        }
    model = "bridged" if port.mode == "trunk" else "routed"
    return port.mode, {"interfaceMode": port.mode, "interfaceForwardingModel": model, "vlanExplanation": port.mode}


COMMANDS: tuple[Command, ...] = (
    command("show vlan", _vlan),
    command("show vlan <1-4094>", _vlan),
    command("show interfaces", _interfaces),
    command("show interfaces <interface>", _interfaces),
    command("show interfaces status", _status),
    command("show interfaces <interface> status", _status),
    command("show interfaces status errdisabled", _errdisabled),
    command("show spanning-tree blockedports", _blocked_ports),
    command("show interfaces switchport", _switchport),
    command("show interfaces <interface> switchport", _switchport),
)
