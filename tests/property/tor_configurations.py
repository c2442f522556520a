# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random configurations of a switch, as lines somebody typed, and random declarations for it."""

from __future__ import annotations

from itertools import chain
from typing import Any

from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.plugin_utils._desired.roce import roce

PORTS = [f"Ethernet{number}/1" for number in range(9, 14)]
CHANNELS = ["Port-Channel7", "Port-Channel8"]
FOREIGN_PORTS = ["Ethernet1/1", "Ethernet2/1", "Ethernet31/1"]
VLANS = st.sampled_from([100, 101, 102, 103, 104])
TEXTS = st.sampled_from(["ipum1 RNIC", "shutdown", "vlan 7", "a 'quoted' text"])
MTUS = st.sampled_from([9000, 9214])
VLAN_LISTS = st.sets(VLANS, min_size=1).map(lambda ids: ",".join(map(str, sorted(ids))))


def lines_of(*parts: st.SearchStrategy[Any]) -> st.SearchStrategy[list[str]]:
    """Some of these lines, in this order."""
    optional = [st.none() | part for part in parts]
    return st.tuples(*optional).map(lambda lines: [line for line in lines if line is not None])


SWITCHING = lines_of(
    MTUS.map("mtu {}".format),
    VLANS.map("switchport access vlan {}".format),
    VLANS.map("switchport trunk native vlan {}".format),
    (VLAN_LISTS | st.sampled_from(["none", "all"])).map("switchport trunk allowed vlan {}".format),
    st.sampled_from(["access", "trunk"]).map("switchport mode {}".format),
    st.sampled_from(["spanning-tree portfast", "spanning-tree portfast edge", "spanning-tree bpduguard enable"]),
    st.sampled_from(["service-profile OLD", "qos trust dscp", "qos trust cos"]),
)
ON_ANY_PORT = lines_of(TEXTS.map("description {}".format), st.sampled_from(["shutdown", "no shutdown"]))
ON_A_MEMBER = lines_of(
    st.just("channel-group 7 mode active"),
    st.just("no lldp transmit\nno lldp receive"),
    st.sampled_from(["priority-flow-control on", "storm-control broadcast level 5", "lacp timer fast"]),
)
PORT_BLOCKS = st.fixed_dictionaries({name: st.tuples(ON_ANY_PORT, SWITCHING, ON_A_MEMBER) for name in PORTS}).map(
    lambda ports: [line for name, lines in ports.items() for line in (f"interface {name}", *chain(*lines))]
)
CHANNEL_BLOCK = st.tuples(ON_ANY_PORT, SWITCHING).map(lambda lines: ["interface Port-Channel7", *chain(*lines)])

VLAN_BLOCKS = st.dictionaries(
    VLANS, lines_of(st.sampled_from(["name old", "name vpod-alice"]), st.just("state suspend")), min_size=3
).map(lambda vlans: [line for vlan_id, lines in vlans.items() for line in (f"vlan {vlan_id}", *lines)])

QUEUE_LINES = lines_of(
    st.just("no priority"),
    st.just("bandwidth percent 40"),
    st.just("bandwidth guaranteed 100"),
    st.just("random-detect ecn minimum-threshold 9 kbytes maximum-threshold 20 kbytes max-mark-probability 5 weight 1"),
    st.just("random-detect ecn count"),
)
QOS_LINES = st.tuples(
    lines_of(st.just("qos map dscp 26 to traffic-class 2"), st.just("qos map traffic-class 3 to tx-queue 4")),
    lines_of(
        st.just(
            "priority-flow-control pause watchdog default timeout 1\n"
            "priority-flow-control pause watchdog default polling-interval 0.5"
        ),
        st.just("priority-flow-control pause watchdog action errdisable"),
    ),
    lines_of(
        st.just("qos trust dscp"),
        st.just("priority-flow-control on"),
        st.just("qos cos 2"),
        st.just("priority-flow-control priority 4 no-drop"),
    ).map(lambda lines: ["qos profile OLD", *lines]),
    QUEUE_LINES.map(lambda lines: ["uc-tx-queue 4", *lines]),
).map(lambda parts: list(chain(*parts)))

FOREIGN = [
    "username joe secret sha512 $6$abc",
    "ip access-list GUARD\n10 permit ip any any\n20 deny ip any any",
    "router bgp 65001\nneighbor 192.0.2.1 remote-as 65002\nvlan 101\nrd 1:101",
    "interface Ethernet1/1\ndescription uplink\nswitchport mode trunk\nstorm-control broadcast level 5",
    "interface Ethernet2/1\nno switchport\nip address 192.0.2.1/31",
    "vlan 900\nname theirs",
    "interface Loopback0\nip address 10.9.9.9/32",
    "ntp server 192.0.2.9",
]
FOREIGN_BLOCKS = [
    *("username ", "ip access-list ", "router bgp ", "vlan 900\n", "interface Loopback0\n", "ntp "),
    *(f"interface {name}\n" for name in FOREIGN_PORTS),
]
VXLAN = "interface Loopback0\ninterface Vxlan1\nvxlan source-interface Loopback0\nvxlan vlan 900 vni 10900"

CONFIGURATIONS = st.tuples(
    VLAN_BLOCKS,
    QOS_LINES,
    CHANNEL_BLOCK,
    PORT_BLOCKS,
    st.lists(st.sampled_from(FOREIGN), unique=True),
    st.sampled_from([[], ["vxlan vlan 101 vni 10101"]]).map(lambda lines: [VXLAN, *lines]),
).map(lambda parts: [line for lines in chain(*parts) for line in lines.split("\n")])

ANY_PORT = {"description": TEXTS | st.just(""), "enabled": st.booleans()}
SWITCH_PORT = {
    "mtu": MTUS,
    "spanning_tree_edge": st.booleans(),
    "qos_profile": st.sampled_from(["", "OLD"]),
    "qos_trust": st.sampled_from(["dscp", "cos"]),
}
ETHERNET = {"lldp": st.booleans()}
ACCESS = {"mode": st.just("access"), "vlan": VLANS}
ALLOWED = st.lists(VLANS.map(str) | st.just("102-103"), min_size=1)
TRUNK = {"mode": st.just("trunk"), "native_vlan": st.just(1), "allowed_vlans": ALLOWED}
ANY_MODE = st.sampled_from([{}, ACCESS, ACCESS, TRUNK, TRUNK])


def options(fixed: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Options of a port: all of these, and some of those."""
    return st.fixed_dictionaries(fixed, optional=optional)


ALONE = ANY_MODE.flatmap(
    lambda mode: options({**mode, "channel_group": st.just(0)}, {**ANY_PORT, **SWITCH_PORT, **ETHERNET})
)
AS_IT_IS = options({}, {**ANY_PORT, **ETHERNET})
MEMBER = options(
    {"channel_group": st.sampled_from([7, 8])}, {**ANY_PORT, **ETHERNET, "lacp": st.sampled_from(["active", "on"])}
)
CHANNEL = ANY_MODE.flatmap(lambda mode: options(mode, {**ANY_PORT, **SWITCH_PORT}))
EXTERNAL = st.just({"owner": "external", "enabled": False, "mtu": 9000})

SOME_PORTS = st.dictionaries(st.sampled_from(PORTS), ALONE | ALONE | AS_IT_IS | MEMBER | EXTERNAL, min_size=1)
DECLARED_PORTS = st.tuples(SOME_PORTS, st.fixed_dictionaries(dict.fromkeys(CHANNELS, CHANNEL))).map(
    lambda parts: [{"name": name, **port} for name, port in {**parts[0], **parts[1]}.items()]
)
DECLARED_VLANS = st.fixed_dictionaries(
    {
        vlan_id: st.fixed_dictionaries(
            {}, optional={"name": st.sampled_from(["new", "vpod-bob"]), "vni": st.sampled_from([0, 20000 + vlan_id])}
        )
        for vlan_id in range(100, 105)
    }
).map(lambda vlans: [{"vlan_id": vlan_id, **vlan} for vlan_id, vlan in vlans.items()])
SOME_VLANS = DECLARED_VLANS | DECLARED_VLANS.map(lambda vlans: vlans[:4])
QOS = st.sampled_from(
    [
        None,
        {},
        roce({}),
        roce({"priority": 4, "dscp": 34, "cnp_priority": 5, "watchdog": {"polling_interval": 0.05}}),
        {
            "profiles": [
                {"name": "OLD", "trust": "cos", "queues": [{"queue": 4, "bandwidth_percent": 30, "priority": "none"}]}
            ]
        },
        {"profiles": [{"name": "NEW", "queues": [{"queue": 2, "ecn": {"minimum_kbytes": 1, "maximum_kbytes": 2}}]}]},
        {"dscp_to_traffic_class": {10: 5, 26: 3}, "watchdog": {"action": "drop", "timeout": 2.0}},
    ]
)
STATES = st.sampled_from(
    [
        {},
        {"state": "replaced"},
        {"state": "overridden", "scope": {"vlans": ["100-199"], "ports": [*PORTS, "Po7"]}},
        {"state": "overridden", "scope": {"vlans": ["104"], "ports": []}},
    ]
)
DECLARATIONS = st.tuples(SOME_VLANS, DECLARED_PORTS, QOS, STATES).map(
    lambda parts: {"vlans": parts[0], "ports": parts[1], "qos": parts[2], **parts[3]}
)
