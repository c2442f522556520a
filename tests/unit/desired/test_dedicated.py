# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dedicated V-IPU controllers: whose they are, what they hold, and which ports they have."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import tenancy_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

HOST, OWN_HOST = "p-poplar1", "alice-controller"
ALICE = {
    "cluster": "c",
    "ipus": 16,
    "vlan": 101,
    "users": ["alice"],
    "controller": "dedicated",
    "poplar_servers": ["p-poplar1"],
    "partitions": {"train": {"ipus": 8}},
}
BOB = {
    "cluster": "c",
    "ipus": 8,
    "vlan": 102,
    "users": ["bob"],
    "poplar_servers": ["p-poplar2"],
    "partitions": {"serve": {"ipus": 8}},
}


def document(mode: str = "secure", pods: int = 1, **vpods: Any) -> dict[str, Any]:
    names = ["p", "q"][:pods]
    return {
        "schema": 1,
        "pods": {
            name: {"model": "bow-pod64", "lrack": lrack, "addressing": "multi-rack", "poplar_servers": 2}
            for lrack, name in enumerate(names, 1)
        },
        "controllers": {"v": {"host": HOST, "mode": mode, "strict_sizes": True}},
        "clusters": {"c": {"controller": "v", "pods": names, "topology": "torus", "looped": True}},
        "vpods": vpods,
    }


def desired_of(*, mode: str = "secure", pods: int = 1, **vpods: Any) -> dict[str, dict[str, Any]]:
    declaration = parse_declaration(document(mode, pods, **vpods))
    return desired(declaration, place(declaration, {}))


def problems(declared: dict[str, Any]) -> list[str]:
    with pytest.raises(DeclarationError) as refused:
        parse_declaration(declared)
    return refused.value.problems


def test_it_holds_its_vpod_alone() -> None:
    (own,) = desired_of(alice=ALICE, bob=BOB)["dedicated_controllers"][HOST]
    machines = [f"p-ipum{n}" for n in range(1, 5)]
    assert own == {
        "name": "alice",
        "mode": "secure",
        "certificate_addresses": [],
        "user_port": 10404,
        "admin_port": 10405,
        "metrics_port": 10406,
        "strict_sizes": True,
        "any_replica_size": False,
        "agents": [{"name": f"p-ipum{n}", "host": f"10.2.1.{n}", "port": 8080} for n in range(1, 5)],
        "clusters": [{"name": "alice", "agents": machines, "ipu_link_domains": 1}],
        "allocations": [{"name": "alice", "cluster": "alice", "size": 16, "agents": machines}],
        "users": [{"name": "alice", "allocations": ["alice"]}],
        "partitions": [{"name": "train", "allocation": "alice", "size": 8, "reconfigurable": False}],
    }


def test_the_shared_controller_keeps_its_place_and_nothing_else_of_it() -> None:
    shared = desired_of(alice=ALICE, bob=BOB)["vipu_controllers"][HOST]
    assert {each["name"]: each["cluster"] for each in shared["allocations"]} == {"alice": "c", "bob": "c"}
    assert [each["name"] for each in shared["users"]] == ["bob"]
    assert [each["name"] for each in shared["partitions"]] == ["serve"]
    assert len(shared["agents"]) == 16


def test_its_servers_ask_it_and_those_of_others_do_not() -> None:
    servers = desired_of(alice=ALICE, bob=BOB)["poplar_servers"]
    ends = {
        name: [servers[name]["vipu"][key] for key in ("controller", "dedicated", "admin_port", "api_port", "user")]
        for name in ("p-poplar1", "p-poplar2")
    }
    assert ends == {
        "p-poplar1": [HOST, "alice", 10405, 10404, "alice"],
        "p-poplar2": [HOST, None, 8091, 8090, "bob"],
    }
    assert [each["api_port"] for each in servers["p-poplar1"]["ipuof"]["partitions"]] == [10404]


def test_on_a_host_of_its_own_it_is_the_same_and_its_servers_ask_it_there() -> None:
    away = {**ALICE, "controller_address": "10.3.1.220"}
    beside, own = desired_of(alice=ALICE, bob=BOB), desired_of(alice=away, bob=BOB)
    assert own["dedicated_controllers"] == {HOST: [], OWN_HOST: beside["dedicated_controllers"][HOST]}
    assert own["vipu_controllers"] == beside["vipu_controllers"]
    client = own["poplar_servers"]["p-poplar1"]["vipu"]
    assert (client["controller"], client["dedicated"], client["api_host"]) == (OWN_HOST, "alice", "10.3.1.220")
    assert own["poplar_servers"]["p-poplar2"]["vipu"]["controller"] == HOST


def test_the_certificate_of_one_on_a_host_of_its_own_is_for_its_address_in_a_cloud() -> None:
    declared = document(alice={**ALICE, "controller_address": "10.3.1.220"}, bob=BOB)
    declared["clouds"] = {
        "cloud001": {
            "physical_network": "rnic",
            "control_network": "control",
            "control_sources": [],
            "controllers": {OWN_HOST: "10.6.1.220"},
        }
    }
    declaration = parse_declaration(declared)
    wanted = desired(declaration, place(declaration, {}))
    assert wanted["dedicated_controllers"][OWN_HOST][0]["certificate_addresses"] == ["10.6.1.220"]
    assert wanted["vipu_controllers"][HOST]["certificate_addresses"] == []


def test_insecure_it_has_no_users() -> None:
    (own,) = desired_of(mode="insecure", alice=ALICE)["dedicated_controllers"][HOST]
    assert (own["mode"], own["users"]) == ("insecure", [])


@pytest.mark.parametrize(
    ("ipus", "expected"),
    [
        (32, {"ipu_link_domains": 1}),
        (64, {"ipu_link_domains": 1, "topology": "torus"}),
        (128, {"ipu_link_domains": 2, "topology": "torus", "looped": True}),
    ],
)
def test_only_what_is_whole_is_a_torus_or_a_loop(ipus: int, expected: dict[str, Any]) -> None:
    (own,) = desired_of(pods=2, alice={**ALICE, "ipus": ipus, "poplar_servers": []})["dedicated_controllers"][HOST]
    (cluster,) = own["clusters"]
    assert {key: value for key, value in cluster.items() if key not in ("name", "agents")} == expected


def test_ports_can_be_declared_one_by_one() -> None:
    (own,) = desired_of(alice={**ALICE, "controller_ports": {"user": 8190}})["dedicated_controllers"][HOST]
    assert [own[f"{name}_port"] for name in ("user", "admin", "metrics")] == [8190, 10405, 10406]


def test_ports_stay_when_another_vpod_goes() -> None:
    both = desired_of(bob={**BOB, "controller": "dedicated"}, alice=ALICE)["dedicated_controllers"][HOST]
    alone = desired_of(alice=ALICE)["dedicated_controllers"][HOST]
    assert both[1]["user_port"] == alone[0]["user_port"]


def test_without_vlan_its_ports_have_to_be_declared() -> None:
    without = {key: value for key, value in ALICE.items() if key != "vlan"}
    assert problems(document(alice=without)) == [
        "vpods.alice.controller_ports: a dedicated controller needs ports of its own; declare vpods.alice.vlan, or all "
        "three here"
    ]
    declared = {**without, "controller_ports": {"user": 8190, "admin": 8191, "metrics": 8192}}
    assert desired_of(alice=declared)["dedicated_controllers"][HOST][0]["admin_port"] == 8191


@pytest.mark.parametrize(
    ("key", "port", "there"),
    [
        ("user", 8090, "controllers.v.user_port"),
        ("admin", 8091, "controllers.v.admin_port"),
        ("metrics", 2113, "the metrics of controllers.v"),
        ("user", 10405, "vpods.alice.controller_ports.admin"),
    ],
)
def test_a_port_that_another_controller_of_the_host_has_is_refused(key: str, port: int, there: str) -> None:
    bob = {**BOB, "controller": "dedicated", "controller_ports": {key: port}}
    assert problems(document(alice=ALICE, bob=bob)) == [
        f"vpods.bob.controller_ports.{key}: {port} on {HOST} is also {there}; declare another"
    ]


def test_beside_a_controller_that_is_not_managed_none_is_made() -> None:
    declared = document(alice=ALICE)
    declared["pods"]["p"]["managed"] = ["switch", "servers"]
    assert problems(declared) == [
        f"vpods.alice.controller: the controller on {HOST} is not managed, and so none is made beside it; say shared, "
        "or add controller to `managed` of its pods"
    ]


def test_two_controllers_of_clusters_on_one_host_are_refused() -> None:
    wanted = document()
    wanted["controllers"]["w"] = {"host": HOST, "user_port": 8190, "admin_port": 8191}
    assert problems(wanted) == [f"controllers.w.host: {HOST} already runs controllers.v; put this one on another host"]


def test_two_dedicated_controllers_may_know_one_partition_by_the_same_name() -> None:
    bob = {**BOB, "controller": "dedicated", "partitions": {"train": {"ipus": 8}}}
    assert len(desired_of(alice=ALICE, bob=bob)["dedicated_controllers"][HOST]) == 2
    shared = {**ALICE, "controller": "shared"}
    assert (
        "the controller knows this name from"
        in problems(document(alice=shared, bob={**bob, "controller": "shared"}))[0]
    )


def test_a_vpod_that_is_to_go_loses_its_controller() -> None:
    wanted = desired_of(alice={"cluster": "c", "state": "absent"}, bob=BOB)
    assert wanted["removed_controllers"] == {HOST: ["alice"]}
    assert wanted["dedicated_controllers"] == {HOST: []}


def test_a_vpod_that_is_made_again_leaves_nothing_but_the_administrator_on_its_controller() -> None:
    held = {
        "agents": {"p-ipum1": {}, "p-ipum2": {}},
        "clusters": {"alice": {}},
        "allocations": {"alice": {}},
        "users": {"admin": {"admin": True, "allocations": []}, "alice": {"admin": False, "allocations": ["alice"]}},
        "partitions": {"train": {"status": "ERROR"}, "of-the-tenant": {"status": "ERROR"}},
    }
    there = {HOST: {"allocations": {"alice": {"agents": ["p-ipum1", "p-ipum2"]}}, "users": {}, "partitions": {}}}
    for dedicated, gone in (
        (held, [["p-ipum1", "p-ipum2"], ["alice"], ["alice"], ["alice"], [*held["partitions"]]]),
        (None, [[]] * 5),
    ):
        there[HOST]["dedicated"] = {"alice": dedicated}
        plan = tenancy_of(parse_declaration(document(alice=ALICE)), there, {})
        (emptied,) = plan.teardown["vipu_controllers"][HOST]["emptied"]
        assert emptied.pop("name") == "alice"
        assert [[each["name"] for each in entities] for entities in emptied.values()] == gone
        assert {each["state"] for entities in emptied.values() for each in entities} <= {"absent"}
        assert plan.teardown["vipu_controllers"][HOST]["removed"] == []


def test_a_host_of_its_own_shares_no_port_with_others() -> None:
    taken = {"user": 8090, "admin": 8091, "metrics": 2113}
    alice = {**ALICE, "controller_address": "10.3.1.220", "controller_ports": taken}
    assert desired_of(alice=alice)["dedicated_controllers"][OWN_HOST][0]["user_port"] == 8090


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"controller": "shared", "controller_address": "10.3.1.220"},
            "controller_address: is that of a dedicated controller; say controller: dedicated, or leave it out",
        ),
        (
            {"controller_address": "10.3.1.101"},
            "controller_address: 10.3.1.101 of alice-controller is also the management_address of p-poplar1; use a "
            "free address",
        ),
        (
            {"controller_address": "10.3.1.256"},
            "controller_address: '10.3.1.256' is not an IPv4 address such as 10.3.1.101",
        ),
    ],
)
def test_an_address_that_is_none_or_anothers_is_refused(words: dict[str, Any], message: str) -> None:
    assert problems(document(alice={**ALICE, **words})) == [f"vpods.alice.{message}"]


def test_the_host_of_its_own_has_a_name_of_its_own() -> None:
    declared = document(alice={**ALICE, "controller_address": "10.3.1.220"})
    declared["controllers"]["alice-controller"] = {"address": "10.3.1.221"}
    assert problems(declared) == [
        "vpods.alice.controller_address: its host would be called 'alice-controller', which is the name of "
        "controllers.alice-controller; give that or the vPOD another name"
    ]


def test_what_goes_on_a_host_of_its_own_goes_there_and_the_place_with_the_clusters_controller() -> None:
    there = {
        HOST: {"allocations": {"alice": {"agents": ["p-ipum1"]}}, "users": {}, "partitions": {}, "dedicated": {}},
        OWN_HOST: {
            "allocations": {},
            "users": {},
            "partitions": {},
            "dedicated": {"alice": {"partitions": {"train": {"status": "ACTIVE"}}}},
        },
    }
    away = {"cluster": "c", "controller_address": "10.3.1.220"}
    found = tenancy_of(parse_declaration(document(alice={**away, "state": "absent"}, bob=BOB)), there, {})
    torn_down = found.teardown["vipu_controllers"]
    assert (torn_down[OWN_HOST]["removed"], torn_down[OWN_HOST]["allocations"]) == (["alice"], [])
    assert torn_down[HOST]["removed"] == []
    assert torn_down[HOST]["allocations"] == [{"name": "alice", "state": "absent"}]
    (felt,) = found.impact
    assert felt.partitions == ("train",)
    again = tenancy_of(parse_declaration(document(alice={**ALICE, **away}, bob=BOB)), there, {})
    (emptied,) = again.teardown["vipu_controllers"][OWN_HOST]["emptied"]
    assert emptied["partitions"] == [{"name": "train", "state": "absent"}]
    assert again.teardown["vipu_controllers"][HOST]["emptied"] == []


def test_a_vpod_that_goes_takes_its_controller_along() -> None:
    there = {HOST: {"allocations": {"alice": {"agents": ["p-ipum1"]}}, "users": {}, "partitions": {}, "dedicated": {}}}
    declared = document(alice={"cluster": "c", "state": "absent"}, bob=BOB)
    torn_down = tenancy_of(parse_declaration(declared), there, {}).teardown["vipu_controllers"][HOST]
    assert (torn_down["removed"], torn_down["emptied"]) == (["alice"], [])
