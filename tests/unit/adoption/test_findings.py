# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions planted one by one into a rack without any: each is found once, with both places and the remedy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.findings import Gathered, findings

DOCUMENT: dict[str, Any] = {
    "schema": 1,
    "pods": {"p": {"model": "bow-pod64", "poplar_servers": 2, "rnic": {"interface": "rnic0"}}},
    "controllers": {"v": {"address": "10.9.9.9"}},
}
MACHINES = [f"p-ipum{n}" for n in range(1, 17)]
QOS: dict[str, Any] = {"profiles": [], "dscp_to_traffic_class": {}}
Rack = dict[str, Any]


def port(name: str, **fields: Any) -> dict[str, Any]:
    defaults = {"mode": "access", "vlan": 1, "native_vlan": 1, "allowed_vlans": ["1-4094"], "channel_group": 0}
    return {"name": name, **defaults, "mtu": 9214, **fields}


def orderly() -> Rack:
    """A rack in which everything fits: alice has the first four IPU-Machines and the first server, in VLAN 101."""
    trunk = {"mode": "trunk", "native_vlan": 101, "allowed_vlans": ["101", "300"]}
    servers = {
        f"p-poplar{n}": {
            "gathered": [
                {"name": "rnic0", "type": "nic", "mac": f"04:3f:72:00:00:0{n}", "addresses": [f"10.1.5.10{n}/24"]}
                | {"mtu": 9000},
                {"name": "rnic0.300", "type": "vlan", "parent": "rnic0", "vlan_id": 300, "mtu": 9000}
                | {"addresses": [f"10.6.0.{n}/24"]},
            ],
            "nics": [{"name": "eno1", "mac": f"04:3f:72:00:01:0{n}", "addresses": [f"10.1.3.10{n}/24"]}],
        }
        for n in (1, 2)
    }
    return {
        "switch": {
            "vlans": [{"vlan_id": 101, "name": "vpod-alice"}, {"vlan_id": 300, "name": "storage"}],
            "ports": [
                *(port(f"Ethernet{n}/1") for n in (1, 30)),
                *(port(f"Ethernet{n + 8}/1", vlan=101) for n in range(1, 17)),
                *(port(f"Ethernet{n}/1", **trunk) for n in (25, 27)),
            ],
            "neighbours": {
                f"Ethernet{n + 8}/1": [{"device": machine, "port": "eth0"}] for n, machine in enumerate(MACHINES, 1)
            },
            "qos": QOS,
            "macs": {"Ethernet25/1": [{"mac": "04:3f:72:00:00:01", "vlan": 101}]},
            "vlan_members": {},
        },
        "servers": servers,
        "held": {
            "release": "1.18.0",
            "agents": {
                name: {"host": f"10.1.2.{n}", "port": 8080, "status": "Up", "version": "1.18.0"}
                for n, name in enumerate(MACHINES, 1)
            },
            "clusters": {"c": {"agents": MACHINES}},
            "allocations": {"alice": {"cluster": "c", "size": 16, "agents": MACHINES[:4]}},
            "partitions": {"train": {"allocation": "alice"}},
            "users": {"alice": {"allocations": ["alice"], "admin": False}, "root": {"allocations": [], "admin": True}},
        },
        "leases": {"p-poplar1": ["1793190000 0c:42:a1:00:01:01 10.1.5.1 p-ipum1 *"]},
    }


def found_in(rack: Rack) -> list[dict[str, str]]:
    gathered = Gathered({"p-tor": rack["switch"]}, rack["servers"], {"v": rack["held"]}, rack["leases"])
    before = copy.deepcopy(rack)
    found = findings(DOCUMENT, gathered)
    assert rack == before
    return found


def at(rack: Rack, number: int) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in rack["switch"]["ports"] if each["name"] == f"Ethernet{number}/1")
    return found


def interface(rack: Rack, server: int, number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = rack["servers"][f"p-poplar{server}"]["gathered"][number]
    return found


def port_without_the_vlan(rack: Rack) -> None:
    at(rack, 27)["allowed_vlans"] = ["101"]


def vlan_without_tag(rack: Rack) -> None:
    at(rack, 27).update(mode="access", vlan=300)


def server_without_the_vlan(rack: Rack) -> None:
    rack["switch"]["vlans"].append({"vlan_id": 102, "name": "vpod-bob"})
    at(rack, 25)["allowed_vlans"] = ["101-102", "300"]


def small_port(rack: Rack) -> None:
    at(rack, 27)["mtu"] = 1500


def small_channel(rack: Rack) -> None:
    trunk = {"mode": "trunk", "native_vlan": 101, "allowed_vlans": ["101", "300"]}
    at(rack, 27)["channel_group"] = 7
    rack["switch"]["ports"].append(port("Port-Channel7", **trunk, mtu=4000))


def allocation_across_vlans(rack: Rack) -> None:
    rack["switch"]["vlans"].append({"vlan_id": 102, "name": "vpod-bob"})
    at(rack, 10)["vlan"] = 102


def same_address_twice(rack: Rack) -> None:
    interface(rack, 2)["addresses"] = ["10.1.5.101/24"]


def address_of_a_gateway(rack: Rack) -> None:
    interface(rack, 2, 1)["addresses"] = ["10.1.2.7/24"]


def leased_to_another(rack: Rack) -> None:
    rack["leases"]["p-poplar1"].append("1793190000 0c:42:a1:00:09:09 10.1.5.102 lab *")


def two_agents_on_one_machine(rack: Rack) -> None:
    rack["held"]["agents"]["lab"] = {**rack["held"]["agents"]["p-ipum9"], "host": "10.7.7.7"}
    rack["held"]["clusters"]["lab"] = {"agents": ["lab"]}
    rack["held"]["agents"]["lab2"] = rack["held"]["agents"]["lab"]
    rack["held"]["clusters"]["lab2"] = {"agents": ["lab2"]}


def agent_of_no_cluster(rack: Rack) -> None:
    rack["held"]["agents"]["lab"] = {**rack["held"]["agents"]["p-ipum9"], "host": "10.7.7.7"}


def cluster_gone(rack: Rack) -> None:
    rack["held"]["allocations"]["bob"] = {"cluster": "old", "size": 4, "agents": []}


def unused_vlan(rack: Rack) -> None:
    rack["switch"]["vlans"].append({"vlan_id": 666, "name": "lonely"})
    rack["switch"]["vlan_members"] = {"666": ["Ethernet1/1", "Cpu"]}
    at(rack, 1).update(mode="trunk")


def partition_of_nobody(rack: Rack) -> None:
    rack["held"]["partitions"]["lost"] = {"allocation": ""}


def partition_of_what_is_gone(rack: Rack) -> None:
    rack["held"]["partitions"]["lost"] = {"allocation": "old"}


def user_of_nothing(rack: Rack) -> None:
    rack["held"]["users"]["bob"] = {"allocations": [], "admin": False}


def user_of_what_is_gone(rack: Rack) -> None:
    rack["held"]["users"]["bob"] = {"allocations": ["alice", "old"], "admin": False}


def machine_elsewhere(rack: Rack) -> None:
    rack["switch"]["neighbours"]["Ethernet30/1"] = rack["switch"]["neighbours"].pop("Ethernet12/1")


def machine_at_an_uplink(rack: Rack) -> None:
    rack["switch"]["neighbours"]["Ethernet1/1"] = rack["switch"]["neighbours"].pop("Ethernet12/1")


def two_machines_at_a_port(rack: Rack) -> None:
    rack["switch"]["neighbours"]["Ethernet12/1"] += rack["switch"]["neighbours"].pop("Ethernet13/1")


def server_elsewhere(rack: Rack) -> None:
    rack["switch"]["macs"] = {"Ethernet28/1": rack["switch"]["macs"]["Ethernet25/1"]}


def undeclared_machine(rack: Rack) -> None:
    rack["held"]["agents"]["q-ipum1"] = {**rack["held"]["agents"]["p-ipum9"], "host": "10.7.7.7"}
    rack["held"]["clusters"]["q"] = {"agents": ["q-ipum1"]}
    rack["switch"]["neighbours"]["Ethernet30/1"] = [{"device": "q-ipum1.lab", "port": "eth0"}]


def agent_down(rack: Rack) -> None:
    rack["held"]["agents"]["p-ipum9"]["status"] = "Down"


def agent_of_another_release(rack: Rack) -> None:
    rack["held"]["agents"]["p-ipum9"]["version"] = "1.17.0"


PLANTED: list[tuple[Callable[[Rack], None], str, str]] = [
    (
        port_without_the_vlan,
        "p-poplar2",
        "p-poplar2 rnic0 (VLAN 300 with tag on rnic0.300) and p-tor Ethernet27/1 (carries no tags)",
    ),
    (vlan_without_tag, "p-poplar2", "with tag on rnic0.300) and p-tor Ethernet27/1 (carries no tags, 300 without)"),
    (
        server_without_the_vlan,
        "p-poplar1",
        "p-tor Ethernet25/1 carries VLAN 102 with a tag, but p-poplar1 rnic0 has",
    ),
    (small_port, "p-poplar2", "p-poplar2 rnic0 (MTU 9000) and p-tor Ethernet27/1 (MTU 1500)"),
    (small_channel, "p-poplar2", "p-poplar2 rnic0 (MTU 9000) and p-tor Ethernet27/1 (MTU 4000)"),
    (allocation_across_vlans, "v", "alice of v lies across VLANs: p-tor Ethernet10/1 (p-ipum2) in VLAN 102; all"),
    (same_address_twice, "p-poplar1", "10.1.5.101 is claimed by rnic0 of p-poplar1 and by rnic0 of p-poplar2"),
    (address_of_a_gateway, "p-poplar2", "10.1.2.7 is claimed by rnic0.300 of p-poplar2 and by agent p-ipum7 at v"),
    (leased_to_another, "p-poplar2", "10.1.5.102 is claimed by rnic0 of p-poplar2 and by 0c:42:a1:00:09:09 by DHCP"),
    (two_agents_on_one_machine, "lab", "10.7.7.7 is claimed by agent lab at v and by agent lab2 at v"),
    (agent_of_no_cluster, "lab", "agent lab is registered at v, but no cluster of v has it"),
    (cluster_gone, "v", "allocation bob lies in cluster old, which v does not have"),
    (unused_vlan, "p-tor", "VLAN 666 (lonely) is on p-tor, but none of its ports is in it"),
    (partition_of_nobody, "v", "partition lost of v lies in no allocation"),
    (partition_of_what_is_gone, "v", "partition lost of v lies in allocation old, which is not there"),
    (user_of_nothing, "v", "user bob of v may use no allocation"),
    (user_of_what_is_gone, "v", "user bob of v may use old, of which there is no allocation"),
    (machine_elsewhere, "p-ipum4", "p-tor sees p-ipum4 at Ethernet30/1, a port of no declared device, but by the port"),
    (machine_at_an_uplink, "p-ipum4", "p-tor sees p-ipum4 at Ethernet1/1, a port of no declared device, but by the"),
    (two_machines_at_a_port, "p-ipum5", "p-tor sees p-ipum5 at Ethernet12/1, the port of p-ipum4, but by the port map"),
    (server_elsewhere, "p-poplar1", "p-tor sees p-poplar1 at Ethernet28/1, the port of p-poplar2, but by the port map"),
    (undeclared_machine, "q-ipum1", "p-tor sees the IPU-Machine q-ipum1 at Ethernet30/1, but pods.yml declares no"),
    (agent_down, "p-ipum9", "agent p-ipum9 is Down, says v"),
    (agent_of_another_release, "p-ipum9", "agent p-ipum9 is of release 1.17.0, but the controller v of 1.18.0"),
]


def test_a_rack_in_which_everything_fits_has_no_findings() -> None:
    assert found_in(orderly()) == []


@pytest.mark.parametrize(("plant", "device", "words"), PLANTED, ids=[plant.__name__ for plant, *_rest in PLANTED])
def test_a_contradiction_is_found_once(plant: Callable[[Rack], None], device: str, words: str) -> None:
    rack = orderly()
    plant(rack)
    (finding,) = found_in(rack)
    assert finding["device"] == device
    assert words in finding["finding"]
    assert finding["remedy"].endswith(".")


@pytest.mark.parametrize("kind", ["agent", "allocation", "partition", "user"])
def test_a_command_that_a_finding_recommends_has_the_name_as_one_word(kind: str) -> None:
    name = "$(touch obeyed); x"
    rack = orderly()
    there = {"host": "10.1.2.99", "status": "Up", "version": "1.18.0", "cluster": "old", "agents": []}
    rack["held"][f"{kind}s"][name] = {**there, "allocation": "", "allocations": [], "admin": False}
    (command,) = [each["remedy"] for each in found_in(rack) if "vipu-admin" in each["remedy"]]
    assert command.endswith(f": vipu-admin remove {kind} '{name}'.")


def test_machines_in_the_vlan_of_a_vpod_that_does_not_have_them_are_found() -> None:
    rack = orderly()
    alice = {"cluster": "c", "ipus": 16, "vlan": 101, "poplar_servers": ["p-poplar1", "p-poplar2"]}
    clusters = {"c": {"controller": "v", "pods": ["p"]}}
    gathered = Gathered({"p-tor": rack["switch"]}, rack["servers"], {"v": rack["held"]}, rack["leases"])
    (found,) = findings({**DOCUMENT, "clusters": clusters, "vpods": {"alice": alice}}, gathered)
    assert found == {
        "device": "p-tor",
        "finding": "vPOD alice does not have p-ipum5..16, but its VLAN reaches them on p-tor",
        "remedy": "Put the ports of these into another VLAN.",
    }


def test_vlans_that_all_servers_carry_need_no_interface() -> None:
    rack = orderly()
    for server in (1, 2):
        rack["servers"][f"p-poplar{server}"]["gathered"].pop()
    assert found_in(rack) == []


def test_a_virtual_function_uses_its_vlan() -> None:
    rack = orderly()
    server_without_the_vlan(rack)
    interface(rack, 1)["virtual_functions"] = [{"index": 0, "mac": "02:00:00:00:01:00", "vlan": 102}]
    assert found_in(rack) == []


def test_a_quarantine_and_a_vlan_with_a_vxlan_network_may_be_empty() -> None:
    rack = orderly()
    rack["switch"]["vlans"] += [{"vlan_id": 999, "name": "quarantine"}, {"vlan_id": 400, "name": "far", "vni": 10400}]
    assert found_in(rack) == []


def test_a_user_of_a_vpod_that_is_for_jobs_needs_no_allocation() -> None:
    rack = orderly()
    user_of_nothing(rack)
    jobs = {"cluster": "c", "ipus": 4, "allocation": "jobs", "ipu_machines": ["p-ipum16"], "users": ["bob"]}
    words = {"controllers": {"v": {"host": "p-poplar1"}}, "clusters": {"c": {"controller": "v", "pods": ["p"]}}}
    gathered = Gathered({"p-tor": rack["switch"]}, rack["servers"], {"v": rack["held"]}, rack["leases"])
    assert findings({**DOCUMENT, **words, "vpods": {"jobs": jobs}}, gathered) == []
    del jobs["allocation"]
    assert len(findings({**DOCUMENT, **words, "vpods": {"jobs": jobs}}, gathered)) == 1


def test_what_was_not_read_contradicts_nothing() -> None:
    assert findings(DOCUMENT, Gathered({}, {}, {}, {})) == []
