# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What clouds should have for their vPODs, in the shape of the options of cloud_state."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.clouds import desired_clouds
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired

POD = {
    "model": "bow-pod64",
    "poplar_servers": 4,
    "rnic": {"vlan": 100, "mtu": 9000},
    "hypervisors": ["pod001-poplar3", "pod001-poplar4"],
    "virtual_functions": 0,
    "addressing": "multi-rack",
    "lrack": 1,
}
PLACED = {"alice": [f"pod001-ipum{index}" for index in (1, 2, 3, 4)]}


def document(share: dict[str, Any], **cloud: Any) -> dict[str, Any]:
    alice = {"cluster": "c001", "ipus": 16, "vlan": 101, "poplar_servers": ["pod001-poplar3"]}
    return {
        "schema": 1,
        "clouds": {
            "cloud001": {
                "physical_network": "rnic",
                "control_network": "control",
                "control_sources": ["10.6.0.0/16"],
                **cloud,
            }
        },
        "pods": {"pod001": POD},
        "controllers": {"ctrl001": {"host": "pod001-poplar1"}},
        "clusters": {"c001": {"controller": "ctrl001", "pods": ["pod001"]}},
        "vpods": {"alice": {**alice, "cloud": {"name": "cloud001", **share}}},
    }


def options(share: dict[str, Any], **cloud: Any) -> dict[str, Any]:
    return desired_clouds(parse_declaration(document(share, **cloud)))["cloud001"]


def test_without_clouds_there_is_nothing() -> None:
    given = document({})
    del given["clouds"], given["vpods"]
    assert desired_clouds(parse_declaration(given)) == {}


def test_a_tenant_who_makes_machines_gets_the_frame_of_them_alone() -> None:
    found = options({"users": ["ann"], "quota": {"cores": 8}}, images={"poplar": {"file": "/srv/poplar.qcow2"}})
    mine = {"vpod": "alice", "project": "alice"}
    assert found == {
        "entry": "cloud001",
        "projects": [{"name": "alice", "domain": "Default", "description": "vPOD alice", "vpod": "alice"}],
        "members": [{**mine, "user": "ann", "role": "member"}],
        "quotas": [{**mine, "cores": 8}],
        "networks": [{**mine, "name": "vpod-alice-rnic", "physical_network": "rnic", "vlan": 101, "mtu": 9000}],
        "subnets": [
            {
                "name": "vpod-alice-rnic",
                "vpod": "alice",
                "network": "vpod-alice-rnic",
                "cidr": "10.5.0.0/16",
                "pools": ["10.5.1.192-10.5.1.223"],
            }
        ],
        "security_groups": [
            {**mine, "name": "vpod-alice", "rules": [{"protocol": "tcp", "port": 22, "remote": "10.6.0.0/16"}]}
        ],
        "flavors": [
            {
                **mine,
                "name": "vpod-alice-16",
                "vcpus": 4,
                "ram": 8192,
                "disk": 20,
                "extra_specs": {"trait:CUSTOM_IPU_POD_ALICE": "required"},
            }
        ],
        "traits": [{"name": "CUSTOM_IPU_POD_ALICE", "vpod": "alice", "hypervisors": ["pod001-poplar3"]}],
        "images": [{"name": "poplar", "file": "/srv/poplar.qcow2", "disk_format": "qcow2"}],
        "volumes": [],
        "servers": [],
        "absent_vpods": ["alice:controller"],
    }


def test_machines_that_are_kept_have_addresses_and_volumes_of_their_own() -> None:
    share = {"machines": "kept", "image": "poplar", "key": "ssh-ed25519 AAAA ann", "ipus_per_machine": 8}
    found = options({**share, "volumes": {"data": 10}, "storage": {"vlan": 301, "subnet": "10.30.1.0/24"}})
    mine = {"vpod": "alice", "project": "alice"}
    assert [(each["name"], each["volumes"]) for each in found["servers"]] == [
        ("alice-1", ["alice-1-data"]),
        ("alice-2", ["alice-2-data"]),
    ]
    assert found["servers"][1]["ports"] == [
        {"network": "control", "address": None, "security_groups": ["vpod-alice"], "vnic_type": "normal"},
        {"network": "vpod-alice-rnic", "address": "10.5.1.193", "security_groups": [], "vnic_type": "normal"},
        {"network": "vpod-alice-storage", "address": None, "security_groups": [], "vnic_type": "normal"},
    ]
    assert {found["servers"][0][key] for key in ("flavor", "image", "key")} == {
        "vpod-alice-8",
        "poplar",
        "ssh-ed25519 AAAA ann",
    }
    assert found["volumes"] == [{**mine, "name": f"alice-{index}-data", "size": 10} for index in (1, 2)]
    assert found["networks"][1] == {
        **mine,
        "name": "vpod-alice-storage",
        "physical_network": "rnic",
        "vlan": 301,
        "mtu": None,
    }
    assert (found["subnets"][1]["cidr"], found["subnets"][1]["pools"]) == ("10.30.1.0/24", [])


@pytest.mark.parametrize(("physical", "storage"), [("rnic", "direct"), ("other", "normal")])
def test_machines_get_virtual_functions_where_the_rnics_of_their_hypervisors_have_them(
    physical: str, storage: str
) -> None:
    network = {"vlan": 301, "subnet": "10.30.1.0/24", "physical_network": physical}
    given = document({"machines": "kept", "image": "poplar", "key": "ssh-ed25519 AAAA ann", "storage": network})
    given["pods"]["pod001"]["virtual_functions"] = 8
    (server,) = desired_clouds(parse_declaration(given))["cloud001"]["servers"]
    assert [port["vnic_type"] for port in server["ports"]] == ["normal", "direct", storage]


def test_virtual_functions_of_machines_are_neutrons_to_set() -> None:
    given = document({})
    given["pods"]["pod001"]["virtual_functions"] = 8
    servers = desired(parse_declaration(given), PLACED)["poplar_servers"]
    assert "virtual_functions" not in servers["pod001-poplar3"]["interfaces"][0]
    assert len(servers["pod001-poplar4"]["interfaces"][0]["virtual_functions"]) == 8


def test_the_flavor_says_what_is_declared_of_cpus_and_memory() -> None:
    machine = {"vcpus": 8, "dedicated_cpus": True, "huge_pages": True, "numa_nodes": 2}
    (flavor,) = options({"machine": machine})["flavors"]
    assert flavor["extra_specs"] == {
        "trait:CUSTOM_IPU_POD_ALICE": "required",
        "hw:cpu_policy": "dedicated",
        "hw:mem_page_size": "large",
        "hw:numa_nodes": "2",
    }


def test_no_machine_of_the_fourth_server_gets_the_last_address_of_a_network() -> None:
    given = document({})
    given["vpods"]["alice"]["poplar_servers"] = ["pod001-poplar3", "pod001-poplar4"]
    (subnet,) = desired_clouds(parse_declaration(given))["cloud001"]["subnets"]
    assert subnet["pools"] == ["10.5.1.192-10.5.1.223", "10.5.1.224-10.5.1.254"]


def test_a_vpod_that_is_to_go_leaves_its_cloud_and_no_other() -> None:
    given = document({})
    given["clouds"]["cloud002"] = given["clouds"]["cloud001"]
    given["vpods"]["alice"]["state"] = "absent"
    found = desired_clouds(parse_declaration(given))
    assert [each["absent_vpods"] for each in found.values()] == [["alice", "alice:controller"], []]
    assert found["cloud001"]["networks"] == []


def test_a_hypervisor_without_virtual_functions_keeps_its_nic_and_its_port_is_a_trunk_all_the_same() -> None:
    given = document({})
    declaration = parse_declaration(given)
    wanted = desired(declaration, PLACED)
    (interface,) = wanted["poplar_servers"]["pod001-poplar3"]["interfaces"]
    assert "virtual_functions" not in interface
    ports = {port["name"]: port for port in wanted["tor_switches"]["pod001-tor"]["ports"]}
    port = ports["Ethernet29/1"]
    assert (port["mode"], port["native_vlan"], port["allowed_vlans"]) == ("trunk", 100, ["100-101"])


def test_a_storage_network_on_the_rnics_is_carried_to_the_hypervisors_of_the_vpod_alone() -> None:
    declaration = parse_declaration(document({"storage": {"vlan": 301, "subnet": "10.30.1.0/24"}}))
    switch = desired(declaration, PLACED)["tor_switches"]["pod001-tor"]
    ports = {port["name"]: port for port in switch["ports"]}
    assert ports["Ethernet29/1"]["allowed_vlans"] == ["100-101", "301"]
    assert ports["Ethernet31/1"]["not_allowed_vlans"] == ["101", "301"]
    assert {"vlan_id": 301, "name": "vpod-alice-storage"} in switch["vlans"]


def test_a_storage_network_elsewhere_is_nothing_to_the_switch() -> None:
    share = {"storage": {"vlan": 301, "subnet": "10.30.1.0/24", "physical_network": "other"}}
    assert "301" not in str(desired(parse_declaration(document(share)), PLACED)["tor_switches"])


def test_the_storage_vlan_of_a_vpod_that_is_to_go_leaves_the_switch() -> None:
    given = document({"storage": {"vlan": 301, "subnet": "10.30.1.0/24"}})
    given["vpods"]["alice"]["state"] = "absent"
    switch = desired(parse_declaration(given), {})["tor_switches"]["pod001-tor"]
    assert {"vlan_id": 301, "name": "vpod-alice-storage", "state": "absent"} in switch["vlans"]
