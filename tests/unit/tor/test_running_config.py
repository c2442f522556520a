# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts that are read from a running-config, and those that are left to others."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.plan import plan
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from tests.support.hostile import ENDS

SWITCH = """\
! Command: show running-config
! device: pod001-tor (DCS-7060CX-32S, EOS-4.28.3M)
!
hostname pod001-tor
!
vlan 100,102-103
!
vlan 101
   name vpod-alice
   state suspend
!
interface Port-Channel10
   switchport mode trunk
!
interface Ethernet1/1
   description uplink
   no switchport
   ip address 192.0.2.1/31
!
interface Ethernet9/1
   description pod001-ipum1 RNIC
   mtu 9000
   switchport trunk allowed vlan 101,711
   switchport mode trunk
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   !
   address locking
      shutdown
!
interface Management1
   shutdown
!
interface Vlan102
   ip address 10.1.2.1/24
!
interface Vxlan1
   vxlan source-interface Loopback0
   vxlan vlan 101 vni 10101
   vxlan vlan 300 vni 10300
!
qos map dscp 26-27 40 to traffic-class 4
qos map traffic-class 4 to tx-queue 5
!
qos profile ROCE
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   !
   tx-queue 3
      no priority
      bandwidth percent 95
      random-detect ecn count
   !
   mc-tx-queue 3
      bandwidth percent 50
!
priority-flow-control pause watchdog default timeout 0.20
!
banner login
!
interface Ethernet9/1
   shutdown
vlan 4000
EOF
!
event-handler x
   action bash
vlan 4001
   EOF
!
end
"""


def test_vlans_are_read_one_by_one() -> None:
    assert parse(SWITCH).vlans == {
        "1": {"name": "default"},
        "100": {"name": "VLAN0100"},
        "102": {"name": "VLAN0102"},
        "103": {"name": "VLAN0103"},
        "101": {"name": "vpod-alice"},
    }


def test_what_is_special_about_vlans() -> None:
    running = parse(SWITCH)
    assert (running.special_vlans, running.routed_vlans) == ({"101"}, {"102"})
    assert running.has_vxlan
    assert running.state["vni"] == {"101": {"vni": 10101}, "300": {"vni": 10300}}


def test_quality_of_service_is_read() -> None:
    running = parse(SWITCH)
    assert running.queue_word == "tx-queue"
    assert running.state["qos_profile"] == {"ROCE": {"trust": "dscp", "pfc": True, "no_drop": [3], "watchdog": False}}
    assert running.state["qos_queue"] == {
        "ROCE 3": {"priority": "none", "bandwidth_percent": 95, "bandwidth_guaranteed_kbps": 0, "ecn": {}}
    }
    assert running.state["pfc_watchdog"]["switch"]["timeout"] == 0.2
    dscps = running.state["dscp"]
    assert [dscps[dscp]["traffic_class"] for dscp in ("25", "26", "27", "28", "40")] == [3, 4, 4, 3, 4]
    assert running.state["traffic_class"]["4"] == {"tx_queue": 5}


def test_ports_are_read_with_all_fields() -> None:
    running = parse(SWITCH)
    assert list(running.ports) == ["Port-Channel10", "Ethernet1/1", "Ethernet9/1"]
    assert running.ports["Ethernet9/1"] == {
        "description": "pod001-ipum1 RNIC",
        "mtu": 9000,
        "enabled": True,
        "vlan": 1,
        "native_vlan": 1,
        "allowed_vlans": ["101", "711"],
        "mode": "trunk",
        "channel_group": 0,
        "lacp": "",
        "spanning_tree_edge": False,
        "lldp": True,
        "qos_profile": "",
        "qos_trust": "cos",
    }


OURS = {
    "vlan": ["100", "101"],
    "vni": ["101"],
    "port": ["Ethernet9/1"],
    "dscp": ["26"],
    "traffic_class": ["4"],
    "qos_profile": ["ROCE"],
    "qos_queue": ["ROCE 3"],
    "pfc_watchdog": ["switch"],
}


def test_foreign_lines_leave_out_only_our_own() -> None:
    running = parse(SWITCH)
    theirs = running.foreign_lines(OURS)
    assert [line for line in running.foreign_lines({}) if line not in theirs] == [
        "vlan 100",
        "vlan 101",
        "vlan 101 / name vpod-alice",
        "interface Ethernet9/1",
        "interface Ethernet9/1 / description pod001-ipum1 RNIC",
        "interface Ethernet9/1 / mtu 9000",
        "interface Ethernet9/1 / switchport trunk allowed vlan 101,711",
        "interface Ethernet9/1 / switchport mode trunk",
        "interface Vxlan1 / vxlan vlan 101 vni 10101",
        "qos map dscp 26 to traffic-class 4",
        "qos map traffic-class 4 to tx-queue 5",
        "qos profile ROCE",
        "qos profile ROCE / qos trust dscp",
        "qos profile ROCE / priority-flow-control on",
        "qos profile ROCE / priority-flow-control priority 3 no-drop",
        "qos profile ROCE / tx-queue 3",
        "qos profile ROCE / tx-queue 3 / no priority",
        "qos profile ROCE / tx-queue 3 / bandwidth percent 95",
        "priority-flow-control pause watchdog default timeout 0.20",
    ]
    assert "qos profile ROCE / tx-queue 3 / random-detect ecn count" in theirs
    assert "qos profile ROCE / mc-tx-queue 3" in theirs


def test_removed_vlan_leaves_no_foreign_line() -> None:
    lines = parse(SWITCH).foreign_lines({"vlan": ["101"]}, ["101"])
    assert not [line for line in lines if line.startswith("vlan 101")]
    assert "vlan 101 / state suspend" in parse(SWITCH).foreign_lines({"vlan": ["101"]})


def test_foreign_lines_do_not_depend_on_how_vlans_are_joined() -> None:
    apart = SWITCH.replace("vlan 100,102-103\n", "vlan 103\n!\nvlan 102\n!\nvlan 100\n")
    assert parse(apart).foreign_lines({}) == parse(SWITCH).foreign_lines({})


@pytest.mark.parametrize("text", ["", SWITCH[:-5], SWITCH[: SWITCH.index("EOF")]])
def test_incomplete_running_config_is_an_error(text: str) -> None:
    with pytest.raises(DeviceError, match="did not show its whole running-config"):
        parse(text)


@pytest.mark.parametrize("end", ENDS, ids=ascii)
def test_no_description_makes_up_a_line(end: str) -> None:
    described = f"   description uplink{end}   switchport access vlan 666{end}vlan 666"
    state = parse(SWITCH.replace("   description pod001-ipum1 RNIC", described)).state
    assert state["port"]["Ethernet9/1"]["vlan"] == 1
    assert "666" not in state["vlan"]


def test_gathered_state_replayed_is_no_change() -> None:
    running = parse(SWITCH)
    options = gathered(running)
    assert options["ports"][1] == {"name": "Ethernet1/1", "owner": "external", "description": "uplink"}
    assert options["qos"]["dscp_to_traffic_class"] == {26: 4, 27: 4, 40: 4}
    assert options["qos"]["profiles"][0]["queues"][0]["bandwidth_percent"] == 95
    for state in ("merged", "replaced"):
        assert plan(declare(**options, state=state), running) == []
