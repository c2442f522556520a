# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desired state of every device: one owner per port, and nothing set where nothing was declared."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place


def document(**vpods: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "pods": {
            "p": {"model": "bow-pod64", "poplar_servers": 2, "rnic": {"mtu": 9000}, "vlans": {"storage": 300}},
        },
        "controllers": {"v": {"host": "p-poplar1"}},
        "clusters": {"c": {"controller": "v", "pods": ["p"], "topology": "torus"}},
        "vpods": vpods,
    }


ALICE = {
    "cluster": "c",
    "ipus": 16,
    "vlan": 101,
    "poplar_servers": ["p-poplar2"],
    "partitions": {"train": {"ipus": 8}, "serve": {"ipus": 4, "reconfigurable": True}},
}


def desired_of(**vpods: Any) -> dict[str, dict[str, Any]]:
    declaration = parse_declaration(document(**vpods))
    return desired(declaration, place(declaration, {}))


def ports(**vpods: Any) -> dict[str, dict[str, Any]]:
    return {port["name"]: port for port in desired_of(**vpods)["tor_switches"]["p-tor"]["ports"]}


def test_a_port_belongs_to_its_vpod_or_to_its_pod() -> None:
    owners = {name: port["owner"] for name, port in ports(alice=ALICE).items()}
    assert [owners[f"Ethernet{n}/1"] for n in (9, 12, 13, 25, 27)] == [
        "vpod alice",
        "vpod alice",
        "pod",
        "pod",
        "vpod alice",
    ]


def test_a_vpods_machine_is_in_its_vlan_and_its_server_carries_it_untagged_beside_storage() -> None:
    wanted = ports(alice=ALICE)
    assert (wanted["Ethernet9/1"]["mode"], wanted["Ethernet9/1"]["vlan"]) == ("access", 101)
    server = wanted["Ethernet27/1"]
    assert (server["mode"], server["native_vlan"], server["allowed_vlans"]) == ("trunk", 101, ["101", "300"])


def test_what_is_not_declared_is_kept() -> None:
    wanted = ports(alice=ALICE)
    # Left out, not None: the modules' options with choices refuse None.
    assert wanted["Ethernet13/1"].keys() == {"name", "owner", "description"}
    assert wanted["Ethernet25/1"].keys() == {"name", "owner", "description"}


def test_the_switch_has_every_vlan_that_its_ports_use() -> None:
    switch = desired_of(alice=ALICE)["tor_switches"]["p-tor"]
    assert switch["vlans"] == [{"vlan_id": 101, "name": "vpod-alice"}, {"vlan_id": 300, "name": "storage"}]


def test_a_server_gets_its_nic_its_controller_and_its_partitions() -> None:
    server = desired_of(alice=ALICE)["poplar_servers"]["p-poplar2"]
    assert server["interfaces"] == [{"name": "ens2f0", "mac": None, "addresses": ["10.1.5.102/24"], "mtu": 9000}]
    assert server["vipu"] == {
        "controller": "p-poplar1",
        "dedicated": None,
        "admin_port": 8091,
        "api_host": "10.1.3.101",
        "api_port": 8090,
        "user": None,
    }
    assert server["partitions"] == ["train", "serve"]
    assert server["peers"] == {f"p-ipum{n}": f"10.1.5.{n}" for n in range(1, 5)}


def test_a_server_without_vpod_reaches_the_machines_without_vpod() -> None:
    server = desired_of(alice=ALICE)["poplar_servers"]["p-poplar1"]
    assert server["vipu"] is None
    assert list(server["peers"]) == [f"p-ipum{n}" for n in range(5, 17)]


def test_a_partition_can_be_for_some_servers() -> None:
    vpod = {**ALICE, "poplar_servers": ["p-poplar1", "p-poplar2"]}
    vpod["partitions"] = {"one": {"ipus": 8, "poplar_servers": ["p-poplar1"]}, "all": {"ipus": 8}}
    servers = desired_of(alice=vpod)["poplar_servers"]
    assert servers["p-poplar1"]["partitions"] == ["one", "all"]
    assert servers["p-poplar2"]["partitions"] == ["all"]


def test_the_controller_holds_agents_cluster_allocation_and_partitions() -> None:
    controller = desired_of(alice=ALICE)["vipu_controllers"]["p-poplar1"]
    assert controller["agents"][15] == {"name": "p-ipum16", "host": "10.1.2.16", "port": 8080}
    assert controller["clusters"][0]["agents"] == [f"p-ipum{n}" for n in range(1, 17)]
    assert controller["clusters"][0]["ipu_link_domains"] == 1
    assert controller["allocations"] == [
        {"name": "alice", "cluster": "c", "size": 16, "agents": [f"p-ipum{n}" for n in range(1, 5)]}
    ]
    assert [partition["name"] for partition in controller["partitions"]] == ["train", "serve"]


def test_a_partition_has_the_words_that_were_declared_for_it() -> None:
    words = {
        "gcds": 2,
        "replicas": 4,
        "routing": "ringswnc",
        "gw_routing": "swring",
        "sync_type": "pod-native-replicated-pipeline",
        "relocatable": True,
        "disable_auto_reset": False,
    }
    vpod = {**ALICE, "partitions": {"train": {"ipus": 8, **words}, "serve": {"ipus": 4}}}
    train, serve = desired_of(alice=vpod)["vipu_controllers"]["p-poplar1"]["partitions"]
    assert train == {"name": "train", "allocation": "alice", "size": 8, "reconfigurable": False, **words}
    assert serve == {
        "name": "serve",
        "allocation": "alice",
        "size": 4,
        "reconfigurable": False,
    }


def test_a_controller_decides_what_is_not_declared_of_a_cluster() -> None:
    changed = document(alice=ALICE)
    del changed["clusters"]["c"]["topology"]
    declaration = parse_declaration(changed)
    (cluster,) = desired(declaration, place(declaration, {}))["vipu_controllers"]["p-poplar1"]["clusters"]
    assert cluster.keys() == {"name", "agents", "ipu_link_domains"}


def test_a_controller_is_as_strict_as_its_owner_says() -> None:
    usual = desired_of(alice=ALICE)["vipu_controllers"]["p-poplar1"]
    assert (usual["strict_sizes"], usual["any_replica_size"]) == (False, False)
    changed = document(alice=ALICE)
    changed["controllers"]["v"].update(strict_sizes=True, any_replica_size=True)
    declaration = parse_declaration(changed)
    controller = desired(declaration, place(declaration, {}))["vipu_controllers"]["p-poplar1"]
    assert (controller["strict_sizes"], controller["any_replica_size"]) == (True, True)


def test_a_secure_controller_has_the_users_with_what_is_granted_to_them_and_servers_ask_as_the_first() -> None:
    changed = document(alice={**ALICE, "users": ["alice", "ann"]}, bob={"cluster": "c", "ipus": 4, "users": ["ann"]})
    changed["controllers"]["v"]["mode"] = "secure"
    declaration = parse_declaration(changed)
    result = desired(declaration, place(declaration, {}))
    assert result["vipu_controllers"]["p-poplar1"]["users"] == [
        {"name": "alice", "allocations": ["alice"]},
        {"name": "ann", "allocations": ["alice", "bob"]},
    ]
    assert result["poplar_servers"]["p-poplar2"]["vipu"]["user"] == "alice"


def test_without_secure_mode_there_are_no_users() -> None:
    assert desired_of(alice={**ALICE, "users": ["alice"]})["vipu_controllers"]["p-poplar1"]["users"] == []


def test_a_vpod_says_how_poplar_learns_of_its_partitions() -> None:
    servers = desired_of(alice={**ALICE, "ipuof": "files"})["poplar_servers"]
    assert (servers["p-poplar1"]["ipuof"]["mode"], servers["p-poplar2"]["ipuof"]["mode"]) == ("environment", "files")


def two_racks(spine: bool) -> dict[str, dict[str, Any]]:
    """alice's servers stand in both racks, and her 32 IPU-Machines are those of both."""
    pods = {
        name: {"model": "bow-pod64", "lrack": lrack, "addressing": "multi-rack", "poplar_servers": 2}
        for lrack, name in enumerate("pq", 1)
    }
    declared = {
        **document(alice={"cluster": "c", "ipus": 128, "vlan": 101, "poplar_servers": ["p-poplar1", "q-poplar1"]}),
        "pods": pods,
        "clusters": {"c": {"controller": "v", "pods": ["p", "q"], "spine": spine}},
    }
    declaration = parse_declaration(declared)
    return desired(declaration, place(declaration, {}))


def test_a_server_reaches_the_other_rack_where_the_racks_are_joined() -> None:
    wanted = {spine: two_racks(spine)["poplar_servers"]["q-poplar1"]["peers"] for spine in (False, True)}
    assert wanted[False] == {f"q-ipum{n}": f"10.5.2.{n}" for n in range(1, 17)}
    assert wanted[True] == {**{f"p-ipum{n}": f"10.5.1.{n}" for n in range(1, 17)}, **wanted[False]}


def test_a_switch_is_probed_for_its_own_ports_alone() -> None:
    arp_probe = two_racks(spine=True)["tor_switches"]["q-tor"]["arp_probes"]["q-poplar1"]
    assert arp_probe["addresses"] == [f"10.5.2.{n}" for n in range(1, 17)]
    assert arp_probe["ports"] == ["Ethernet25/1", *(f"Ethernet{n}/1" for n in range(9, 25))]
