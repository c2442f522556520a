# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has something to do in a run and with what, and whom it needs besides."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.stage_members import (
    by_stage,
    changing,
    disturbed,
    helpers,
    members,
    verifying,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.stage_steps import Plan
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import tenancy_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory import stages
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.hosts import IDLE
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.stages import group_of
from tests.support.in_memory.pod import CONTROLLER, declared
from tests.unit.decision.two_vpods import ALICE_GOES, CAROL, VPODS, decided, request

Looks = dict[str, Any]
WITH_CAROL = {**VPODS, "carol": CAROL}
SERVERS = ["p-poplar1", "p-poplar2", "p-poplar3"]


def found(looks: Looks, vpods: Any, verifies_all: bool = False, pod: Any = None, **words: Any) -> list[dict[str, Any]]:
    decision = decided(looks, vpods, pod, **words)
    return members(decision, declared(vpods, **(pod or {})), looks, request(**words), verifies_all)


def groups(of: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {each["host"]: each["groups"] for each in of}


def test_who_has_a_step_is_in_its_stage_with_what_it_should_be(looks: Looks) -> None:
    of = found(looks, WITH_CAROL)
    verification = group_of(stages.VERIFICATION)
    assert groups(of) == {
        "p-tor": [group_of(stages.SWITCHES)],
        "p-poplar1": [verification],
        "p-poplar2": [verification],
        "p-poplar3": [group_of(stages.VPODS), verification],
        CONTROLLER: [group_of(stages.CONTROLLERS), group_of(stages.TENANTS)],
    }
    (carol,) = [each["options"] for each in of if each["host"] == "p-poplar3"]
    assert carol[stages.VPODS]["owner"] == "vpod carol"
    assert carol[stages.VERIFICATION].keys() == {"interface", "peers", "partitions"}
    assert changing(of) == ["p-tor", "p-poplar3", CONTROLLER]
    assert verifying(of) == SERVERS


def test_a_pod_as_declared_has_nobody_unless_everything_is_to_be_verified(looks: Looks) -> None:
    assert found(looks, VPODS) == []
    everybody = found(looks, VPODS, verifies_all=True)
    assert [each["host"] for each in everybody] == SERVERS
    assert changing(everybody) == []
    assert verifying([]) == []


def test_a_server_with_nothing_to_reach_verifies_nothing(looks: Looks) -> None:
    decision = decided(looks)
    assert decision.tenancy is not None
    decision.tenancy.wanted["poplar_servers"]["p-poplar3"]["peers"] = {}
    everybody = members(decision, declared(VPODS), looks, request(), verifies_all=True)
    assert [each["host"] for each in everybody] == SERVERS[:2]


def test_canaries_come_first(looks: Looks) -> None:
    of = found(looks, {}, verifies_all=True, pod={"canary": ["p-poplar2"]}, allowed=("alice", "bob"))
    assert [each["host"] for each in of if each["host"] in SERVERS] == ["p-poplar2", "p-poplar1", "p-poplar3"]


def test_who_is_left_out_by_limit_has_nothing_to_do(looks: Looks) -> None:
    assert groups(found(looks, WITH_CAROL, hosts=("p-tor", "p-poplar3"))).keys() == {"p-tor", "p-poplar3"}


def test_after_the_stage_in_which_the_controller_decides_everything_waits(looks: Looks) -> None:
    looks[CONTROLLER]["parts"]["controllers"][""]["allocates_by_agents"] = False
    vpods = {**ALICE_GOES, "carol": CAROL}
    assert {group for each in found(looks, vpods, allowed=("alice",)) for group in each["groups"]} == {
        group_of(name)
        for name in (
            *(stages.VPODS_DOWN, stages.TENANTS_DOWN, stages.SWITCHES_DOWN, stages.ALLOCATIONS_DOWN),
            stages.CONTROLLERS,
        )
    }


@pytest.mark.parametrize(
    ("changes", "verified"),
    [("p-tor", ["p-poplar1"]), ("q-poplar1", ["q-poplar1"]), ("v", ["p-poplar1", "q-poplar1"])],
)
def test_only_the_pods_in_which_something_changes_are_verified(changes: str, verified: list[str]) -> None:
    rack = {"model": "bow-pod64", "addressing": "multi-rack"}
    declaration = parse_declaration(
        {
            "schema": 1,
            "pods": {name: {**rack, "lrack": number} for number, name in enumerate("pqr", 1)},
            "controllers": {"v": {"address": "10.9.9.9"}},
            "clusters": {"c": {"controller": "v", "pods": ["p", "q"]}},
        }
    )
    tenancy = tenancy_of(declaration, {}, {})
    decision = Decision(tenancy, [], [], plan=Plan(options={stages.SERVERS: {changes: {}}}))
    everybody = request(hosts=[f"{pod}-{kind}" for pod in "pqr" for kind in ("tor", "poplar1")])
    of = members(decision, declaration, {}, everybody, verifies_all=False)
    assert [each["host"] for each in of if stages.VERIFICATION in each["options"]] == verified


def test_a_run_of_some_layers_alone_verifies_nothing(looks: Looks) -> None:
    of = found(looks, WITH_CAROL, parts=("controllers", "switches"))
    assert not verifying(of)
    assert changing(of) == ["p-tor", CONTROLLER]


def test_only_who_is_up_can_wake_a_neighbour(looks: Looks) -> None:
    looks["p-poplar2"]["parts"]["links"]["links"]["rnic0"]["up"] = False
    looks["p-poplar3"]["parts"]["links"] = {"message": "it would not say"}
    (switch,) = [each["options"] for each in found(looks, WITH_CAROL) if each["host"] == "p-tor"]
    assert list(switch[stages.SWITCHES]["arp_probes"]) == ["p-poplar1"]


@pytest.mark.parametrize(
    ("nics", "idle"),
    [
        ([{"rdma_device": None, "up": True}, {"rdma_device": "mlx5_0", "up": False}], True),
        ([{"rdma_device": "mlx5_0", "up": False}, {"rdma_device": "mlx5_1", "up": True}], False),
        ([], False),
    ],
)
def test_a_server_is_idle_if_all_its_rdma_nics_are_down(nics: list[dict[str, Any]], idle: bool) -> None:
    declaration = declared({})
    plan = Plan(options={stages.SERVERS: {"p-poplar1": {}}})
    looks = {"p-poplar1": {"outcome": "answered", "parts": {"nics": {"nics": nics}}}}
    decision = Decision(tenancy_of(declaration, {}, {}), [], [], plan=plan)
    (of,) = members(decision, declaration, looks, request(parts=("servers",)), verifies_all=False)
    assert of["groups"] == [group_of(stages.SERVERS), *[IDLE] * idle]


def test_whom_a_run_needs_besides(looks: Looks) -> None:
    of = found(looks, WITH_CAROL)
    probes = "sends ARP probes to IPU-Machines on p-tor"
    assert [(each["device"], each["for"]) for each in helpers(of, {CONTROLLER: ["p", "q"]})] == [
        (CONTROLLER, "keeps the locks of p, q"),
        *((name, probes) for name in SERVERS),
        *((name, "verifies") for name in SERVERS),
    ]


def test_steps_by_stage_and_device() -> None:
    steps = [{"stage": stage, "device": device} for stage, device in [("a", "x"), ("a", "y"), ("b", "x"), ("a", "x")]]
    assert by_stage(steps) == {"a": {"x": [steps[0], steps[3]], "y": [steps[1]]}, "b": {"x": [steps[2]]}}


def test_what_is_removed_or_disturbed_by_stage() -> None:
    said = [
        ("a", "x", "create", "none"),
        ("a", "y", "update", "disruptive"),
        ("a", "y", "remove", "none"),
        ("b", "x", "recreate", "tenant outage"),
        ("b", "y", "remove", "none"),
        ("c", "x", "update", "none"),
    ]
    steps = [dict(zip(("stage", "device", "action", "risk"), each, strict=True)) for each in said]
    assert disturbed(steps) == {"a": ["y"], "b": ["x", "y"]}
