# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two ends of one cable: what cannot work is one sentence with both, and what is not known is not compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._desired.roce import REFERENCE
from ansible_collections.ipu.pod.plugins.plugin_utils._link_checks.ends import (
    NicEnd,
    PortEnd,
    declared_port,
    gathered_port,
    nic_end,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._link_checks.mismatches import mismatches

NIC = NicEnd(
    "s rnic0",
    mtu=9000,
    vlan=101,
    tagged={"rnic0.300": 300},
    trust="dscp",
    pfc=frozenset({3}),
    dscp_map={26: 3, 48: 6},
)
PORT = PortEnd(
    "t Ethernet25/1",
    mtu=9214,
    untagged=101,
    carried=frozenset({300}),
    trust="dscp",
    no_drop=frozenset({3}),
    classes={26: 3, 48: 6},
)


def source(nic: dict[str, Any] | None = None, port: dict[str, Any] | None = None) -> list[str]:
    return [str(mismatch) for mismatch in mismatches(replace(NIC, **nic or {}), replace(PORT, **port or {}))]


def test_ends_that_agree() -> None:
    assert source() == []


@pytest.mark.parametrize(
    ("nic", "port", "sentence"),
    [
        (
            {},
            {"mtu": 1500},
            "s rnic0 (MTU 9000) and t Ethernet25/1 (MTU 1500): the switch drops longer frames; give the NIC at most "
            "1500, or the port at least 9000",
        ),
        (
            {},
            {"untagged": 1},
            "s rnic0 (untagged for VLAN 101) and t Ethernet25/1 (untagged in VLAN 1): its frames go astray; put "
            "untagged frames of the port into VLAN 101",
        ),
        (
            {},
            {"carried": frozenset({301, 302})},
            "s rnic0 (VLAN 300 with tag on rnic0.300) and t Ethernet25/1 (carries 301-302 with tag): give the switch "
            "VLAN 300 and let the port carry it with tag, or remove rnic0.300",
        ),
        (
            {"tagged": {"v": 101}},
            {"carried": frozenset()},
            "s rnic0 (VLAN 101 with tag on v) and t Ethernet25/1 (carries no tags, 101 without): give the switch VLAN "
            "101 and let the port carry it with tag, or remove v",
        ),
        (
            {"pfc": frozenset({4}), "dscp_map": {}},
            {},
            "s rnic0 (PFC on priority 4) and t Ethernet25/1 (PFC on priority 3): PFC is hop by hop; give both the same "
            "priorities",
        ),
        (
            {"pfc": frozenset()},
            {},
            "s rnic0 (no PFC) and t Ethernet25/1 (PFC on priority 3): PFC is hop by hop; give both the same priorities",
        ),
        (
            {},
            {"trust": "cos"},
            "s rnic0 (trusts dscp) and t Ethernet25/1 (trusts cos): they sort the same frames differently; let both "
            "trust dscp",
        ),
        (
            {"dscp_map": {26: 3, 34: 3}},
            {"classes": {26: 2, 34: 2, 48: 6}},
            "s rnic0 (DSCP 26, 34 is priority 3) and t Ethernet25/1 (DSCP 26, 34 is traffic class 2): map DSCP 26, 34 "
            "to the same number at both ends",
        ),
    ],
)
def test_one_sentence_with_both_ends(nic: dict[str, Any], port: dict[str, Any], sentence: str) -> None:
    assert source(nic, port) == [sentence]


@pytest.mark.parametrize("end", ["nic", "port"])
def test_what_is_not_known_of_one_end_is_not_compared(end: str) -> None:
    unknown = (NicEnd("s rnic0"), PORT) if end == "nic" else (NIC, PortEnd("t Ethernet25/1"))
    assert mismatches(*unknown) == []


@pytest.mark.parametrize(
    ("nic", "port"),
    [
        ({"mtu": 9214}, {}),
        # Only what is lossless needs the same class at both ends.
        ({"dscp_map": {26: 3, 48: 5}}, {}),
        ({"trust": "pcp", "dscp_map": None}, {"trust": "cos"}),
        ({"pfc": frozenset(), "trust": "pcp"}, {"no_drop": frozenset(), "trust": "dscp"}),
    ],
)
def test_what_is_no_mismatch(nic: dict[str, Any], port: dict[str, Any]) -> None:
    assert source(nic, port) == []


def test_a_key_path_is_named_where_one_says_it() -> None:
    [sentence] = source({"source": {"mtu": "a.b"}}, {"mtu": 1500, "source": {"mtu": "c.d"}})
    assert sentence.startswith("s rnic0 (MTU 9000 by a.b) and t Ethernet25/1 (MTU 1500 by c.d): ")


TRUNK = {"name": "Ethernet25/1", "mode": "trunk", "native_vlan": 101, "allowed_vlans": ["101", "300-301"], "mtu": 9214}
QOS = {"dscp_to_traffic_class": {}, "profiles": []}


def gathered(port: dict[str, Any], has_profile: bool = False, **more: Any) -> PortEnd:
    answer = {"ports": [port], "vlans": [{"vlan_id": 101}, {"vlan_id": 300}], "qos": QOS, **more}
    return gathered_port("t", answer, "Ethernet25/1", has_profile)


def test_a_trunk_carries_what_it_allows_and_the_switch_has_but_its_native_vlan_without_tag() -> None:
    port = gathered(TRUNK)
    assert (port.untagged, port.carried, port.mtu) == (101, {300}, 9214)


def test_an_access_port_carries_no_tags() -> None:
    port = gathered({**TRUNK, "mode": "access", "vlan": 5})
    assert (port.untagged, port.carried) == (5, frozenset())


def test_a_member_of_a_channel_has_what_the_channel_has() -> None:
    member = {"name": "Ethernet25/1", "mode": "access", "vlan": 1, "mtu": 1500, "channel_group": 5}
    answer = {"ports": [member, {**TRUNK, "name": "Port-Channel5"}], "vlans": [{"vlan_id": 300}], "qos": QOS}
    port = gathered_port("t", answer, "Ethernet25/1", False)
    assert (port.name, port.untagged, port.carried, port.mtu) == ("t Ethernet25/1", 101, {300}, 9214)


def test_a_profile_decides_on_pfc_and_trust_and_eos_on_what_no_map_names() -> None:
    qos = {
        "dscp_to_traffic_class": {"26": 4},
        "profiles": [{"name": "R", "trust": "dscp", "pfc": True, "no_drop": [4]}],
    }
    port = gathered({**TRUNK, "qos_profile": "R", "qos_trust": "cos"}, qos=qos)
    assert (port.trust, port.no_drop) == ("dscp", {4})
    assert port.classes is not None
    assert (port.classes[26], port.classes[27], port.classes[0]) == (4, 3, 1)


def test_pfc_that_is_switched_off_protects_nothing() -> None:
    qos = {**QOS, "profiles": [{"name": "R", "pfc": False, "no_drop": [4]}]}
    assert gathered({**TRUNK, "qos_profile": "R"}, qos=qos).no_drop == frozenset()


def test_a_port_without_the_profile_that_it_should_have_has_no_pfc_and_else_nobody_knows() -> None:
    assert gathered(TRUNK, has_profile=True).no_drop == frozenset()
    assert gathered(TRUNK).no_drop is None


def test_the_reference_profile_as_declared() -> None:
    options = {"ports": [{**TRUNK, "qos_profile": "ROCE", "qos_trust": "dscp"}], "qos": REFERENCE}
    port = declared_port("t", options, "Ethernet25/1")
    assert (port.no_drop, port.trust, port.classes) == ({3}, "dscp", {26: 3, 48: 6})


def test_a_port_of_which_nothing_is_declared_says_nothing() -> None:
    assert declared_port("t", {"ports": [], "qos": None}, "Ethernet25/1") == PortEnd("t Ethernet25/1")


def test_a_nic_has_the_vlans_and_the_mtu_of_the_bond_that_it_is_in() -> None:
    interfaces = [
        {"name": "rnic0", "mac": "04:3f:72:00:01:02"},
        {"name": "bond0", "members": ["rnic0", "rnic1"], "mtu": 9000, "addresses": ["10.5.1.101/16"]},
        {"name": "bond0.300", "parent": "bond0", "vlan_id": 300},
        {"name": "other.301", "parent": "other", "vlan_id": 301},
    ]
    nic = nic_end("s", "rnic0", interfaces, {"pfc": [3], "dscp_map": {"26": 3}}, 101)
    assert nic == NicEnd("s rnic0", mtu=9000, vlan=101, tagged={"bond0.300": 300}, pfc=frozenset({3}), dscp_map={26: 3})


def test_an_interface_without_address_is_meant_for_no_vlan() -> None:
    assert nic_end("s", "rnic0", [{"name": "rnic0", "addresses": []}], {}, 101).vlan is None
