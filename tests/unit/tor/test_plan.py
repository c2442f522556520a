# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is planned for a switch, what is refused, and the lines that come of it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.plan import commands_for, plan, render
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse

RUNNING = parse("""\
vlan 100
!
vlan 200
   name storage
!
interface Ethernet1/1
   no switchport
!
interface Ethernet9/1
!
interface Ethernet25/1
   switchport trunk native vlan 200
   switchport trunk allowed vlan 100,200
   switchport mode trunk
!
interface Ethernet26/1
   switchport mode trunk
!
interface Ethernet27/1
   switchport trunk native vlan 999
   switchport trunk allowed vlan 100
   switchport mode trunk
!
end
""")


def steps(vlans: Any = (), **port: Any) -> list[Step]:
    return plan(declare(vlans, [port] if port else []), RUNNING)


def lines(vlans: Any = (), **port: Any) -> list[str]:
    return commands_for(steps(vlans, **port))


def test_new_vlan_comes_before_the_port_that_uses_it() -> None:
    assert lines([{"vlan_id": 101, "name": "alice"}], name="Et9/1", vlan=101) == [
        "vlan 101",
        "name alice",
        "interface Ethernet9/1",
        "switchport access vlan 101",
    ]


@pytest.mark.parametrize(
    ("vlan", "expected"),
    [
        ({"vlan_id": 101}, ["vlan 101"]),
        ({"vlan_id": 101, "name": "VLAN0101"}, ["vlan 101"]),
        ({"vlan_id": 200}, []),
        ({"vlan_id": 200, "name": "storage"}, []),
        ({"vlan_id": 200, "name": "other"}, ["vlan 200", "name other"]),
        ({"vlan_id": 200, "name": "VLAN0200"}, ["vlan 200", "no name"]),
        ({"vlan_id": 1}, []),
    ],
)
def test_vlan_lines(vlan: Any, expected: list[str]) -> None:
    assert lines([vlan]) == expected


@pytest.mark.parametrize(
    ("port", "allowed"),
    [
        ({"name": "Et25/1"}, "100-101,200"),
        ({"name": "Et26/1"}, "101"),
        ({"name": "Et9/1", "mode": "trunk"}, "101"),
        ({"name": "Et25/1", "mode": "access"}, "101"),
    ],
    ids=["trunk with a list of its own", "trunk of every VLAN", "no trunk before", "no trunk after"],
)
def test_allowed_vlans_are_added_to_the_own_list_of_a_trunk_only(port: Any, allowed: str) -> None:
    assert f"switchport trunk allowed vlan {allowed}" in lines([{"vlan_id": 101}], allowed_vlans=["101"], **port)


def test_what_is_not_declared_is_kept() -> None:
    (step,) = steps(name="Ethernet25/1", mtu=9000)
    assert step.after == {**RUNNING.ports["Ethernet25/1"], "mtu": 9000}
    assert commands_for([step]) == ["interface Ethernet25/1", "mtu 9000"]


def test_reason_names_owner_and_difference() -> None:
    (step,) = steps(name="Ethernet9/1", owner="vpod alice", vlan=100)
    assert step.reason == "vpod alice: vlan is 1, wanted 100"


@pytest.mark.parametrize(
    ("port", "risk"),
    [
        ({"name": "Et25/1", "description": "new"}, "none"),
        ({"name": "Et25/1", "allowed_vlans": ["1-4094"]}, "none"),
        ({"name": "Et26/1", "allowed_vlans": ["100"]}, "disruptive"),
        ({"name": "Et9/1", "enabled": False}, "disruptive"),
        ({"name": "Et9/1", "vlan": 100}, "disruptive"),
        ({"name": "Et9/1", "mtu": 1600}, "disruptive"),
    ],
)
def test_risk(port: Any, risk: str) -> None:
    assert [step.risk for step in steps(**port)] == [risk]


def test_rendered_is_everything_that_is_declared() -> None:
    ports = [
        {"name": "Po5", "mode": "trunk", "allowed_vlans": [], "enabled": True, "description": ""},
        {"name": "Et1/1", "owner": "external", "mtu": 9000},
    ]
    assert render(declare([{"vlan_id": 101, "name": None}], ports)) == [
        "vlan 101",
        "interface Port-Channel5",
        "no description",
        "no shutdown",
        "switchport trunk allowed vlan none",
        "switchport mode trunk",
    ]


@pytest.mark.parametrize(
    ("port", "message"),
    [
        ({"name": "Et33/1"}, "Ethernet33/1: the switch has no such port; declare only ports that its running-config"),
        ({"name": "Et1/1", "mtu": 9000}, "Ethernet1/1: it is a routed port"),
        ({"name": "Et9/1", "mtu": 1500}, "Ethernet9/1: EOS does not limit a switched port to mtu 1500; give another"),
        ({"name": "Et9/1", "vlan": 101}, "Ethernet9/1: VLAN 101 is not on the switch; declare it in vlans"),
        ({"name": "Et25/1", "allowed_vlans": ["300-302"]}, "Ethernet25/1: VLAN 300-302 is not on the switch"),
        ({"name": "Et9/1", "native_vlan": 300}, "Ethernet9/1: VLAN 300 is not on the switch"),
        (
            {"name": "Et9/1", "mode": "trunk", "native_vlan": 200, "allowed_vlans": ["100"]},
            "Ethernet9/1: native VLAN 200 is not among its allowed VLANs; add it to allowed_vlans",
        ),
        ({"name": "Et27/1", "native_vlan": 200}, "Ethernet27/1: native VLAN 200 is not among its allowed VLANs"),
    ],
)
def test_declaration_that_does_not_fit_the_switch_is_refused(port: Any, message: str) -> None:
    with pytest.raises(Refused, match="^" + message.replace("(", r"\(")):
        steps(**port)


def test_native_vlan_that_was_parked_stays_parked() -> None:
    assert lines(name="Et27/1", allowed_vlans=["200"]) == [
        "interface Ethernet27/1",
        "switchport trunk allowed vlan 100,200",
    ]


@pytest.mark.parametrize(
    ("vlans", "ports", "message"),
    [
        ([{"vlan_id": 0}], [], r"vlans\[0\].vlan_id: 0 is no VLAN ID; give 1 to 4094"),
        ([{"vlan_id": 4095}], [], r"vlans\[0\].vlan_id: 4095 is no VLAN ID"),
        ([{"vlan_id": 7}, {"vlan_id": 7}], [], r"vlans\[1\]: VLAN 7 is declared twice"),
        ([{"vlan_id": 7, "name": "two words"}], [], r"vlans\[0\].name: 'two words' is no VLAN name"),
        ([{"vlan_id": 7, "name": "n" * 33}], [], r"vlans\[0\].name: .* 1 to 32 characters"),
        ([], [{"name": "Et9"}, {"name": "Ethernet 9"}], r"ports\[1\]: Ethernet9 is already declared by ports\[0\]"),
        ([], [{"name": "Et9", "owner": "external"}, {"name": "Et9"}], r"ports\[1\]: Ethernet9 is already declared"),
        ([], [{"name": "Vlan7"}], r"ports\[0\].name: 'Vlan7' is no port name"),
        ([], [{"name": "Et9", "owner": "al"}], r"ports\[0\].owner: 'al' is no owner; write pod, vpod NAME or external"),
        ([], [{"name": "Et9", "vlan": 0}], r"ports\[0\] \(Ethernet9\).vlan: 0 is no VLAN ID"),
        ([], [{"name": "Et9", "native_vlan": 5000}], r"ports\[0\] \(Ethernet9\).native_vlan: 5000 is no VLAN ID"),
        (
            [],
            [{"name": "Et9", "allowed_vlans": ["9-5"]}],
            r"ports\[0\] \(Ethernet9\).allowed_vlans: '9-5' .*backwards",
        ),
        ([], [{"name": "Et9", "mtu": 9215}], r"ports\[0\] \(Ethernet9\).mtu: 9215 bytes .*; give 68 to 9214"),
        ([], [{"name": "Et9", "description": "a\nb"}], r"ports\[0\] \(Ethernet9\).description: .* in one line"),
    ],
)
def test_wrong_option_is_refused_by_place(vlans: Any, ports: Any, message: str) -> None:
    with pytest.raises(Refused, match="^" + message):
        declare(vlans, ports)
