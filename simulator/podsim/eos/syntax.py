# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration lines that the switch knows, block by block, in the order of `show running-config`.

What has an effect here (VLANs, switch ports, quality of service, the API) is read strictly. Blocks that are legal on
EOS but mean nothing to the simulation (routing, access lists, accounts, logging, ...) are kept word by word.
"""

from __future__ import annotations

from podsim.eos.grammar import Mode, Statement, line
from podsim.eos.syntax_interfaces import (
    ETHERNET,
    MANAGEMENT,
    PORT_CHANNEL,
    ROUTED_INTERFACE,
    VXLAN,
    release_members,
)
from podsim.eos.syntax_qos import MAPS, PAUSE_WATCHDOG_DEFAULTS


def kept(prompt: str, *statements: Statement) -> Mode:
    """A block whose lines are kept as they come; only the blocks inside it are named."""
    return Mode(prompt, statements, kept=line("{text}"))


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
        line("lacp system-priority <0-65535>", "lacp system-priority 32768"),
        line("tacacs-server {text}"),
        line("radius-server {text}"),
        line("clock timezone <text>"),
        line("vlan 1", mode=VLAN, permanent=True, shown_empty=False),
        line("vlan {vlans}", mode=VLAN),
        line("vrf instance {word}", mode=kept("vrf")),
        *MAPS,
        line("class-map {text}", mode=kept("cmap")),
        line("policy-map {text}", mode=kept("pmap", line("class {text}", mode=kept("pmap-c")))),
        line("interface {port-channel}", mode=PORT_CHANNEL, undo=release_members),
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
        *PAUSE_WATCHDOG_DEFAULTS,
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
