# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desired state of switches: ports by role with one owner each, and nothing set where nothing was declared."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place

VLANS = {"storage": 300, "quarantine": 999}
ALICE = {"cluster": "c", "ipus": 16, "vlan": 101, "vni": 10101, "poplar_servers": ["p-poplar2"]}


def switches(vpods: dict[str, Any] | None = None, **pod: Any) -> dict[str, dict[str, Any]]:
    declaration = parse_declaration(
        {
            "schema": 1,
            "pods": {"p": {"model": "bow-pod64", "poplar_servers": 2, "vlans": VLANS, **pod}},
            "controllers": {"v": {"host": "p-poplar1"}},
            "clusters": {"c": {"controller": "v", "pods": ["p"]}},
            "vpods": vpods or {},
        }
    )
    wanted = desired(declaration, place(declaration, {}))
    return {**wanted["tor_switches"], **wanted["management_switches"]}


def ports(vpods: dict[str, Any] | None = None, **words: Any) -> dict[str, dict[str, Any]]:
    """The declared settings of each port, without those that are kept."""
    return {
        port["name"]: {key: value for key, value in port.items() if value is not None}
        for port in switches(vpods, tor=words)["p-tor"]["ports"]
    }


def test_only_the_first_port_of_every_device_is_managed_unasked() -> None:
    assert list(ports()) == [*(f"Ethernet{n}/1" for n in range(9, 26)), "Ethernet27/1"]


def test_a_second_server_port_is_as_the_first_once_it_is_named() -> None:
    wanted = ports({"alice": ALICE}, ports={"Et28": {}})
    assert wanted["Ethernet28/1"] == {
        **wanted["Ethernet27/1"],
        "name": "Ethernet28/1",
        "description": "p-poplar2 RNIC 2",
    }


def test_an_external_port_is_marked_external_and_nothing_else() -> None:
    wanted = ports({"alice": ALICE}, roce="reference", ports={"Et9/1": {"owner": "external"}})
    assert wanted["Ethernet9/1"] == {"name": "Ethernet9/1", "owner": "external"}


def test_no_vlan_is_made_for_a_vpod_whose_ports_are_all_external() -> None:
    bob = {"bob": {"cluster": "c", "ipus": 4, "vlan": 102}}
    external = {"Et9": {"owner": "external"}}
    assert 102 in [vlan["vlan_id"] for vlan in switches(bob)["p-tor"]["vlans"]]
    vlans = {vlan["vlan_id"]: vlan for vlan in switches(bob, tor={"ports": external})["p-tor"]["vlans"]}
    assert vlans[102] == {"vlan_id": 102, "name": "vpod-bob", "state": "absent"}


def test_vlans_have_their_names_and_their_vxlan_networks() -> None:
    assert switches({"alice": ALICE}, rnic={"vlan": 100, "vni": 10100})["p-tor"]["vlans"] == [
        {"vlan_id": 100, "name": "p-rnic", "vni": 10100},
        {"vlan_id": 101, "name": "vpod-alice", "vni": 10101},
        {"vlan_id": 300, "name": "storage"},
        {"vlan_id": 999, "name": "quarantine"},
    ]


def test_a_server_carries_its_tenants_vlan_and_the_pods_but_not_the_quarantine() -> None:
    assert ports({"alice": ALICE})["Ethernet27/1"]["allowed_vlans"] == ["101", "300"]


def test_what_the_owner_says_of_a_server_port_keeps_its_tenants_vlan() -> None:
    declared = {"Et27": {"vlans": ["storage", 400], "description": "alice", "mtu": 9000}}
    port = ports({"alice": ALICE}, mtu=9214, ports=declared)["Ethernet27/1"]
    assert (port["native_vlan"], port["allowed_vlans"]) == (101, ["101", "300", "400"])
    assert (port["description"], port["mtu"]) == ("alice", 9000)


def test_another_mode_takes_nothing_from_what_is_derived() -> None:
    port = ports({"alice": ALICE}, ports={"Et27": {"mode": "access", "vlan": 101}})["Ethernet27/1"]
    assert (port["mode"], port["vlan"]) == ("access", 101)
    assert port.keys().isdisjoint({"native_vlan", "allowed_vlans"})


@pytest.mark.parametrize(
    ("declared", "rest"),
    [
        ({"role": "storage"}, {"mode": "access", "vlan": 300, "mtu": 9214}),
        (
            {"role": "storage", "mode": "trunk", "native_vlan": 5, "vlans": ["storage"]},
            {"mode": "trunk", "native_vlan": 5, "allowed_vlans": ["5", "300"], "mtu": 9214},
        ),
        ({"role": "spare"}, {"mode": "access", "vlan": 999}),
        ({"description": "to the lab"}, {"description": "to the lab"}),
    ],
)
def test_roles_of_ports_that_no_device_has(declared: dict[str, Any], rest: dict[str, Any]) -> None:
    port = ports(mtu=9214, spare_ports="quarantine", ports={"Et32": declared})["Ethernet32/1"]
    assert port == {"name": "Ethernet32/1", "owner": "pod", **rest}


def test_spare_ports_go_into_quarantine_and_uplinks_do_not() -> None:
    def quarantined(**words: Any) -> list[str]:
        return [name for name, port in ports(**words).items() if 999 in (port.get("vlan"), port.get("native_vlan"))]

    cabled = [*(f"Ethernet{n}/1" for n in range(9, 26)), "Ethernet27/1"]
    assert quarantined() == cabled
    assert quarantined(spare_ports="quarantine") == [*cabled, *(f"Ethernet{n}/1" for n in range(29, 33))]


@pytest.mark.parametrize(("rnic", "vlan", "left"), [({"vlan": 100}, 100, ["101", "999"]), ({}, 999, ["101"])])
def test_what_no_vpod_has_rests_in_the_vlan_of_the_pod_and_without_one_in_quarantine(
    rnic: Any, vlan: int, left: list[str]
) -> None:
    wanted = {port["name"]: port for port in switches({"alice": ALICE}, rnic=rnic)["p-tor"]["ports"]}
    assert [wanted[f"Ethernet{n}/1"]["vlan"] for n in (9, 13)] == [101, vlan]
    assert wanted["Ethernet25/1"]["native_vlan"] == vlan
    assert wanted["Ethernet25/1"]["not_allowed_vlans"] == left


@pytest.mark.parametrize(("rnic", "left"), [({"vlan": 100}, ["100", "999"]), ({}, ["999"])])
def test_a_server_that_gets_a_vpod_leaves_where_it_rested(rnic: Any, left: list[str]) -> None:
    wanted = {port["name"]: port for port in switches({"alice": ALICE}, rnic=rnic)["p-tor"]["ports"]}
    assert wanted["Ethernet27/1"]["native_vlan"] == 101
    assert wanted["Ethernet27/1"]["not_allowed_vlans"] == left


def test_without_either_a_port_that_no_vpod_has_is_kept() -> None:
    wanted = {port["name"]: port for port in switches({"alice": ALICE}, vlans={"storage": 300})["p-tor"]["ports"]}
    assert not {"mode", "vlan", "native_vlan", "not_allowed_vlans"} & {*wanted["Ethernet13/1"], *wanted["Ethernet25/1"]}


def test_a_vpod_without_a_vlan_of_its_own_is_not_in_quarantine() -> None:
    bob = {"cluster": "c", "ipus": 4, "poplar_servers": ["p-poplar1"]}
    assert "mode" not in ports({"bob": bob})["Ethernet9/1"]


def test_a_vpod_that_is_to_go_leaves_neither_port_nor_vlan() -> None:
    tor = switches({"alice": {"cluster": "c", "vlan": 101, "poplar_servers": ["p-poplar2"], "state": "absent"}})[
        "p-tor"
    ]
    wanted = {port["name"]: port for port in tor["ports"]}
    assert {port["owner"] for port in wanted.values()} == {"pod"}
    assert (wanted["Ethernet9/1"]["vlan"], wanted["Ethernet27/1"]["native_vlan"]) == (999, 999)
    assert wanted["Ethernet27/1"]["not_allowed_vlans"] == ["101"]
    assert {"vlan_id": 101, "name": "vpod-alice", "state": "absent"} in tor["vlans"]


def test_uplinks_are_touched_only_by_name() -> None:
    wanted = ports(mtu=9214, ports={"Et1": {"mode": "trunk", "vlans": [101]}, "Et2": {"owner": "external"}})
    assert wanted["Ethernet1/1"] == {
        "name": "Ethernet1/1",
        "owner": "pod",
        "mtu": 9214,
        "mode": "trunk",
        "allowed_vlans": ["101"],
    }
    assert wanted["Ethernet2/1"] == {"name": "Ethernet2/1", "owner": "external"}
    assert "Ethernet3/1" not in wanted


def test_roce_is_one_line() -> None:
    given = {"Et1": {}, "Et9": {"roce": False}, "Et29": {"role": "storage"}, "Et30": {"role": "storage", "roce": True}}
    wanted = ports(roce="reference", ports=given)
    have = {name for name, port in wanted.items() if port.get("qos_profile") == "ROCE" and port["qos_trust"] == "dscp"}
    assert have == {f"Ethernet{n}/1" for n in (1, *range(10, 26), 27, 30)}
    switch = switches(tor={"roce": {"priority": 4}})["p-tor"]
    assert switch["qos"]["profiles"][0]["no_drop"] == [4]
    assert switches()["p-tor"]["qos"] is None


def test_a_servers_bond_is_one_port_channel_with_what_the_server_port_would_have_had() -> None:
    member = {"channel_group": 25, "lacp": "active"}
    wanted = ports(
        {"alice": ALICE}, mtu=9214, roce="reference", canary=["p-poplar2"], ports={"Et27": member, "Et28": member}
    )
    assert wanted["Port-Channel25"] == {
        "name": "Port-Channel25",
        "owner": "vpod alice",
        "mode": "trunk",
        "native_vlan": 101,
        "allowed_vlans": ["101", "300"],
        "not_allowed_vlans": ["999"],
        "mtu": 9214,
    }
    assert wanted["Ethernet28/1"] == {
        "name": "Ethernet28/1",
        "owner": "vpod alice",
        "description": "p-poplar2 RNIC 2",
        "qos_profile": "ROCE",
        "qos_trust": "dscp",
        **member,
    }


def test_the_settings_of_a_port_channel_take_precedence() -> None:
    declared = {"Et27": {"channel_group": 25}, "Port-Channel25": {"vlans": ["storage"], "mtu": 9000}}
    channel = ports({"alice": ALICE}, mtu=9214, ports=declared)["Port-Channel25"]
    assert (channel["mode"], channel["mtu"], channel["owner"]) == ("trunk", 9000, "vpod alice")
    assert channel["allowed_vlans"] == ["101", "300"]


def test_canaries_are_ports_in_their_full_names() -> None:
    member = {"channel_group": 25}
    words = {"canary": ["p-poplar2", "Et9", "p-ipum3"], "ports": {"Et27": member, "Et28": member}}
    assert switches(tor=words)["p-tor"]["canary"] == [
        "Ethernet27/1",
        "Ethernet28/1",
        "Ethernet9/1",
        "Ethernet11/1",
        "Port-Channel25",
    ]


def test_cables_are_of_every_port_with_the_mac_that_is_known() -> None:
    cables = switches(overrides={"p-ipum3": {"switch_port": "Et8", "rnic_mac": "0c:42:a1:00:01:03"}})["p-tor"]["cables"]
    assert {"port": "Ethernet8/1", "device": "p-ipum3", "mac": "0c:42:a1:00:01:03"} in cables
    assert [cable["port"] for cable in cables if cable["device"] == "p-poplar1"] == ["Ethernet25/1", "Ethernet26/1"]
    assert len(cables) == 16 + 2 * 2


def test_servers_wake_the_machines_that_they_reach() -> None:
    arp_probes = switches({"alice": ALICE})["p-tor"]["arp_probes"]
    assert arp_probes["p-poplar2"] == {
        "interface": "ens2f0",
        "addresses": [f"10.1.5.{n}" for n in range(1, 5)],
        "ports": ["Ethernet27/1", *(f"Ethernet{n}/1" for n in range(9, 13))],
    }
    assert len(arp_probes["p-poplar1"]["addresses"]) == 12


def test_a_management_switch_is_what_is_declared_and_nothing_else() -> None:
    declared = {
        "address": "10.1.4.2",
        "vlans": {"bmc": 11},
        "ports": {"Et1": {"mode": "access", "vlan": "bmc"}, "Et48": {"owner": "external"}},
    }
    assert switches(management_switch=declared)["p-mgmt"] == {
        "vlans": [{"vlan_id": 11, "name": "bmc"}],
        "ports": [
            {"name": "Ethernet1", "owner": "pod", "mode": "access", "vlan": 11},
            {"name": "Ethernet48", "owner": "external"},
        ],
    }


def test_the_purpose_of_declared_ports_is_known() -> None:
    said = {"Et1": {"role": "uplink", "channel_group": 5}, "Et2": {"mtu": 9000}, "Et27": {"channel_group": 25}}
    tor = switches({"alice": ALICE}, tor={"ports": said, "spare_ports": "quarantine"})["p-tor"]
    roles = {name: tor["roles"].get(name) for name in ("Ethernet9/1", "Ethernet1/1", "Ethernet2/1", "Ethernet31/1")}
    assert roles == {
        "Ethernet9/1": "ipu_machine",
        "Ethernet1/1": "uplink",
        "Ethernet2/1": "uplink",
        "Ethernet31/1": "spare",
    }
    assert (tor["roles"]["Port-Channel5"], tor["roles"]["Port-Channel25"]) == ("uplink", "poplar_server")
    assert tor["roles"].keys() == {port["name"] for port in tor["ports"]}
