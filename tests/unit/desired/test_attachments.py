# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a virtual machine on a hypervisor gets of a vPOD follows from pods.yml alone."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.attachments import attachment, by_hand, due

DECLARED: dict[str, Any] = {
    "schema": 1,
    "pods": {
        "pod001": {
            "model": "bow-pod64",
            "lrack": 1,
            "addressing": "multi-rack",
            "poplar_servers": 4,
            "hypervisors": ["pod001-poplar3", "pod001-poplar4"],
            "rnic": {"vlan": 100, "mtu": 9000},
        }
    },
    "controllers": {"ctrl001": {"host": "pod001-poplar1"}},
    "clusters": {"c001": {"controller": "ctrl001", "pods": ["pod001"]}},
    "vpods": {
        "alice": {
            "cluster": "c001",
            "ipus": 16,
            "vlan": 101,
            "virtual_function": 2,
            "poplar_servers": ["pod001-poplar3"],
            "partitions": {"train": {"ipus": 16}},
        }
    },
}


def test_a_machine_gets_the_vpods_vlan_a_block_of_its_hypervisor_and_the_vpods_client() -> None:
    found = attachment(parse_declaration(DECLARED), "pod001-poplar3/build1", "alice")
    port = found["domain"]
    assert (found["place"], port["domain"], port["vlan"], found["mtu"]) == ("pod001-poplar3", "build1", 101, 9000)
    assert (port["addresses"][0], port["addresses"][-1], found["prefix"]) == ("10.5.1.192", "10.5.1.223", 16)
    assert (port["function"], port["function_mac"]) == (2, "02:02:0a:05:01:67")
    assert found["interface"] == "101-vpod"
    assert found["vipu"]["api_host"] == "10.3.1.101"
    assert [partition["name"] for partition in found["partitions"]] == ["train"]


@pytest.mark.parametrize(
    ("machine", "vpod", "sentence"),
    [
        ("build1", "alice", "machine 'build1' is not the name of a cloud, a slash and that of a machine in it"),
        ("pod001-poplar1/build1", "alice", "has clouds none and hypervisors pod001-poplar3, pod001-poplar4"),
        ("pod001-poplar3/build1", "bob", "vpod 'bob' is not in pods.yml, which has: alice"),
        ("pod001-poplar4/build1", "alice", "pod001-poplar4 does not carry vPOD alice; add it to its poplar_servers"),
    ],
)
def test_what_is_not_declared_is_refused(machine: str, vpod: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        attachment(parse_declaration(DECLARED), machine, vpod)


_REACHED = {"control_sources": ["10.6.0.0/16"], "controllers": {"pod001-poplar1": "10.6.0.200"}}


def in_a_cloud(**machines: Any) -> Any:
    """Two vPODs with projects in a cloud, and machines that run there."""
    share = {"name": "cloud001"}
    pod = {**DECLARED["pods"]["pod001"], "virtual_functions": 0}
    vpod = {name: value for name, value in DECLARED["vpods"]["alice"].items() if name != "virtual_function"}
    bob = {**vpod, "vlan": 102, "poplar_servers": ["pod001-poplar4"], "partitions": {}, "cloud": share}
    return parse_declaration(
        {
            **DECLARED,
            "pods": {"pod001": pod},
            "vpods": {"alice": {**vpod, "cloud": share}, "bob": bob},
            "clouds": {"cloud001": {"physical_network": "rnic", "control_network": "control", **_REACHED}},
            "machines": {f"cloud001/{name}": fields for name, fields in machines.items()},
        }
    )


def looks(**attached: str | None) -> dict[str, Any]:
    """What cloud_info has found: machines, each with the vPOD that it has a port of."""
    servers = [{"id": f"s-{name}", "name": name} for name in attached]
    ports = [{"attached": vpod, "device_id": f"s-{name}"} for name, vpod in attached.items() if vpod]
    return {"cloud001": {"domains": [{"name": "Default"}], "servers": servers, "ports": ports}}


def names(attachments: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(each["machine"], each["vpod"], each["user"]) for each in attachments]


def test_a_machine_of_a_cloud_joins_the_vpods_network_where_its_hypervisors_carry_it() -> None:
    found = attachment(in_a_cloud(), "cloud001/train", "alice")
    assert (found["place"], found["name"], found["domain"]) == ("cloud001", "train", None)
    assert found["cloud"]["network"] == "vpod-alice-rnic"
    assert found["vipu"]["api_host"] == found["partitions"][0]["api_host"] == "10.6.0.200"
    assert (found["cloud"]["reaching"], found["cloud"]["other_vpods"]) == (["pod001-poplar3"], {"bob": "bob"})


def test_one_edit_moves_ipus_from_one_machine_to_another() -> None:
    moved = due(in_a_cloud(a={"user": "debian"}, b={"vpod": "alice"}), looks(a="alice", b=None))
    assert names(moved["detach"]) == [("cloud001/a", "alice", "debian")]
    assert names(moved["attach"]) == [("cloud001/b", "alice", "root")]
    again = due(in_a_cloud(a={"user": "debian"}, b={"vpod": "alice"}), looks(a=None, b="alice"))
    assert again["detach"] == []


def test_a_machine_that_changes_its_vpod_leaves_the_first_before() -> None:
    changed = due(in_a_cloud(a={"vpod": "bob"}), looks(a="alice"))
    assert [each["leaving"] for each in changed["attach"]] == [["alice"]]


def test_a_machine_that_is_not_declared_is_left_alone() -> None:
    assert due(in_a_cloud(), looks(other="alice")) == {"detach": [], "attach": []}


def test_nothing_is_done_by_hand_that_the_next_run_would_undo() -> None:
    declared = in_a_cloud(a={"vpod": "alice", "user": "debian"}, b={})
    assert by_hand(declared, "cloud001/a", "alice", True)["user"] == "debian"
    assert by_hand(declared, "cloud001/other", "alice", True)["user"] == "root"
    with pytest.raises(Refused, match=r"machines.cloud001/a.vpod in pods.yml is alice, .*; take it out there"):
        by_hand(declared, "cloud001/a", "alice", False)
    with pytest.raises(Refused, match=r"machines.cloud001/b.vpod in pods.yml is left out, .*; say alice there"):
        by_hand(declared, "cloud001/b", "alice", True)


def test_a_spine_brings_other_racks_within_reach() -> None:
    other = {**DECLARED["pods"]["pod001"], "lrack": 2, "hypervisors": ["pod002-poplar1"], "virtual_functions": 0}
    clusters = {"c001": {"controller": "ctrl001", "pods": ["pod001", "pod002"]}}
    declared = {**DECLARED, "pods": {**DECLARED["pods"], "pod002": other}, "clusters": clusters}
    with pytest.raises(Refused, match="pod002-poplar1 does not carry vPOD alice"):
        attachment(parse_declaration(declared), "pod002-poplar1/build1", "alice")
    clusters["c001"]["spine"] = True
    found = attachment(parse_declaration(declared), "pod002-poplar1/build1", "alice")
    assert (found["domain"]["vlan"], found["domain"]["function"]) == (101, None)
    # One beside the vPOD's own hypervisor is within reach by its switch alone.
    with pytest.raises(Refused, match="pod001-poplar4 does not carry vPOD alice"):
        attachment(parse_declaration(declared), "pod001-poplar4/build1", "alice")
