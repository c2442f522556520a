# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cables from a ToR's LLDP neighbours, and fleets in which tenants of different racks have one VLAN."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.switches import adopted
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration

Ports = dict[int, str]


def document(pods: int = 1, **tor: Any) -> dict[str, Any]:
    words = {"model": "bow-pod64", "addressing": "multi-rack", "poplar_servers": 2, "rnic": {"interface": "rnic0"}}
    return {
        "schema": 1,
        "pods": {f"p{n}": {**words, "lrack": n, **({"tor": tor} if tor else {})} for n in range(1, pods + 1)},
        "controllers": {"v": {"address": "10.9.9.9"}},
        "clusters": {f"c{n}": {"controller": "v", "pods": [f"p{n}"]} for n in range(1, pods + 1)},
        "vpods": {
            f"t{n}": {"cluster": f"c{n}", "ipus": 4, "ipu_machines": [f"p{n}-ipum1"]} for n in range(1, pods + 1)
        },
    }


def switch(machines: Ports, ends: dict[int, tuple[str, str]] | None = None, config: str = "") -> dict[str, Any]:
    seen = {number: (device, "eth0") for number, device in machines.items()}
    neighbours = {
        f"Ethernet{number}/1": [{"device": device, "port": end}]
        for number, (device, end) in {**seen, **(ends or {})}.items()
    }
    ports = "".join(f"interface Ethernet{number}/1\n" for number in range(1, 33))
    return {**gathered(parse(f"{ports}{config}end\n")), "neighbours": neighbours, "macs": {}}


def rack_from(there: dict[str, Any], **tor: Any) -> tuple[dict[str, Any], list[str]]:
    adoption = adopted(document(**tor), {"p1-tor": there})
    return adoption.document["pods"]["p1"], adoption.reasons


ASCENDING = {n + 8: f"p1-ipum{n}" for n in range(1, 17)}
DESCENDING = {25 - n: f"p1-ipum{n}" for n in range(1, 17)}


def test_the_port_map_is_not_declared() -> None:
    rack, reasons = rack_from(switch(ASCENDING))
    assert (rack["tor"], "overrides" in rack, reasons) == ({"descriptions": "kept"}, False, [])


def test_a_rack_that_is_cabled_from_the_top_down_is_descending() -> None:
    assert rack_from(switch(DESCENDING))[0]["tor"]["ipu_machine_order"] == "descending"
    back = rack_from(switch(ASCENDING), ipu_machine_order="descending")[0]["tor"]
    assert back["ipu_machine_order"] == "ascending"


def test_swapped_cables_are_exceptions_by_name() -> None:
    swapped = {**DESCENDING, 22: "p1-ipum4", 21: "p1-ipum3"}
    rack, reasons = rack_from(switch(swapped))
    assert rack["overrides"] == {
        "p1-ipum3": {"switch_port": "Ethernet21/1"},
        "p1-ipum4": {"switch_port": "Ethernet22/1"},
    }
    assert reasons == []


def test_an_exception_that_is_none_any_more_is_forgotten() -> None:
    there = document()
    there["pods"]["p1"]["overrides"] = {
        "p1-ipum3": {"switch_port": "Et12", "bmc_address": "10.9.9.3"},
        "p1-ipum4": {"switch_port": "Et11"},
    }
    rack = adopted(there, {"p1-tor": switch(ASCENDING)}).document["pods"]["p1"]
    assert rack["overrides"] == {"p1-ipum3": {"bmc_address": "10.9.9.3"}}


def test_a_server_says_itself_which_of_its_ports_is_the_first() -> None:
    turned = {25: ("p1-poplar1", "rnic1"), 26: ("p1-poplar1", "rnic0")}
    rack, _reasons = rack_from(switch(ASCENDING, turned))
    assert rack["overrides"] == {"p1-poplar1": {"switch_ports": ["Ethernet26/1", "Ethernet25/1"]}}
    moved = {29: ("p1-poplar1", "rnic1"), 30: ("p1-poplar1", "rnic0")}
    rack, _reasons = rack_from(switch(ASCENDING, moved))
    assert rack["overrides"] == {"p1-poplar1": {"switch_ports": ["Ethernet30/1", "Ethernet29/1"]}}
    nameless = {29: ("p1-poplar1", "a"), 30: ("p1-poplar1", "b")}
    assert "overrides" not in rack_from(switch(ASCENDING, nameless))[0]


def test_cables_that_contradict_each_other_are_not_taken() -> None:
    lonely = {12: "p1-ipum3"}
    rack, reasons = rack_from(switch(lonely))
    assert "overrides" not in rack
    assert reasons == ["p1-tor: its cables stay as declared, because those seen contradict each other"]


TENANT = "vlan 101\n   name vpod-t1\ninterface Ethernet9/1\n   switchport access vlan 101\n"


@pytest.mark.parametrize("pods", [2, 3])
def test_a_vlan_is_declared_for_the_first_of_the_tenants_that_have_it(pods: int) -> None:
    adoption = adopted(document(pods), {f"p{n}-tor": switch({}, config=TENANT) for n in range(1, pods + 1)})
    assert [vpod.vlan for vpod in parse_declaration(adoption.document).vpods.values()] == [101, *[None] * (pods - 1)]
    # The ports of the others stay as they are, by name.
    for n in range(2, pods + 1):
        assert adoption.document["pods"][f"p{n}"]["tor"]["ports"]["Ethernet9/1"]["vlan"] == 101


def test_the_declaration_of_a_switch_that_was_not_read_is_kept() -> None:
    there = document(2)
    there["vpods"]["t2"]["vlan"] = 202
    there["pods"]["p2"]["tor"] = {"mtu": 9000}
    adoption = adopted(there, {"p1-tor": switch({}, config=TENANT)})
    assert adoption.document["vpods"]["t2"]["vlan"] == 202
    assert adoption.document["pods"]["p2"] == there["pods"]["p2"]
    assert adoption.document["vpods"]["t1"]["vlan"] == 101


def test_a_server_of_another_rack_in_a_tenants_vlan_shows_that_the_racks_are_joined() -> None:
    there = document(2)
    there["clusters"] = {"c1": {"controller": "v", "pods": ["p1", "p2"]}}
    del there["vpods"]["t2"]
    trunk = "interface Ethernet25/1\n   switchport mode trunk\n   switchport trunk native vlan 101\n"
    adoption = adopted(there, {"p1-tor": switch({}, config=TENANT), "p2-tor": switch({}, config=trunk)})
    assert adoption.document["vpods"]["t1"]["poplar_servers"] == ["p2-poplar1"]
    assert adoption.document["clusters"]["c1"]["spine"] is True
    near = adopted(there, {"p1-tor": switch({}, config=TENANT + trunk), "p2-tor": switch({})})
    assert "spine" not in near.document["clusters"]["c1"]


def test_a_tenant_on_machines_that_are_no_block_is_one_all_the_same() -> None:
    there = document()
    there["vpods"]["t1"].update(ipus=8, ipu_machines=["p1-ipum2", "p1-ipum3"])
    config = TENANT.replace("9/1", "10/1") + "interface Ethernet11/1\n   switchport access vlan 101\n"
    assert adopted(there, {"p1-tor": switch({}, config=config)}).document["vpods"]["t1"]["vlan"] == 101


@pytest.mark.parametrize(
    ("name", "numbers", "vlan"),
    [("alice-net", range(9, 10), 101), ("alice-net", range(9, 25), None), ("vpod-t1", range(9, 25), 101)],
)
def test_a_vlan_with_machines_of_others_is_nobodys_own_unless_it_is_called_so(
    name: str, numbers: range, vlan: int | None
) -> None:
    ports = "".join(f"interface Ethernet{number}/1\n   switchport access vlan 101\n" for number in numbers)
    found = adopted(document(), {"p1-tor": switch({}, config=f"vlan 101\n   name {name}\n{ports}")}).document
    assert found["vpods"]["t1"].get("vlan") == vlan
    assert found["pods"]["p1"]["rnic"].get("vlan") == (None if vlan else 101)


def test_a_free_server_in_a_tenants_vlan_is_the_tenants() -> None:
    trunk = "interface Ethernet25/1\n   switchport mode trunk\n   switchport trunk native vlan 101\n"
    adoption = adopted(document(), {"p1-tor": switch({}, config=TENANT + trunk)})
    assert adoption.document["vpods"]["t1"]["poplar_servers"] == ["p1-poplar1"]


def test_a_spare_port_that_differs_from_the_others_is_declared_in_full() -> None:
    """Named, it is not spare any more, and its VLAN does not follow from anything."""
    spare = {n: f"interface Ethernet{n}/1\n   switchport access vlan 999\n" for n in range(29, 33)}
    spare[30] += "   mtu 9000\n"
    config = "".join(["vlan 999\n   name quarantine\n", *spare.values()])
    rack, _ = rack_from(switch(ASCENDING, config=config))
    assert rack["tor"]["spare_ports"] == "quarantine"
    assert rack["tor"]["ports"]["Ethernet30/1"] == {"vlan": "quarantine", "mtu": 9000}
