# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read from a running-config, and what is left to others."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.plan import plan
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse

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
    }


def test_foreign_lines_leave_out_only_our_own() -> None:
    running = parse(SWITCH)
    everything = running.foreign_lines([], [])
    theirs = running.foreign_lines(["100", "101"], ["Ethernet9/1"])
    assert [line for line in everything if line not in theirs] == [
        "vlan 100",
        "vlan 101",
        "vlan 101   name vpod-alice",
        "   description pod001-ipum1 RNIC",
        "   mtu 9000",
        "   switchport trunk allowed vlan 101,711",
    ]


def test_foreign_lines_do_not_depend_on_how_vlans_are_joined() -> None:
    apart = SWITCH.replace("vlan 100,102-103\n", "vlan 103\n!\nvlan 102\n!\nvlan 100\n")
    assert parse(apart).foreign_lines([], []) == parse(SWITCH).foreign_lines([], [])


@pytest.mark.parametrize("text", ["", SWITCH[:-5], SWITCH[: SWITCH.index("EOF")]])
def test_incomplete_running_config_is_an_error(text: str) -> None:
    with pytest.raises(DeviceError, match="did not show its whole running-config"):
        parse(text)


def test_gathered_state_replayed_is_no_change() -> None:
    running = parse(SWITCH)
    options = gathered(running)
    assert options["ports"][1] == {"name": "Ethernet1/1", "owner": "external", "description": "uplink"}
    assert plan(declare(**options), running) == []
