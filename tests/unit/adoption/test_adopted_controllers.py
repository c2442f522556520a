# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several controllers of one fleet: those that were not read keep what pods.yml says of them."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.controllers import adopted

MACHINES = {n: [f"p{n}-ipum{k}" for k in range(1, 17)] for n in (1, 2)}
DOCUMENT: dict[str, Any] = {
    "schema": 1,
    "pods": {f"p{n}": {"model": "bow-pod64", "lrack": n, "addressing": "multi-rack"} for n in (1, 2)},
    "controllers": {f"v{n}": {"host": f"p{n}-poplar1"} for n in (1, 2)},
    "clusters": {f"c{n}": {"controller": f"v{n}", "pods": [f"p{n}"]} for n in (1, 2)},
    "vpods": {f"t{n}": {"cluster": f"c{n}", "ipus": 4, "vlan": 100 + n} for n in (1, 2)},
}


def held(*numbers: int, cluster: str = "rack") -> dict[str, Any]:
    """A controller's contents: the agents of some racks in one cluster, and the first of them allocated."""
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


def test_what_slurm_made_for_jobs_is_reported_and_not_declared() -> None:
    there = held(1)
    there["allocations"] = {"c7": {"cluster": "rack", "size": 4, "agents": MACHINES[1][:1]}}
    there["partitions"] = {name: {"allocation": "c7"} for name in ("p7", "mine")}
    there["users"] = {name: {"allocations": ["c7"], "admin": False} for name in ("j7", "ann")}
    found = adopted({**DOCUMENT, "vpods": {}}, {"p1-poplar1": there})
    assert (found.document["vpods"], found.options) == ({}, {})
    made = "named as Slurm names what it makes for a job"
    assert found.reasons == [
        f"p1-poplar1: allocation c7 is not in pods.yml: it is {made}, and goes with it",
        f"p1-poplar1: partition p7 is not in pods.yml: it is {made}, and goes with it",
        f"p1-poplar1: partition mine is not in pods.yml: it lies in allocation c7, which is {made}",
        f"p1-poplar1: user j7 is not in pods.yml: it is {made}, and goes with it",
        f"p1-poplar1: user ann is not in pods.yml: they may use c7, which is {made}",
    ]


def for_jobs(**words: Any) -> dict[str, Any]:
    """The document with a vPOD of the first rack whose allocations are those of jobs."""
    jobs = {"cluster": "rack", "ipus": 8, "vlan": 110, "allocation": "jobs", "ipu_machines": MACHINES[1][:2]}
    clusters = {"rack": {"controller": "v1", "pods": ["p1"]}, "c2": DOCUMENT["clusters"]["c2"]}
    return {**DOCUMENT, "clusters": clusters, "vpods": {"jobs": {**jobs, "users": ["ops", "gone"], **words}}}


def test_a_vpod_that_is_for_jobs_is_kept_with_its_users_that_are_there() -> None:
    there = held(1)
    there["allocations"] = {"c7": {"cluster": "rack", "size": 4, "agents": MACHINES[1][:1]}}
    there["users"] = {name: {"allocations": [], "admin": False} for name in ("ops", "idle")}
    words = for_jobs()
    found = adopted(words, {"p1-poplar1": there})
    assert found.document["vpods"] == {"jobs": {**words["vpods"]["jobs"], "users": ["ops"]}}
    assert found.options == {"p1-poplar1": {"users": [{"name": "idle", "allocations": []}]}}
    assert found.reasons == [
        "p1-poplar1: allocation c7 is not in pods.yml: it is named as Slurm names what it makes for a job, and goes "
        "with it"
    ]


def test_a_vpod_that_is_for_jobs_is_not_kept_where_somebody_else_is() -> None:
    found = adopted(for_jobs(), {"p1-poplar1": held(1)})
    assert list(found.document["vpods"]) == ["of_rack"]
    assert found.reasons == [
        "p1-poplar1: vPOD jobs is not in pods.yml: allocation of_rack has p1-ipum1 of it",
    ]
    there = held(1)
    there["allocations"] = {"jobs": there["allocations"]["of_rack"]}
    found = adopted(for_jobs(), {"p1-poplar1": there})
    assert found.document["vpods"]["jobs"] == {
        "cluster": "rack",
        "ipus": 4,
        "ipu_machines": MACHINES[1][:1],
        "vlan": 110,
    }


def test_a_vpod_that_is_for_jobs_goes_with_its_cluster_and_is_not_kept_when_it_is_to_go() -> None:
    found = adopted(for_jobs(), {"p1-poplar1": {**held(1, cluster="other"), "allocations": {}}})
    assert found.document["vpods"] == {}
    assert found.reasons == ["p1-poplar1: vPOD jobs is not in pods.yml: cluster rack is not in pods.yml"]
    assert adopted(for_jobs(state="absent"), {"p1-poplar1": {**held(1), "allocations": {}}}).reasons == []


def test_a_user_of_a_job_is_not_a_vpods_also_where_the_names_meet() -> None:
    there = held(1)
    there["users"] = {name: {"allocations": ["of_rack"], "admin": False} for name in ("j7", "ann")}
    found = adopted({**DOCUMENT, "vpods": {}}, {"p1-poplar1": there})
    assert found.document["vpods"]["of_rack"]["users"] == ["ann"]
