# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is planned for a switch, what is refused, and the lines that come of it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.module_utils._tor.commands import commands_for, render
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.plan import plan
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import RunningConfig, parse
from ansible_collections.ipu.pod.plugins.module_utils._tor.settings import PORT_DEFAULTS
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.roce import roce

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


QOS = roce({})
SWITCH = parse("""\
vlan 100
!
vlan 101
   name vpod-alice
!
vlan 150-151
!
vlan 152
   state suspend
!
qos profile OLD
   qos trust dscp
!
interface Port-Channel5
   switchport mode trunk
!
interface Ethernet1/1
   switchport access vlan 150
!
interface Ethernet2/1
   switchport access vlan 101
   mtu 9000
   service-profile OLD
   qos trust dscp
   description used
   shutdown
!
interface Ethernet3/1
   channel-group 5 mode passive
!
interface Ethernet4/1
!
interface Ethernet5/1
   no switchport
!
interface Vlan151
   ip address 10.0.0.1/24
!
end
""")
VXLAN = parse("""\
vlan 100-102
!
interface Vxlan1
   vxlan source-interface Loopback0
   vxlan vlan 100 vni 10100
   vxlan vlan 102 vni 10102
!
end
""")


def planned(running: RunningConfig = SWITCH, **options: Any) -> list[Step]:
    return plan(declare(**{"vlans": [], "ports": [], **options}), running)


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
        ({"name": "Et25/1", "allowed_vlans": ["300-302"]}, "Ethernet25/1: VLAN 300 is not on the switch"),
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


def test_merged_keeps_what_is_not_given_and_replaced_does_not() -> None:
    port = {"name": "Et2/1", "description": "new"}
    (merged,) = planned(ports=[port])
    assert merged.after == {**SWITCH.ports["Ethernet2/1"], "description": "new"}
    (replaced,) = planned(ports=[port], state="replaced")
    assert replaced.after == {**PORT_DEFAULTS, "description": "new"} | {
        field: SWITCH.ports["Ethernet2/1"][field] for field in ("enabled", "mtu", "qos_profile", "qos_trust")
    }


def test_replaced_touches_nothing_that_is_not_listed() -> None:
    assert [step.name for step in planned(vlans=[{"vlan_id": 101}], state="replaced")] == ["101"]


def test_overridden_clears_the_scope_and_only_that() -> None:
    scope = {"vlans": ["1-149", "152"], "ports": ["Et2/1", "Et4/1", "Po7"]}
    cleared = planned(vlans=[{"vlan_id": 100}], state="overridden", scope=scope)
    assert [(step.action, step.name, step.risk) for step in cleared] == [
        ("update", "Ethernet2/1", "disruptive"),
        ("remove", "101", "destructive"),
        ("remove", "152", "destructive"),
    ]
    assert commands_for(cleared)[-2:] == ["no vlan 101", "no vlan 152"]


def test_vlan_that_a_port_beside_the_scope_uses_goes_with_a_warning() -> None:
    (step,) = planned(state="overridden", scope={"vlans": ["150"]})
    assert (step.risk, step.reason) == (
        "tenant outage",
        "in the scope, but not declared, and still used by Ethernet1/1",
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scope": {"vlans": ["150"]}, "ports": [{"name": "Et1/1", "owner": "external"}]}, "Ethernet1/1, which is ext"),
        ({"scope": {"vlans": ["151"]}}, "VLAN 151: it has an interface of its own, Vlan151; take it out of scope"),
        ({"scope": {"ports": ["Et5/1"]}, "ports": []}, "Ethernet5/1: it is a routed port"),
        ({"scope": {"ports": ["Et33/1"]}}, "Ethernet33/1: the switch has no such port"),
    ],
)
def test_scope_that_would_hurt_others_is_refused(options: Any, message: str) -> None:
    with pytest.raises(Refused, match=message):
        planned(state="overridden", **options)


def test_external_port_in_the_scope_is_left_alone() -> None:
    external = [{"name": "Et2/1", "owner": "external"}]
    assert planned(ports=external, state="overridden", scope={"ports": ["Et2/1"]}) == []


def test_port_taken_from_a_tenant_is_an_outage() -> None:
    (step,) = planned(ports=[{"name": "Et2/1", "enabled": True, "vlan": 100}])
    assert step.risk == "disruptive", "it was disabled before"
    running = parse(
        "vlan 100\n!\nvlan 101\n   name vpod-alice\n!\ninterface Ethernet2/1\n   switchport access vlan 101\n!\nend\n"
    )
    (step,) = planned(running, ports=[{"name": "Et2/1", "vlan": 100}])
    assert step.risk == "tenant outage"


def test_channel_comes_before_the_members_that_join_it() -> None:
    ports = [{"name": "Et4/1", "channel_group": 7}, {"name": "Po7", "mode": "trunk", "allowed_vlans": ["100"]}]
    assert commands_for(planned(ports=ports)) == [
        "interface Port-Channel7",
        "switchport trunk allowed vlan 100",
        "switchport mode trunk",
        "interface Ethernet4/1",
        "channel-group 7 mode active",
    ]


def test_member_that_leaves_its_channel() -> None:
    assert commands_for(planned(ports=[{"name": "Et3/1", "channel_group": 0}])) == [
        "interface Ethernet3/1",
        "no channel-group",
        "interface Ethernet3/1",
    ]


def test_members_leave_before_the_kind_of_their_channel_changes() -> None:
    running = parse(
        "".join(f"interface Ethernet{n}/1\n   channel-group 7 mode active\n" for n in (1, 2))
        + "interface Port-Channel7\nend\n"
    )
    ports = [{"name": f"Et{number}/1", "lacp": "on"} for number in (1, 2)]
    assert commands_for(planned(running, ports=ports)) == [
        "interface Ethernet1/1",
        "no channel-group",
        "interface Ethernet2/1",
        "no channel-group",
        "interface Ethernet1/1",
        "channel-group 7 mode on",
        "interface Ethernet2/1",
        "channel-group 7 mode on",
    ]
    with pytest.raises(
        Refused, match=r"^Port-Channel7: some members negotiate by LACP and some are static; give all one"
    ):
        planned(running, ports=ports[:1])


def test_member_keeps_how_it_negotiates() -> None:
    (step,) = planned(ports=[{"name": "Et3/1", "channel_group": 6}, {"name": "Po6"}])[1:]
    assert commands_for([step]) == [
        "interface Ethernet3/1",
        "no channel-group",
        "interface Ethernet3/1",
        "channel-group 6 mode passive",
    ]


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        (
            [{"name": "Et3/1", "mtu": 9000}],
            "Ethernet3/1: it is a member of Port-Channel5, which decides on mtu; declare mtu at Port-Channel5",
        ),
        ([{"name": "Et4/1", "channel_group": 5, "vlan": 100}], "Ethernet4/1: it is a member of Port-Channel5, which"),
        (
            [{"name": "Et4/1", "channel_group": 9}],
            "Ethernet4/1: Port-Channel9 is not on the switch; declare it in port",
        ),
        ([{"name": "Et4/1", "lacp": "active"}], "Ethernet4/1: it is in no port channel, so lacp means nothing"),
        (
            [{"name": "Et4/1", "qos_profile": "ROCE"}],
            "Ethernet4/1: profile ROCE is not on the switch; declare it in qo",
        ),
    ],
)
def test_port_that_does_not_fit_is_refused(ports: Any, message: str) -> None:
    with pytest.raises(Refused, match="^" + message):
        planned(ports=ports)


def test_vni_of_a_vlan() -> None:
    vlans = [{"vlan_id": 101, "vni": 10101}, {"vlan_id": 102, "vni": 0}, {"vlan_id": 103, "name": "new", "vni": 7}]
    assert commands_for(planned(VXLAN, vlans=vlans)) == [
        "vlan 103",
        "name new",
        "interface Vxlan1",
        "vxlan vlan 101 vni 10101",
        "interface Vxlan1",
        "no vxlan vlan 102 vni 10102",
        "interface Vxlan1",
        "vxlan vlan 103 vni 7",
    ]


def test_removed_vlan_takes_its_vni_along() -> None:
    removed = planned(VXLAN, state="overridden", scope={"vlans": ["102"]})
    assert commands_for(removed) == ["interface Vxlan1", "no vxlan vlan 102 vni 10102", "no vlan 102"]


@pytest.mark.parametrize(
    ("running", "vni", "message"),
    [
        (
            SWITCH,
            10101,
            "VLAN 101: the switch has no interface Vxlan1 with a vxlan source-interface for its vni; set up",
        ),
        (VXLAN, 10100, "VLAN 101: its vni 10100 is that of VLAN 100; give each VLAN one of its own"),
    ],
)
def test_vni_that_does_not_fit_is_refused(running: RunningConfig, vni: int, message: str) -> None:
    with pytest.raises(Refused, match="^" + message):
        planned(running, vlans=[{"vlan_id": 101, "vni": vni}])


def test_canary_takes_along_what_it_needs_and_nobody_uses() -> None:
    ports = [{"name": "Et1/1", "vlan": 100}, {"name": "Et4/1", "vlan": 160, "qos_profile": "ROCE"}]
    vlans = [{"vlan_id": 160}, {"vlan_id": 100, "name": "renamed"}]
    names = [step.name for step in planned(vlans=vlans, ports=ports, qos=QOS, canary=["Et4/1"])]
    assert names == ["160", "ROCE", "ROCE 3", "Ethernet4/1", "100", "switch", "Ethernet1/1"]


def test_profile_that_others_use_is_not_changed_for_the_canary() -> None:
    ports = [{"name": "Et4/1", "qos_profile": "OLD"}]
    names = [
        step.name
        for step in planned(ports=ports, qos={"profiles": [{"name": "OLD", "trust": "cos"}]}, canary=["Et4/1"])
    ]
    assert names == ["Ethernet4/1", "OLD"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"canary": ["Et4/1"]}, r"canary\[0\]: Ethernet4/1 is not among the declared ports that are ours"),
        ({"scope": {"vlans": ["7"]}}, "scope: it says what state overridden may clear; give both or none"),
        ({"state": "overridden"}, "scope: it says what state overridden may clear; give both or none"),
        ({"vlans": [{"vlan_id": 7, "vni": 16777215}]}, r"vlans\[0\].vni: 16777215 is no VNI; give 1 to 16777214"),
        (
            {"ports": [{"name": "Et1", "channel_group": 2001}]},
            r".*channel_group: 2001 is no port channel; give 1 to 200",
        ),
        ({"ports": [{"name": "Et1", "channel_group": 0, "lacp": "on"}]}, r".*lacp: a port without channel_group does"),
        ({"ports": [{"name": "Po1", "lldp": True}]}, r"ports\[0\] \(Port-Channel1\).lldp: a port channel has none"),
        ({"ports": [{"name": "Et1", "qos_profile": "a b"}]}, r".*qos_profile: 'a b' is no name of a profile"),
    ],
)
def test_wrong_declaration_is_refused_without_a_switch(options: Any, message: str) -> None:
    with pytest.raises(Refused, match="^" + message):
        planned(**options)
