# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hypervisors: several vPODs on one server, kept apart by virtual functions and by tags on its port."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import interfaces_from
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.hosts import host_variables
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

HYPERVISOR, PORT = "p-poplar2", "Ethernet27/1"


def guest(vlan: int | None, function: int | None, **words: Any) -> dict[str, Any]:
    declared = {"cluster": "c", "ipus": 16, "vlan": vlan, "virtual_function": function, "poplar_servers": [HYPERVISOR]}
    return {key: value for key, value in {**declared, **words}.items() if value is not None}


def document(pod: dict[str, Any] | None = None, **vpods: Any) -> dict[str, Any]:
    words = {
        "model": "bow-pod64",
        "poplar_servers": 2,
        "rnic": {"vlan": 100},
        "vlans": {"storage": 300, "quarantine": 999},
        "hypervisors": [HYPERVISOR],
        "virtual_functions": 4,
    }
    return {
        "schema": 1,
        "pods": {"p": {key: value for key, value in {**words, **(pod or {})}.items() if value is not None}},
        "controllers": {"v": {"host": "p-poplar1"}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": vpods,
    }


def desired_of(declared: dict[str, Any]) -> dict[str, dict[str, Any]]:
    declaration = parse_declaration(declared)
    return desired(declaration, place(declaration, {}))


def functions(declared: dict[str, Any]) -> dict[int, int]:
    """Number of each virtual function of the hypervisor to its VLAN."""
    (interface,) = desired_of(declared)["poplar_servers"][HYPERVISOR]["interfaces"]
    return {each["index"]: each["vlan"] for each in interface["virtual_functions"]}


def problems(declared: dict[str, Any]) -> list[str]:
    with pytest.raises(DeclarationError) as refused:
        parse_declaration(declared)
    return refused.value.problems


def test_each_vpod_has_its_function_and_the_others_rest_in_quarantine() -> None:
    assert functions(document(alice=guest(101, 2), bob=guest(102, 0))) == {0: 102, 1: 999, 2: 101, 3: 999}


def test_without_quarantine_a_free_function_is_in_no_vlan() -> None:
    assert functions(document({"vlans": None}, alice=guest(101, 2))) == {0: 0, 1: 0, 2: 101, 3: 0}


def test_neither_number_nor_function_of_a_vpod_changes_when_others_come_and_go() -> None:
    alone, together = (
        functions(document(alice=guest(101, 2))),
        functions(document(bob=guest(102, 0), alice=guest(101, 2))),
    )
    assert alone.keys() == together.keys()
    assert alone[2] == together[2] == 101


def test_the_functions_are_what_rnic_network_takes() -> None:
    (interface,) = desired_of(document(alice=guest(101, 2)))["poplar_servers"][HYPERVISOR]["interfaces"]
    (taken,) = interfaces_from([interface])
    assert [each.mac for each in taken.virtual_functions or ()] == [f"02:0{n}:0a:01:05:66" for n in range(4)]
    assert not any(each.trust for each in taken.virtual_functions or ())
    assert all(each.spoof_check for each in taken.virtual_functions or ())


def test_its_port_is_the_pods_and_carries_its_vpods_tagged() -> None:
    switch = desired_of(document(alice=guest(101, 2), bob=guest(102, 0)))["tor_switches"]["p-tor"]
    port = {each["name"]: each for each in switch["ports"]}[PORT]
    assert (port["owner"], port["mode"], port["native_vlan"]) == ("pod", "trunk", 100)
    assert port["allowed_vlans"] == ["100-102", "300"]


def test_a_port_whose_vlans_are_declared_carries_its_vpods_all_the_same() -> None:
    pod = {"tor": {"ports": {"Et27/1": {"mode": "trunk", "native_vlan": 100, "vlans": ["storage"]}}}}
    switch = desired_of(document(pod, alice=guest(101, 2)))["tor_switches"]["p-tor"]
    assert {each["name"]: each for each in switch["ports"]}[PORT]["allowed_vlans"] == ["100-101", "300"]


def test_a_vlan_that_only_a_hypervisor_carries_is_on_the_switch() -> None:
    declared = document(alice=guest(101, 2))
    declared["pods"]["q"] = {"model": "bow-pod64", "lrack": 2, "names": {"poplar_server": "{pod}-poplar{n}"}}
    declared["pods"]["p"]["addressing"] = declared["pods"]["q"]["addressing"] = "multi-rack"
    declared["clusters"]["c"].update(pods=["q"], spine=True)
    assert 101 in [vlan["vlan_id"] for vlan in desired_of(declared)["tor_switches"]["p-tor"]["vlans"]]


def test_the_host_itself_is_no_tenant() -> None:
    declared = document(alice=guest(101, 2, partitions={"train": {"ipus": 16}}))
    server = desired_of(declared)["poplar_servers"][HYPERVISOR]
    assert (server["owner"], server["vipu"], server["partitions"]) == ("pod", None, [])
    assert server["peers"].keys() == {f"p-ipum{n}" for n in range(5, 17)}
    assert host_variables(parse_declaration(declared))[HYPERVISOR]["rnic_vlan"] == 100


def test_a_bare_metal_server_in_two_vpods_is_refused_with_both_places() -> None:
    both = {"alice": guest(101, None), "bob": guest(102, None)}
    assert problems(document({"hypervisors": None}, **both)) == [
        f"vpods.bob.poplar_servers: {HYPERVISOR!r} already belongs to vpods.alice; remove it from one, or name it in "
        "hypervisors of its pod"
    ]


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        (
            document({"hypervisors": ["p-poplar7"]}),
            "pods.p.hypervisors: 'p-poplar7' is no Poplar server (did you mean p-poplar2?); the servers are p-poplar1, "
            "p-poplar2",
        ),
        (
            document({"rnic": None}, alice=guest(101, 0)),
            "pods.p.hypervisors: their ports are trunks; declare pods.p.rnic.vlan, the VLAN that these carry untagged, "
            "for the host",
        ),
        (
            document(alice=guest(101, None)),
            "vpods.alice.virtual_function: is missing; say which one of p-poplar2, a hypervisor, it gets, 0 to 3",
        ),
        (
            document(alice=guest(None, 0)),
            "vpods.alice.vlan: is missing; only by its VLAN p-poplar2, a hypervisor, keeps it apart from others",
        ),
        (
            document(alice=guest(101, 4)),
            "vpods.alice.virtual_function: p-poplar2 has pods.p.virtual_functions 4, counted from 0; use a smaller "
            "number",
        ),
        (
            document(alice=guest(101, 1), bob=guest(102, 1)),
            "vpods.bob.virtual_function: 1 of p-poplar2 is already that of vpods.alice; use another",
        ),
        (
            document(alice=guest(101, 1, poplar_servers=["p-poplar1"])),
            "vpods.alice.virtual_function: it is for hypervisors, and none of its servers is one; leave it out",
        ),
    ],
)
def test_one_sentence_on_what_cannot_be(declared: dict[str, Any], problem: str) -> None:
    assert problems(declared) == [problem]
