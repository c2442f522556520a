# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several controllers of one fleet: those that were not read keep what pods.yml says of them."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._adoption.controllers import adopted

MACHINES = {n: [f"p{n}-ipum{k}" for k in range(1, 17)] for n in (1, 2)}
DOCUMENT: dict[str, Any] = {
    "schema": 1,
    "pods": {f"p{n}": {"model": "bow-pod64", "lrack": n, "addressing": "multi-rack"} for n in (1, 2)},
    "controllers": {f"v{n}": {"host": f"p{n}-poplar1"} for n in (1, 2)},
    "clusters": {f"c{n}": {"controller": f"v{n}", "pods": [f"p{n}"]} for n in (1, 2)},
    "vpods": {f"t{n}": {"cluster": f"c{n}", "ipus": 4, "vlan": 100 + n} for n in (1, 2)},
}


def held(*numbers: int, cluster: str = "rack") -> dict[str, Any]:
    """What a controller holds: the agents of some racks in one cluster, and the first of them allocated."""
    agents = {
        name: {"host": f"10.2.{n}.{k}", "port": 8080, "status": "Up", "version": "1.18.0"}
        for n in numbers
        for k, name in enumerate(MACHINES[n], 1)
    }
    links = {"topology": "torus", "ipu_link_domains": len(numbers), "looped": False}
    allocation = {"cluster": cluster, "size": 4, "agents": list(agents)[:1]}
    return {
        "agents": agents,
        "clusters": {cluster: {"agents": list(agents), **links}},
        "allocations": {f"of_{cluster}": allocation},
        "users": {},
        "partitions": {},
    }


def test_a_controller_that_was_not_read_keeps_its_clusters_and_vpods() -> None:
    found = adopted(DOCUMENT, {"p1-poplar1": held(1)})
    assert list(found.document["clusters"]) == ["c2", "rack"]
    assert found.document["vpods"]["t2"] == DOCUMENT["vpods"]["t2"]
    assert "t1" not in found.document["vpods"]
    assert adopted(DOCUMENT, {}).document == DOCUMENT


def test_a_rack_that_two_controllers_have_is_that_of_the_first() -> None:
    found = adopted(DOCUMENT, {"p1-poplar1": held(1), "p2-poplar1": held(1, cluster="again")})
    assert found.document["clusters"] == {"rack": {"controller": "v1", "pods": ["p1"], "topology": "torus"}}
    assert found.reasons[0].startswith("p2-poplar1: cluster again is not in pods.yml: clusters.again.pods: 'p1' is alr")
    assert [cluster["name"] for cluster in found.options["p2-poplar1"]["clusters"]] == ["again"]


def test_a_cluster_of_two_racks_is_recognised_in_its_order() -> None:
    found = adopted(DOCUMENT, {"p1-poplar1": held(2, 1), "p2-poplar1": {}})
    assert found.document["clusters"]["rack"]["pods"] == ["p2", "p1"]


def test_what_the_controller_does_not_know_of_a_cluster_is_kept() -> None:
    there = {**DOCUMENT, "clusters": {"rack": {"controller": "v1", "pods": ["p1"], "looped": True, "spine": True}}}
    found = adopted({**there, "vpods": {}}, {"p1-poplar1": held(1)})
    assert found.document["clusters"]["rack"] == {
        "controller": "v1",
        "pods": ["p1"],
        "topology": "torus",
        "spine": True,
    }


def test_a_vpod_on_a_machine_that_is_excluded_is_not_pinned() -> None:
    there = {**DOCUMENT, "pods": {**DOCUMENT["pods"], "p1": {**DOCUMENT["pods"]["p1"], "excluded": ["p1-ipum1"]}}}
    found = adopted(there, {"p1-poplar1": held(1)})
    assert found.document["vpods"]["of_rack"] == {"cluster": "rack", "ipus": 4}
    assert found.document["pods"]["p1"]["excluded"] == ["p1-ipum1"]
