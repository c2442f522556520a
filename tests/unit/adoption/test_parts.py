# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet in parts that nothing joins, each a pods.yml of its own, and what they must not share."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.parts import Vlans, parts_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration


def fleet(**words: Any) -> dict[str, Any]:
    pods = {f"p{n}": {"model": "bow-pod64", "lrack": n, "addressing": "multi-rack"} for n in range(1, 6)}
    return {"schema": 1, "pods": pods, "controllers": {"v": {"host": "p5-poplar1"}}, **words}


def parts(document: dict[str, Any]) -> list[list[str]]:
    found = parts_of(document, parse_declaration(document))
    for part in found:
        parse_declaration(part)
    return [list(part["pods"]) for part in found]


def test_racks_that_nothing_joins_are_looked_at_alone() -> None:
    clusters = {f"c{n}": {"controller": "v", "pods": [f"p{n}"]} for n in range(1, 4)}
    assert parts(fleet(clusters=clusters)) == [["p1"], ["p2"], ["p3"], ["p4"], ["p5"]]


def test_a_cluster_and_a_vpod_with_a_server_elsewhere_join_racks() -> None:
    near = {"controller": "v", "pods": ["p1"], "spine": True}
    clusters = {"far": {"controller": "v", "pods": ["p4", "p2"]}, "near": near}
    vpods = {"alice": {"cluster": "near", "ipus": 4, "poplar_servers": ["p4-poplar1"]}}
    assert parts(fleet(clusters=clusters, vpods=vpods)) == [["p1", "p2", "p4"], ["p3"], ["p5"]]


ALICE = {"vpods": {"alice": {"vlan": 101, "vni": 5}}, "pods": {}}
STORAGE = {"pods": {"p": {"vlans": {"storage": {"id": 300, "vni": 6}}, "rnic": {"vlan": 100}}}}


@pytest.mark.parametrize(
    ("other", "clash"),
    [
        ({"vpods": {"bob": {"vlan": 101}}, "pods": {}}, True),
        ({"vpods": {"bob": {"vlan": 102, "vni": 5}}, "pods": {}}, True),
        ({"pods": {"p": {"vlans": {"storage": 101}}}}, True),
        ({"pods": {"p": {"rnic": {"vlan": 101}}}}, True),
        ({"pods": {"p": {"rnic": {"vlan": 100, "vni": 5}}}}, True),
        ({"vpods": {"bob": {"vlan": 102}}, "pods": {"p": {"vlans": {"storage": {"id": 300, "vni": 6}}}}}, False),
    ],
)
def test_tenants_have_vlans_of_their_own_in_the_whole_fleet(other: dict[str, Any], clash: bool) -> None:
    assert Vlans.of(ALICE).clash_with(Vlans.of(other)) == clash
    assert Vlans.of(other).clash_with(Vlans.of(ALICE)) == clash


def test_pods_may_have_the_same_vlans() -> None:
    both = Vlans.of(STORAGE)
    both.add(Vlans.of(ALICE))
    assert not Vlans.of(STORAGE).clash_with(Vlans.of(STORAGE))
    assert both.clash_with(Vlans.of({"vpods": {"bob": {"vlan": 100}}, "pods": {}}))
