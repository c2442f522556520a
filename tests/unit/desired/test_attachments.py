# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a virtual machine on a hypervisor gets of a vPOD follows from pods.yml alone."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.attachments import attachment

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
    assert (found["hypervisor"], found["domain"], found["vlan"], found["mtu"]) == (
        "pod001-poplar3",
        "build1",
        101,
        9000,
    )
    assert (found["addresses"][0], found["addresses"][-1], found["prefix"]) == ("10.5.1.192", "10.5.1.223", 16)
    assert (found["function"], found["function_mac"]) == (2, "02:02:0a:05:01:67")
    assert found["vipu"]["api_host"] == "10.3.1.101"
    assert [partition["name"] for partition in found["partitions"]] == ["train"]


@pytest.mark.parametrize(
    ("machine", "vpod", "sentence"),
    [
        ("build1", "alice", "machine 'build1' is not the name of a hypervisor, a slash and that of a libvirt domain"),
        ("pod001-poplar1/build1", "alice", "hypervisors in pods.yml: pod001-poplar3, pod001-poplar4"),
        ("pod001-poplar3/build1", "bob", "vpod 'bob' is not in pods.yml, which has: alice"),
        ("pod001-poplar4/build1", "alice", "pod001-poplar4 does not carry vPOD alice; add it to its poplar_servers"),
    ],
)
def test_what_is_not_declared_is_refused(machine: str, vpod: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        attachment(parse_declaration(DECLARED), machine, vpod)
