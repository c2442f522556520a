# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The data of the rack picture: whose each machine, server and port is."""

from __future__ import annotations

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._plan_page.rack import rack_of
from tests.support.reviewed_pod import declared, rack


def test_machines_stand_in_the_order_of_their_numbers_with_port_vlan_and_vpod() -> None:
    machines = rack()["pods"][0]["machines"]
    assert [machine["unit"] for machine in machines] == list(range(1, 17))
    assert machines[4] == {
        "name": "pod001-ipum5",
        "unit": 5,
        "ports": ["Ethernet13/1"],
        "vlan": 102,
        "vpod": "bob-pod001",
        "excluded": False,
    }
    assert (machines[8]["vlan"], machines[8]["vpod"]) == (99, None)


def test_a_server_is_in_the_vlan_that_its_first_port_carries_untagged() -> None:
    server = rack()["pods"][0]["servers"][1]
    assert server == {
        "name": "pod001-poplar2",
        "ports": ["Ethernet27/1", "Ethernet28/1"],
        "vlan": 102,
        "vpod": "bob-pod001",
    }


def test_the_switch_has_its_32_ports_and_those_that_are_named_beside_them() -> None:
    ports = {port["name"]: port for port in rack()["pods"][0]["switch"]["ports"]}
    assert len(ports) == 33
    assert ports["Ethernet1/1"]["role"] == "uplink"
    assert ports["Ethernet33/1"] == {
        "name": "Ethernet33/1",
        "role": "storage",
        "device": None,
        "vlan": 300,
        "vpod": None,
    }
    # Only the first RNIC port of a server belongs to its vPOD.
    assert (ports["Ethernet25/1"]["vpod"], ports["Ethernet26/1"]["vpod"]) == ("alice-pod001", None)


def test_a_member_of_a_port_channel_shows_the_vlan_of_its_channel() -> None:
    document = declared()
    document["pods"]["pod001"]["tor"]["ports"] = {"Et25": {"channel_group": 5}}
    ports = rack_of(parse_declaration(document), {})["pods"][0]["switch"]["ports"]
    assert {port["name"]: port["vlan"] for port in ports}["Ethernet25/1"] == 101


def test_a_vpod_is_listed_where_it_has_something_and_a_controller_stands_in_its_first_rack() -> None:
    pods = rack(2)["pods"]
    assert [[vpod["name"] for vpod in pod["vpods"]] for pod in pods] == [
        ["alice-pod001", "bob-pod001"],
        ["alice-pod002", "bob-pod002"],
    ]
    assert [pod["controllers"] for pod in pods] == [["ctrl001"], []]


def test_a_vpod_without_a_known_place_still_has_its_servers() -> None:
    pod = rack_of(parse_declaration(declared()), {})["pods"][0]
    assert [server["vpod"] for server in pod["servers"]] == ["alice-pod001", "bob-pod001"]
    assert {machine["vpod"] for machine in pod["machines"]} == {None}
