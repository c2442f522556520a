# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration lines that the switch knows, block by block, in the order of `show running-config`.

What has an effect here (VLANs, switch ports, quality of service, the API) is read strictly. Blocks that are legal on
EOS but mean nothing to the simulation (routing, access lists, accounts, logging, ...) are kept word by word.
"""

from __future__ import annotations

from podsim.eos.config import Editor, Node
from podsim.eos.errors import EosError
from podsim.eos.grammar import Mode, Statement, line
from podsim.eos.vlan_lists import ALL_VLANS, format_vlans, parse_vlans

ALLOWED_VLANS = "switchport trunk allowed vlan"
PAUSE_WATCHDOG = "priority-flow-control pause watchdog default"


def _update_allowed_vlans(old: str | None, words: list[str]) -> str:
    """`switchport trunk allowed vlan add|remove|except LIST`, on top of the line that is there."""
    verb, named = words[-2], parse_vlans(words[-1])
    after = {"add": allowed_vlans(old) | named, "remove": allowed_vlans(old) - named, "except": ALL_VLANS - named}[verb]
    return f"{ALLOWED_VLANS} {format_vlans(after) or 'none'}"


def allowed_vlans(line: str | None) -> frozenset[int]:
    """What the line `switchport trunk allowed vlan ...` allows; without one, every VLAN."""
    if line is None:
        return ALL_VLANS
    listed = line.split()[-1]
    return frozenset() if listed == "none" else parse_vlans(listed)


def _update_dscp_map(_old: str | None, words: list[str]) -> str | None:
    """EOS maps eight code points to each traffic class, 0-7 to class 1 and 8-15 to class 0; those lines vanish."""
    dscp, traffic_class = int(words[3]), int(words[-1])
    default = {0: 1, 1: 0}.get(dscp // 8, dscp // 8)
    return None if traffic_class == default else " ".join(words)


def _update_queue_map(_old: str | None, words: list[str]) -> str | None:
    """By default, traffic class N goes to queue N."""
    return None if words[3] == words[-1] else " ".join(words)


def _create_port_channel(root: Node, channel_group: str) -> None:
    """A member makes its port channel exist."""
    Editor(root).enter(f"interface Port-Channel{channel_group.split()[1]}")


def _check_polling_interval(root: Node, polling: str) -> None:
    """The pause watchdog polls at least twice within each of its times."""
    times = [root.value(f"{PAUSE_WATCHDOG} {name}") for name in ("timeout", "recovery-time")]
    limit = min((float(time) / 2 for time in times if time), default=float("inf"))
    if float(polling.rsplit(maxsplit=1)[-1]) > limit:
        raise EosError(f"polling-interval must be at most half of timeout and recovery-time, {limit:g} seconds here")


def kept(prompt: str, *statements: Statement) -> Mode:
    """A block whose lines are kept as they come; only the blocks inside it are named."""
    return Mode(prompt, statements, kept=line("{text}"))


SPANNING_TREE_PORT = (
    line("spanning-tree portfast"),
    line("spanning-tree portfast edge", same_as="spanning-tree portfast"),
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

PORT_QOS = (
    line("qos trust <cos|dscp>", negative=True),
    line("qos cos <0-7>"),
    line("qos dscp <0-63>"),
    line("service-profile <word>"),
)

PRIORITY_FLOW_CONTROL = (
    line("priority-flow-control on"),
    line("priority-flow-control mode on", same_as="priority-flow-control on"),
    line("priority-flow-control priority {0-7} <no-drop|drop>"),
    line("priority-flow-control pause watchdog"),
    line("priority-flow-control pause watchdog port action <drop|errdisable|no-drop>"),
    line("priority-flow-control pause watchdog port timer <text>"),
)

ECN = "random-detect ecn"
TX_QUEUE = Mode(
    "txq",
    (
        line("priority <strict>", negative=True),
        line("bandwidth percent <1-100>"),
        line("bandwidth guaranteed <text>"),
        line("shape rate <text>"),
        line(f"{ECN} minimum-threshold <text>"),
        line(f"{ECN} count"),
    ),
)
TX_QUEUES = (line("tx-queue {0-7}", mode=TX_QUEUE), line("uc-tx-queue {0-7}", mode=TX_QUEUE))
QOS_PROFILE = Mode("qos-profile", (*PORT_QOS[:-1], *TX_QUEUES, *PRIORITY_FLOW_CONTROL))

ETHERNET = Mode(
    "if",
    (
        *COMMON,
        line("dcbx mode <ieee|cee>"),
        line("speed <auto|100g|40g|25g|10g|100gfull|40gfull|25gfull|10gfull>", "speed auto"),
        line("speed auto <word>"),
        line("speed forced <100gfull|40gfull|25gfull|10gfull>"),
        line("error-correction encoding <reed-solomon|fire-code>"),
        line("flowcontrol receive <on|off>", "flowcontrol receive off"),
        line("flowcontrol send <on|off>", "flowcontrol send off"),
        line("logging event link-status"),
        *SWITCHPORT,
        *ROUTED,
        line("channel-group <1-2000> mode <on|active|passive>", then=_create_port_channel),
        line("lacp timer <fast|normal>"),
        line("lacp port-priority <0-65535>", "lacp port-priority 32768"),
        line("lldp transmit", "lldp transmit", negative=True),
        line("lldp receive", "lldp receive", negative=True),
        line("mac access-group {word} <in|out>"),
        *PRIORITY_FLOW_CONTROL,
        *PORT_QOS,
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
        *SPANNING_TREE_PORT,
    ),
)
ROUTED_INTERFACE = Mode("if", (*COMMON, *ROUTED, line("ip virtual-router address {word}")))
MANAGEMENT = Mode("if", (*COMMON, *ROUTED, line("lldp transmit", "lldp transmit", negative=True)))
VXLAN = Mode(
    "if",
    (
        line("description <text>"),
        line("shutdown", "no shutdown"),
        line("vxlan source-interface <interface>"),
        line("vxlan udp-port <1-65535>", "vxlan udp-port 4789"),
        line("vxlan vlan {1-4094} vni <1-16777214>"),
        line("vxlan flood vtep <text>"),
        line("vxlan mlag source-interface <interface>"),
        line("vxlan qos {text}"),
    ),
)
VLAN = Mode(
    "vlan",
    (line("name <word>"), line("state <active|suspend>", "state active"), line("trunk group {word}")),
)

API_VRF = Mode("http-cmds-vrf", (line("shutdown", "shutdown", negative=True),))
HTTP_COMMANDS = Mode(
    "mgmt-api-http-cmds",
    (
        line("protocol https", "protocol https", negative=True),
        line("protocol https port <1-65535>"),
        line("protocol https ssl profile <word>"),
        line("protocol http", "no protocol http"),
        line("protocol http port <1-65535>"),
        line("protocol unix-socket", "no protocol unix-socket"),
        line("cors allowed-origin {word}"),
        line("idle-timeout <0-86400>"),
        line("shutdown", "shutdown", negative=True),
        line("vrf {word}", mode=API_VRF),
    ),
)
MST = kept("mst")
BGP_BLOCK = kept("af")
ROUTER_BGP = kept(
    "router-bgp",
    line("address-family {text}", mode=BGP_BLOCK),
    line("vrf {word}", mode=kept("vrf", line("address-family {text}", mode=BGP_BLOCK))),
    line("vlan {1-4094}", mode=kept("macvrf")),
    line("vlan-aware-bundle {word}", mode=kept("macvrf")),
)
ACCESS_LIST = kept("acl")

GLOBAL = Mode(
    "",
    (
        line("aaa root", negative=True),
        line("username {word} <text>"),
        line("aaa {text}"),
        line("daemon {word}", mode=kept("daemon")),
        line("dhcp relay", mode=kept("dhcp-relay")),
        line("switchport default mode <access|routed>", "switchport default mode access"),
        line("vlan internal order <ascending|descending> range <text>"),
        line("transceiver {text}"),
        line("service routing protocols model <multi-agent|ribd>"),
        line("logging {text}"),
        line("hostname <word>"),
        line("ip name-server {text}"),
        line("dns domain <word>"),
        line("lldp run", "lldp run", negative=True),
        line("lldp timer <5-32768>", "lldp timer 30"),
        line("lldp hold-time <10-65535>"),
        line("lldp management-address {text}"),
        line("errdisable {text}"),
        line("hardware counter feature {text}"),
        line("ntp {text}"),
        line("sflow {text}"),
        line("snmp-server {text}"),
        line("spanning-tree mode <mstp|rstp|rapid-pvst|none>"),
        line("spanning-tree edge-port bpduguard default"),
        line("spanning-tree mst configuration", mode=MST),
        line("spanning-tree mst {0-4094} priority <0-61440>"),
        line("spanning-tree priority <0-61440>", "spanning-tree priority 32768"),
        line("spanning-tree vlan-id {vlans} priority <0-61440>"),
        line("spanning-tree vlan-id {vlans}", negative=True),
        line("tacacs-server {text}"),
        line("radius-server {text}"),
        line("clock timezone <text>"),
        line("vlan 1", mode=VLAN, permanent=True, shown_empty=False),
        line("vlan {vlans}", mode=VLAN),
        line("vrf instance {word}", mode=kept("vrf")),
        line("qos rewrite <cos|dscp>"),
        line("qos map cos {0-7} to traffic-class <0-7>"),
        line("qos map dscp {0-63} to traffic-class <0-7>", update=_update_dscp_map),
        line("qos map traffic-class {0-7} to tx-queue <0-7>", update=_update_queue_map),
        line("qos map traffic-class {0-7} to cos <0-7>"),
        line("qos map traffic-class {0-7} to dscp <0-63>"),
        line("qos profile {word}", mode=QOS_PROFILE),
        line("class-map {text}", mode=kept("cmap")),
        line("policy-map {text}", mode=kept("pmap", line("class {text}", mode=kept("pmap-c")))),
        line("interface {port-channel}", mode=PORT_CHANNEL),
        line("interface {ethernet}", mode=ETHERNET, permanent=True),
        line("interface {loopback}", mode=ROUTED_INTERFACE),
        line("interface {management}", mode=MANAGEMENT, permanent=True),
        line("interface {vlan}", mode=ROUTED_INTERFACE),
        line("interface {vxlan}", mode=VXLAN),
        line("mac address-table {text}"),
        line("event-handler {word}", mode=kept("handler")),
        line("ip virtual-router mac-address <word>"),
        line("ip access-list {text}", mode=ACCESS_LIST),
        line("mac access-list {text}", mode=ACCESS_LIST),
        line("ip routing", "no ip routing"),
        line("ip routing vrf {word}"),
        line("ip prefix-list {text}", mode=kept("ip-pfx")),
        line("mlag configuration", mode=kept("mlag")),
        line("ip route {text}"),
        line("priority-flow-control all off"),
        line(f"{PAUSE_WATCHDOG} timeout <decimal>"),
        line(f"{PAUSE_WATCHDOG} recovery-time <decimal>"),
        line(f"{PAUSE_WATCHDOG} polling-interval <decimal>", check=_check_polling_interval),
        line("priority-flow-control pause watchdog action <drop|errdisable|no-drop>"),
        line("route-map {text}", mode=kept("route-map")),
        line("router bgp {1-4294967295}", mode=ROUTER_BGP),
        line("router {ospf|isis|ospf3|pim|multicast|general} <text>", mode=kept("router")),
        line("banner login", heredoc=True),
        line("banner motd", heredoc=True),
        line("management api http-commands", mode=HTTP_COMMANDS, shown_empty=False),
        line("management {api|ssh|console|security|telnet} <text>", mode=kept("management")),
        line("management {ssh|console|security|telnet}", mode=kept("management")),
    ),
)
