# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clouds in pods.yml: their defaults, and what is refused of them in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration
from tests.support.in_memory.cloud_of_controller import document as controllers_document

CLOUD = {"physical_network": "rnic", "control_network": "control", "control_sources": ["10.6.0.0/16"]}
KEPT = {"machines": "kept", "image": "poplar", "key": "ssh-ed25519 AAAA alice"}


def document(share: dict[str, Any], pod: dict[str, Any] | None = None, **vpod: Any) -> dict[str, Any]:
    pod001 = {
        "model": "bow-pod64",
        "poplar_servers": 4,
        "rnic": {"vlan": 100},
        "vlans": {"storage": 300},
        "hypervisors": ["pod001-poplar3", "pod001-poplar4"],
        "virtual_functions": 0,
    }
    alice = {"cluster": "c001", "ipus": 16, "vlan": 101, "poplar_servers": ["pod001-poplar3"]}
    return {
        "schema": 1,
        "clouds": {"cloud001": CLOUD},
        "pods": {"pod001": {**pod001, **(pod or {})}},
        "controllers": {"ctrl001": {"host": "pod001-poplar1"}},
        "clusters": {"c001": {"controller": "ctrl001", "pods": ["pod001"]}},
        "vpods": {"alice": {**alice, "cloud": {"name": "cloud001", **share}, **vpod}},
    }


def problems(given: dict[str, Any]) -> list[str]:
    try:
        parse_declaration(given)
    except DeclarationError as error:
        return error.problems
    return []


def with_bob(bob: dict[str, Any], name: str = "bob", **share: Any) -> dict[str, Any]:
    given = document({})
    other = {"cluster": "c001", "ipus": 4, "vlan": 102, "poplar_servers": ["pod001-poplar3"], **bob}
    given["vpods"][name] = {**other, "cloud": {"name": "cloud001", **share}}
    return given


def test_what_is_left_out_follows_from_the_vpod_and_from_the_name_of_the_cloud() -> None:
    declaration: Declaration = parse_declaration(document({"storage": {"vlan": 301, "subnet": "10.30.1.0/24"}}))
    cloud, share = declaration.clouds["cloud001"], declaration.vpods["alice"].cloud
    assert (cloud.entry, cloud.control_sources, cloud.images) == ("cloud001", ("10.6.0.0/16",), ())
    assert share is not None
    assert share.storage is not None
    assert (share.project, share.domain, share.role, share.ipus_per_machine) == ("alice", "Default", "member", 16)
    assert (share.machine.numa_nodes, share.is_kept, share.storage.physical_network) == (None, False, "rnic")


def test_whom_machines_of_a_cloud_are_reachable_for_has_to_be_said() -> None:
    given = document({})
    given["clouds"]["cloud001"] = {**CLOUD}
    del given["clouds"]["cloud001"]["control_sources"]
    assert problems(given) == ["clouds.cloud001.control_sources: is missing; it has to be declared"]


def test_machines_of_a_cloud_need_no_number_of_a_virtual_function_and_take_none() -> None:
    assert problems(document({})) == []
    assert problems(document({}, virtual_function=0)) == [
        "vpods.alice.virtual_function: its hypervisors have none; leave it out"
    ]
    assert problems(document({}, pod={"virtual_functions": 2})) == []
    assert problems(document({}, pod={"virtual_functions": 2}, virtual_function=0)) == [
        "vpods.alice.virtual_function: Nova chooses the functions of its machines; leave it out"
    ]


def test_the_virtual_functions_of_a_hypervisor_are_novas_or_of_vpods_without_a_cloud() -> None:
    given = document({}, pod={"virtual_functions": 2})
    bob = {"cluster": "c001", "ipus": 4, "vlan": 102, "poplar_servers": ["pod001-poplar3"], "virtual_function": 0}
    given["vpods"]["bob"] = bob
    assert problems(given) == [
        "vpods.bob.poplar_servers: Nova has all virtual functions of 'pod001-poplar3', for the machines of "
        "vpods.alice.cloud; give bob another hypervisor"
    ]
    bob["poplar_servers"] = ["pod001-poplar4"]
    assert problems(given) == []


def test_the_machines_of_a_vpod_are_on_hypervisors_of_one_kind() -> None:
    given = document({}, poplar_servers=["pod001-poplar3", "pod002-poplar1"])
    given["pods"]["pod002"] = {**given["pods"]["pod001"], "hypervisors": ["pod002-poplar1"], "virtual_functions": 4}
    assert (
        "vpods.alice.cloud: the RNIC of pod002-poplar1 has virtual functions, and that of pod001-poplar3 none; "
        "machines of a vPOD have one kind of port"
    ) in problems(given)


def test_the_vpods_of_one_cloud_have_projects_of_their_own() -> None:
    assert problems(with_bob({})) == []
    assert problems(with_bob({}, project="alice")) == [
        "vpods.bob.cloud.project: 'alice' is already the project of vpods.alice.cloud.project; each has one of its own"
    ]


@pytest.mark.parametrize(
    ("controllers", "message"),
    [
        ({"pod001-poplar1": "10.6.0.200"}, None),
        ({"pod001-poplar1": "10.6.0"}, "pod001-poplar1: '10.6.0' is not an IPv4 address"),
        (
            {"ctrl001": "10.6.0.200"},
            "ctrl001: 'ctrl001' is no declared host of a V-IPU controller; known are pod001-poplar1",
        ),
    ],
)
def test_the_addresses_of_controllers_in_a_cloud_are_of_their_hosts(
    controllers: dict[str, str], message: str | None
) -> None:
    given = document({})
    given["clouds"]["cloud001"] = {**CLOUD, "controllers": controllers}
    found = problems(given)
    assert len(found) == (message is not None)
    assert all(each.startswith(f"clouds.cloud001.controllers.{message}") for each in found)


def test_each_host_of_a_controller_has_an_address_of_its_own_in_a_cloud() -> None:
    given = document({})
    given["controllers"]["ctrl002"] = {"address": "10.1.3.201"}
    given["clouds"]["cloud001"] = {**CLOUD, "controllers": {"pod001-poplar1": "10.6.0.2", "ctrl002": "10.6.0.2"}}
    assert problems(given) == [
        "clouds.cloud001.controllers.ctrl002: 10.6.0.2 is already that of pod001-poplar1; give each host its own"
    ]


@pytest.mark.parametrize(
    ("share", "message"),
    [
        ({"name": "cloud002"}, "name: 'cloud002' is no declared cloud (did you mean cloud001?); known are "),
        ({"ipus_per_machine": 5}, "ipus_per_machine: 16 IPUs are no multiple of 5; use a divisor of 16"),
        (
            {"machines": "kept", "key": KEPT["key"]},
            "image: is missing; machines that the run keeps need it, or say machines: tenant",
        ),
        (
            {"machines": "kept", "image": "poplar"},
            "key: is missing; machines that the run keeps need it, or say machines: tenant",
        ),
        (
            {"volumes": {"data": 10}},
            "volumes: are of machines that the run keeps; say machines: kept, or leave them to the tenant",
        ),
        (
            {"storage": {"vlan": 101, "subnet": "10.30.1.0/24"}},
            "storage.vlan: VLAN 101 is also vpods.alice.vlan; give each its own",
        ),
        (
            {"storage": {"vlan": 300, "subnet": "10.30.1.0/24"}},
            "storage.vlan: VLAN 300 is also pods.pod001.vlans.storage; give each its own",
        ),
        (
            {"storage": {"vlan": 4095, "subnet": "10.30.1.0/24"}},
            "storage.vlan: 4095 is not a whole number from 2 to 4094",
        ),
        (
            {"storage": {"vlan": 301, "subnet": "10.30.1.1/24"}},
            "storage.subnet: '10.30.1.1/24' is not a network such as 10.30.1.0/24",
        ),
        (
            {"storage": {"vlan": 301, "subnet": "10.0.0.0/8"}},
            "storage.subnet: 10.0.0.0/8 overlaps ",
        ),
        (
            {"storage": {"vlan": 301, "subnet": "10.1.3.0/24"}},
            "storage.subnet: 10.1.3.0/24 has ",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(share: dict[str, Any], message: str) -> None:
    found = problems(document(share, pod={"addressing": "factory"}))
    assert len(found) == 1
    assert found[0].startswith(f"vpods.alice.cloud.{message}")


def test_a_server_that_is_no_hypervisor_carries_no_machines() -> None:
    assert problems(document({}, poplar_servers=["pod001-poplar2"])) == [
        "vpods.alice.cloud: 'pod001-poplar2' is bare metal and carries no machines; name it in hypervisors of its pod"
    ]
    assert problems(document({}, poplar_servers=[])) == [
        "vpods.alice.cloud: its machines need hypervisors; name them in vpods.alice.poplar_servers"
    ]


def test_no_more_machines_are_kept_than_its_hypervisors_have_addresses() -> None:
    tight = document({**KEPT, "ipus_per_machine": 1}, ipus=64)
    assert problems(tight) == [
        "vpods.alice.cloud.ipus_per_machine: 64 machines are more than the 32 addresses of its hypervisors; use a "
        "larger number"
    ]
    assert problems(document({**KEPT, "ipus_per_machine": 2}, ipus=64)) == []


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("pod001", "pods.pod001"),
        ("pod001-tor", "a device of pod001"),
        ("ctrl001", "controllers.ctrl001"),
        ("clouds", "a group that always exists"),
    ],
)
def test_a_cloud_has_a_name_of_its_own(name: str, whose: str) -> None:
    given = document({"name": name})
    given["clouds"] = {name: CLOUD}
    assert problems(given) == [f"clouds.{name}: {name!r} is the name of {whose}; give the cloud another name"]


def test_machines_have_addresses_that_no_device_has() -> None:
    taken = {"overrides": {"pod001-ipum1": {"rnic_address": "10.1.5.200"}}}
    assert problems(document({}, pod=taken)) == [
        "vpods.alice.cloud: machines on pod001-poplar3 would have addresses of 10.1.5.192/27, of which pod001-ipum1 "
        "has 10.1.5.200; give that one another"
    ]


def test_the_hypervisors_of_a_vpod_are_in_one_rnic_network() -> None:
    elsewhere = {"overrides": {"pod001-poplar4": {"rnic_address": "10.9.5.104"}}}
    found = problems(document({}, pod=elsewhere, poplar_servers=["pod001-poplar3", "pod001-poplar4"]))
    nics = "the RNICs of pod001-poplar4 and pod001-poplar3"
    assert f"vpods.alice.cloud: {nics} are in different networks; machines of a vPOD are in one" in found


def test_the_machine_of_a_dedicated_controller_is_taken_with_its_addresses() -> None:
    assert problems(controllers_document()) == []


def test_the_machine_of_a_controller_needs_a_dedicated_one_with_an_address() -> None:
    said = (
        "vpods.alice.cloud.controller: is the machine of a dedicated controller; say controller: dedicated and its "
        "controller_address in vpods.alice, or leave it out"
    )
    assert said in problems(controllers_document(controller_address=None, controller="dedicated"))
    assert said in problems(controllers_document(controller_address=None, controller="shared"))


def test_the_machine_of_a_controller_needs_a_management_network_and_an_address_for_its_users() -> None:
    given = controllers_document()
    del given["clouds"]["cloud001"]["management"], given["clouds"]["cloud001"]["controllers"]
    assert problems(given) == [
        "clouds.cloud001.management: is missing; the machine of alice-controller needs a port there",
        "clouds.cloud001.controllers: has no alice-controller; say there by which address machines of vPOD alice reach "
        "it",
    ]


def test_a_poplar_server_has_no_machine_on_the_management_network() -> None:
    given = controllers_document()
    given["clouds"]["cloud001"]["management"]["hypervisors"] = ["compute001", "pod001-poplar4"]
    assert problems(given) == [
        "clouds.cloud001.management.hypervisors: 'pod001-poplar4' is a Poplar server, which gives tenants' machines no "
        "way to management addresses; name compute nodes that are none"
    ]


def test_the_project_of_a_controller_is_nobody_elses() -> None:
    given = controllers_document()
    given["vpods"]["alice"]["cloud"]["project"] = "alice-controller"
    assert problems(given) == [
        "vpods.alice.cloud.controller: 'alice-controller' is already the project of vpods.alice.cloud.project; each "
        "has one of its own"
    ]
