# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the RNIC network for containers on a vPOD's servers."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.containers import shared_vlans
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

SERVERS = [f"p-poplar{n}" for n in range(1, 5)]
ALICE = {"cluster": "c", "ipus": 16, "poplar_servers": SERVERS[:3], "ipuof": "files", "containers": "macvlan"}


def document(pod: dict[str, Any] | None = None, **words: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64", "poplar_servers": 4, **(pod or {})}},
        "controllers": {"v": {"address": "10.1.3.200"}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": {"alice": declared_of({**ALICE, **words})},
    }


def declared_of(words: dict[str, Any]) -> dict[str, Any]:
    """Those that are not None."""
    return {key: value for key, value in words.items() if value is not None}


def settings_of(declared: dict[str, Any]) -> list[Any]:
    declaration = parse_declaration(declared)
    servers = desired(declaration, place(declaration, {}))["poplar_servers"]
    return [servers[name]["containers"] for name in SERVERS]


def problems(declared: dict[str, Any]) -> list[str]:
    with pytest.raises(DeclarationError) as refused:
        parse_declaration(declared)
    return refused.value.problems


def test_by_default_containers_get_no_settings() -> None:
    assert settings_of(document(containers=None)) == [[]] * 4


def test_each_server_has_a_range_of_its_own() -> None:
    (first,), (second,), (third,), without = settings_of(document())
    assert first == {
        "name": "alice",
        "ipus": 16,
        "allocation": "alice",
        "api_host": "10.1.3.200",
        "api_port": 8090,
        "vlan": None,
        "vipu": None,
        "vipu_kept": False,
        "network": {
            "name": "ipu-alice",
            "interface": "ens2f0",
            "function": None,
            "subnet": "10.1.5.0/24",
            "range": "10.1.5.128/27",
        },
    }
    assert [each["network"]["range"] for each in (second, third)] == ["10.1.5.160/27", "10.1.5.192/27"]
    assert without == []


@pytest.mark.parametrize(("addressing", "network"), [("factory", "10.1.5"), ("multi-rack", "10.5.7")])
def test_no_device_of_the_rack_is_in_a_range(addressing: str, network: str) -> None:
    declared = document({"addressing": addressing, "lrack": 7}, poplar_servers=SERVERS)
    ranges = [ip_network(each["network"]["range"]) for (each,) in settings_of(declared)]
    devices = [ip_address(f"{network}.{number}") for number in (*range(1, 17), *range(101, 105))]
    assert not [(block, device) for block in ranges for device in devices if device in block]
    assert all(not one.overlaps(other) for one in ranges for other in ranges if one is not other)


def test_a_macvlan_network_needs_files_because_it_reaches_no_controller() -> None:
    assert problems(document(ipuof="environment")) == [
        "vpods.alice.containers: a macvlan network reaches no V-IPU controller; declare vpods.alice.ipuof: files too"
    ]


@pytest.mark.parametrize(
    ("device", "address", "sentence"),
    [
        (
            "p-ipum5",
            "10.1.5.130",
            "containers on p-poplar1 would have addresses of 10.1.5.128/27, of which p-ipum5 has ",
        ),
        (
            "p-poplar4",
            "10.1.5.199",
            "containers on p-poplar3 would have addresses of 10.1.5.192/27, of which p-poplar4",
        ),
    ],
)
def test_an_address_that_a_device_has_is_refused(device: str, address: str, sentence: str) -> None:
    (problem,) = problems(document({"overrides": {device: {"rnic_address": address}}}))
    assert problem.startswith(f"vpods.alice.containers: {sentence}")


def test_a_subnet_without_the_range_is_refused() -> None:
    prefix = {name: {"rnic_prefix": 25} for name in SERVERS}
    found = problems(document({"overrides": prefix}))
    assert found[0].startswith("vpods.alice.containers: containers on p-poplar1 would have addresses of 10.1.5.128/27")


def shared(pod: dict[str, Any] | None = None, **alice: Any) -> dict[str, Any]:
    """Two vPODs on the fourth server."""
    hypervisors = {"hypervisors": SERVERS[3:], "rnic": {"vlan": 100}, **(pod or {})}
    declared = document(hypervisors, poplar_servers=SERVERS[3:], vlan=201, virtual_function=0, users=["alice"])
    bob = {**declared["vpods"]["alice"], "vlan": 202, "virtual_function": 3, "users": ["bob"]}
    declared["controllers"]["v"]["mode"] = "secure"
    declared["vpods"] = {"alice": declared_of({**declared["vpods"]["alice"], **alice}), "bob": bob}
    return declared


def test_vpods_that_share_a_server_have_a_function_addresses_and_a_client_each() -> None:
    alice, bob = settings_of(shared())[3]
    assert (alice["vlan"], alice["vipu"]["user"], alice["vipu_kept"]) == (201, "alice", False)
    assert (bob["vlan"], bob["vipu"]["user"]) == (202, "bob")
    assert alice["network"] == {
        "name": "ipu-alice",
        "interface": "ens2f0",
        "function": 0,
        "subnet": "10.1.5.0/24",
        "range": "10.1.5.224/30",
    }
    assert (bob["network"]["function"], bob["network"]["range"]) == (3, "10.1.5.236/30")


def test_addresses_of_a_function_are_the_same_whoever_else_is_there() -> None:
    declared = shared({"virtual_functions": 4})
    del declared["vpods"]["alice"]
    assert [each["network"]["range"] for each in settings_of(declared)[3]] == ["10.1.5.236/30"]


def test_only_those_that_ask_for_it_have_containers_on_a_shared_server() -> None:
    assert [each["name"] for each in settings_of(shared(containers=None))[3]] == ["bob"]


@pytest.mark.parametrize(
    ("pod", "alice", "sentence"),
    [
        (
            {"virtual_functions": 16},
            {},
            "pods.p.virtual_functions: 16 functions share the 32 RNIC addresses that p-poplar4 has for containers, "
            "which is enough for 8; declare so many at most, or leave vpods.alice.containers out",
        ),
        ({}, {"virtual_function": None}, "vpods.alice.virtual_function: is missing; say which one of p-poplar4, a "),
        ({}, {"ipuof": "environment"}, "vpods.alice.containers: a macvlan network reaches no V-IPU controller; "),
        (
            {"overrides": {"p-ipum5": {"rnic_address": "10.1.5.226"}}},
            {},
            "vpods.alice.containers: containers on p-poplar4 would have addresses of 10.1.5.224/27, of which p-ipum5 ",
        ),
    ],
)
def test_what_a_shared_server_lacks_for_containers_is_said(
    pod: dict[str, Any], alice: dict[str, Any], sentence: str
) -> None:
    assert problems(shared(pod, **alice))[0].startswith(sentence)


def test_containers_on_a_bridge_of_a_hypervisor_are_refused() -> None:
    declared = shared({"virtual_functions": 0}, virtual_function=None)
    del declared["vpods"]["bob"]
    assert problems(declared) == [
        "vpods.alice.containers: p-poplar4 is a hypervisor without virtual functions, and its bridge never sees RDMA, "
        "so nothing would isolate containers there; declare pods.p.virtual_functions, or leave containers out"
    ]


def test_a_function_has_either_containers_or_a_machine() -> None:
    declared = shared()
    declared["machines"] = {"p-poplar4/build": {"vpod": "alice", "address": "10.9.0.2"}}
    assert problems(declared) == [
        "machines.p-poplar4/build: virtual function 0 of p-poplar4 is for the containers of vPOD alice; leave "
        "vpods.alice.containers out in pods.yml, and run vpods.yml, or use another hypervisor"
    ]


def test_a_cloud_has_all_functions() -> None:
    declared = shared(virtual_function=None)
    del declared["vpods"]["bob"]
    sources = {"control_network": "control", "control_sources": ["10.6.0.0/16"]}
    declared["clouds"] = {"cloud": {"physical_network": "rnic", **sources}}
    declared["vpods"]["alice"]["cloud"] = {"name": "cloud", "machines": "tenant"}
    assert problems(declared) == [
        "vpods.alice.containers: its machines in cloud have its virtual functions; leave containers or cloud out"
    ]


def test_containers_that_share_a_vlan_are_called_not_isolated() -> None:
    declared = shared(containers=None)
    declared["vpods"]["carol"] = {**ALICE, "ipus": 4, "poplar_servers": SERVERS[:1], "users": ["carol"]}
    assert shared_vlans(parse_declaration(declared)) == [
        f"vpods.{vpod}.containers: containers that share a VLAN are not isolated from each other, and those of {vpod} "
        f"share {vlan}; give people who must not reach each other's IPUs a vPOD each, with a VLAN of its own"
        for vpod, vlan in (("bob", "VLAN 202"), ("carol", "that of their pod"))
    ]
