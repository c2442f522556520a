# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration lines of interfaces: switch ports, port channels, routed interfaces, VXLAN."""

from __future__ import annotations

from podsim.eos.config import Editor, Node
from podsim.eos.errors import EosError
from podsim.eos.grammar import Mode, line
from podsim.eos.releases import FIRST, LACP_TIMER, LAST, PORTFAST_EDGE
from podsim.eos.syntax_qos import PORT_QOS, PRIORITY_FLOW_CONTROL, TX_QUEUES
from podsim.eos.vlan_lists import ALL_VLANS, format_vlans, parse_vlans

ALLOWED_VLANS = "switchport trunk allowed vlan"
FULL_DUPLEX = "400gfull|200gfull|100gfull|50gfull|40gfull|25gfull|10gfull|1000full|100full"
LANES = "400g-8|200g-4|100g-4|100g-2|50g-2|50g-1|40g-4|25g|10g|1g"


def _update_allowed_vlans(old: str | None, words: list[str]) -> str:
    """`switchport trunk allowed vlan add|remove|except LIST`, on top of the line that is there."""
    verb, named = words[-2], parse_vlans(words[-1])
    after = {"add": allowed_vlans(old) | named, "remove": allowed_vlans(old) - named, "except": ALL_VLANS - named}[verb]
    return f"{ALLOWED_VLANS} {format_vlans(after) or 'none'}"


def allowed_vlans(line: str | None) -> frozenset[int]:
    """The VLANs that the line `switchport trunk allowed vlan ...` allows; without one, every VLAN."""
    if line is None:
        return ALL_VLANS
    listed = line.split()[-1]
    return frozenset() if listed == "none" else parse_vlans(listed)


def _create_port_channel(root: Node, channel_group: str) -> None:
    """A member makes its port channel exist."""
    Editor(root).enter(f"interface Port-Channel{channel_group.split()[1]}")


def _check_channel_mode(root: Node, channel_group: str) -> None:
    """All members of a port channel speak LACP, or none does."""
    _, number, _, mode = channel_group.split()
    for port in root.blocks("interface"):
        group = (port.value("channel-group") or "").split()
        if group[:1] == [number] and (group[-1] == "on") != (mode == "on"):
            raise EosError("Cannot change mode; remove all members and try again.")


def release_members(root: Node, port_channel: str) -> None:
    """A port channel that goes leaves its members as ports of their own."""
    number = port_channel.removeprefix("interface Port-Channel")
    for port in root.blocks("interface"):
        if (port.value("channel-group") or "").split()[:1] == [number]:
            del port.children[("channel-group",)]


SPANNING_TREE_PORT = (
    line("spanning-tree portfast"),
    line("spanning-tree portfast edge", same_as="spanning-tree portfast", shown_in=(PORTFAST_EDGE, LAST)),
    line("spanning-tree portfast <network|auto>"),
    line("spanning-tree bpduguard <enable|disable>"),
    line("spanning-tree bpdufilter <enable|disable>"),
    line("spanning-tree link-type <point-to-point|shared>"),
    line("spanning-tree cost <1-200000000>"),
)

SWITCHPORT = (
    line("switchport", "switchport", negative=True),
    line("switchport access vlan <1-4094>", "switchport access vlan 1"),
    line("switchport trunk native vlan <1-4094>", "switchport trunk native vlan 1"),
    line("switchport trunk native vlan <tag>"),
    line(f"{ALLOWED_VLANS} <trunk-vlans>", f"{ALLOWED_VLANS} 1-4094"),
    line(f"{ALLOWED_VLANS} <add|remove|except> <vlans>", f"{ALLOWED_VLANS} 1-4094", update=_update_allowed_vlans),
    line("switchport mode <access|trunk|dot1q-tunnel>", "switchport mode access"),
    line("switchport trunk group {word}"),
)

COMMON = (
    line("description <text>"),
    line("shutdown", "no shutdown"),
    line("load-interval <0-600>"),
    line("mtu <68-9416>", "mtu 1500"),
)

ROUTED = (
    line("vrf <word>"),
    line("ip address <address>"),
    line("ip address <dhcp>"),
    line("ipv6 address {word}"),
    line("ip access-group {word} <in|out>"),
)

LLDP = (
    line("lldp transmit", "lldp transmit", negative=True),
    line("lldp receive", "lldp receive", negative=True),
)

SERVICE_PROFILE = line("service-profile <word>")

ETHERNET = Mode(
    "if",
    (
        *COMMON,
        line("dcbx mode <ieee|cee>"),
        line(f"speed <auto|{FULL_DUPLEX}|{LANES}>", "speed auto"),
        line(f"speed <auto|forced> <{FULL_DUPLEX}>"),
        line("error-correction encoding <reed-solomon|fire-code>", negative=True),
        line("flowcontrol receive <on|off>", "flowcontrol receive off"),
        line("flowcontrol send <on|off>", "flowcontrol send off"),
        line("logging event link-status"),
        *SWITCHPORT,
        *ROUTED,
        line("channel-group <1-2000> mode <on|active|passive>", check=_check_channel_mode, then=_create_port_channel),
        line("lacp timer <fast|normal>", "lacp timer normal", since=LACP_TIMER),
        line("lacp rate <fast|normal>", same_as="lacp timer", shown_in=(FIRST, LACP_TIMER)),
        line("lacp port-priority <0-65535>", "lacp port-priority 32768"),
        *LLDP,
        line("mac access-group {word} <in|out>"),
        *PRIORITY_FLOW_CONTROL,
        *PORT_QOS,
        SERVICE_PROFILE,
        *TX_QUEUES,
        *SPANNING_TREE_PORT,
        line("storm-control {broadcast|multicast|all} level <text>"),
    ),
)
PORT_CHANNEL = Mode(
    "if",
    (
        *COMMON,
        *SWITCHPORT,
        *ROUTED,
        line("port-channel min-links <0-64>"),
        line("port-channel lacp fallback <static|individual>"),
        line("port-channel lacp fallback timeout <0-300>"),
        line("mlag <1-2000>"),
        *PORT_QOS,
        SERVICE_PROFILE,
        *SPANNING_TREE_PORT,
    ),
)
ROUTED_INTERFACE = Mode("if", (*COMMON, *ROUTED, line("ip virtual-router address {word}")))
MANAGEMENT = Mode("if", (*COMMON, *ROUTED, *LLDP))
VXLAN = Mode(
    "if",
    (
        line("description <text>"),
        line("shutdown", "no shutdown"),
        line("vxlan source-interface <interface>"),
        line("vxlan udp-port <1-65535>", "vxlan udp-port 4789"),
        line("vxlan vlan {1-4094}", clears=True),
        line("vxlan vlan {1-4094} vni <1-16777214>"),
        line("vxlan flood vtep <text>"),
        line("vxlan mlag source-interface <interface>"),
        line("vxlan qos {text}"),
    ),
)
