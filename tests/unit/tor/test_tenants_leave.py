# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""VLANs that are to go, and VLANs that a port must not carry."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from tests.support.in_memory.switch import InProcessSwitch

ABSENT = {"vlan_id": 101, "name": "vpod-alice", "state": "absent"}


def switch(*lines: str) -> InProcessSwitch:
    return InProcessSwitch(
        *("configure", "vlan 101", "name vpod-alice", "vlan 102", "name vpod-bob", "vlan 999"),
        *("interface Ethernet9/1", "switchport access vlan 101"),
        *("interface Ethernet25/1", "switchport mode trunk", "switchport trunk native vlan 101"),
        *("switchport trunk allowed vlan 101,102", *lines),
    )


def plan(one: InProcessSwitch, *ports: dict[str, Any], vlan: Any = None) -> list[tuple[str, str, str]]:
    """The steps, carried out, after which nothing may be left to do."""
    declared = {"vlans": [vlan or ABSENT], "ports": list(ports)}
    predicted = one.change(**declared, check_mode=True)
    outcome = one.change(**declared)
    assert predicted.result() == outcome.result()
    assert outcome.failure is None
    assert not one.change(**declared).changed
    return [(step.action, step.kind, step.name) for step in outcome.steps]


REST = (
    {"name": "Ethernet9/1", "mode": "access", "vlan": 999},
    {
        "name": "Ethernet25/1",
        "mode": "trunk",
        "native_vlan": 999,
        "allowed_vlans": ["999"],
        "not_allowed_vlans": ["101"],
    },
)


def test_a_vlan_goes_when_the_last_port_has_left_it() -> None:
    one = switch()
    assert plan(one, *REST) == [
        ("update", "port", "Ethernet9/1"),
        ("update", "port", "Ethernet25/1"),
        ("remove", "vlan", "101"),
    ]
    assert "vlan 101" not in one.running
    assert "switchport trunk allowed vlan 102,999" in one.running


@pytest.mark.parametrize("ports", [(), REST[:1], REST[1:]])
def test_it_stays_while_a_port_names_it(ports: Any) -> None:
    one = switch()
    assert ("remove", "vlan", "101") not in plan(one, *ports)
    assert "vlan 101\n" in one.running


def test_a_trunk_that_carried_every_vlan_carries_all_but_that_one() -> None:
    one = switch("no switchport trunk allowed vlan")
    port = {**REST[1], "allowed_vlans": None}
    assert ("update", "port", "Ethernet25/1") in plan(one, port)
    assert "switchport trunk allowed vlan 1-100,102-4094" in one.running


def test_vlans_that_are_declared_on_it_have_to_be_there() -> None:
    one = switch("no switchport trunk allowed vlan")
    with pytest.raises(Refused, match="Ethernet25/1: VLAN 300 is not on the switch; declare it in vlans"):
        one.change(vlans=[ABSENT], ports=[{**REST[1], "allowed_vlans": ["300", "999"]}])


def test_it_stays_if_it_is_somebody_elses_by_its_name() -> None:
    one = switch()
    assert plan(one, *REST, vlan={**ABSENT, "name": "vpod-carol"}) == [
        ("update", "port", "Ethernet9/1"),
        ("update", "port", "Ethernet25/1"),
    ]


def test_it_stays_if_it_has_an_interface_of_its_own() -> None:
    one = switch("interface Vlan101")
    assert ("remove", "vlan", "101") not in plan(one, *REST)


def test_its_vxlan_network_goes_with_it() -> None:
    one = switch("interface Vxlan1", "vxlan source-interface Loopback0", "vxlan vlan 101 vni 10101")
    assert ("remove", "vlan", "101") in plan(one, *REST)
    assert "10101" not in one.running


def test_the_first_vlan_cannot_go() -> None:
    with pytest.raises(Refused, match=r"vlans\[0\]: VLAN 1 is EOS's own and stays; leave it out"):
        declare([{"vlan_id": 1, "state": "absent"}], [])
