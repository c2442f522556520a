# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has something to do in a run and with what, whom it needs besides, and the plan as a document."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.account import (
    by_stage,
    changing,
    document_of,
    helpers,
    left_out,
    members,
    not_ours,
    notes,
    verifying,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.layers import Plan
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import tenancy_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod import stages
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.hosts import IDLE
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.stages import group_of
from ansible_collections.ipu.pod.plugins.plugin_utils._review.rack import rack_of
from tests.unit.decision.pod_in_memory import CONTROLLER, declared
from tests.unit.decision.two_vpods import ALICE_GOES, BOB, CAROL, VPODS, decided, request
from tests.unit.vpods.vpods_of_a_pod import held

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
    assert verifying(of)


def test_a_pod_as_declared_has_nobody_unless_everything_is_to_be_verified(looks: Looks) -> None:
    assert found(looks, VPODS) == []
    everybody = found(looks, VPODS, verifies_all=True)
    assert [each["host"] for each in everybody] == SERVERS
    assert changing(everybody) == []
    assert not verifying([])


def test_canaries_come_first(looks: Looks) -> None:
    of = found(looks, {}, verifies_all=True, pod={"canary": ["p-poplar2"]}, told=("alice", "bob"))
    assert [each["host"] for each in of if each["host"] in SERVERS] == ["p-poplar2", "p-poplar1", "p-poplar3"]


def test_who_is_left_out_by_limit_has_nothing_to_do(looks: Looks) -> None:
    assert groups(found(looks, WITH_CAROL, hosts=("p-tor", "p-poplar3"))).keys() == {"p-tor", "p-poplar3"}


def test_after_the_stage_in_which_the_controller_decides_everything_waits(looks: Looks) -> None:
    looks[CONTROLLER]["parts"]["controllers"][""]["allocates_by_agents"] = False
    vpods = {**ALICE_GOES, "carol": CAROL}
    assert {group for each in found(looks, vpods, told=("alice",)) for group in each["groups"]} == {
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


def test_the_plan_numbers_the_steps_and_says_whom_they_affect(looks: Looks) -> None:
    decision = decided(looks, WITH_CAROL)
    document = document_of(decision, looks, declared(WITH_CAROL), "2026-11-21T15:00:00Z", "ann@control")
    assert [step["number"] for step in document["steps"]] == list(range(1, len(decision.plan.steps) + 1))
    assert not [step for step in document["steps"] if {"stage", "phase"} & step.keys()]
    affected = {step["name"]: step["affected"]["vpods"] for step in document["steps"] if step["kind"] == "port"}
    assert affected["Ethernet29/1"] == ["carol"]
    assert (document["made"], document["by"], document["unseen"]) == ("2026-11-21T15:00:00Z", "ann@control", [])


def test_who_is_to_go_feels_what_is_taken_from_it(looks: Looks) -> None:
    decision = decided(looks, ALICE_GOES, told=("alice",))
    steps = document_of(decision, looks, declared(ALICE_GOES), "", "")["steps"]
    assert {tuple(step["affected"]["vpods"]) for step in steps if step["kind"] in ("port", "partition")} == {("alice",)}


def test_a_plan_that_cannot_be_made_says_why(looks: Looks) -> None:
    looks[CONTROLLER]["parts"]["controllers"][""] = {"storage": True, "message": "nobody listens"}
    decision = decided(looks)
    document = document_of(decision, looks, declared(VPODS), "", "")
    assert document["steps"] == []
    assert [each["message"] for each in document["unseen"]] == decision.refusals
    assert {each["device"] for each in document["unseen"]} == {"pods.yml"}


@pytest.mark.parametrize("told", [(), ("bob",)])
def test_a_vpod_with_a_dead_machine_is_shown_where_it_lies_or_where_a_run_that_may_move_it_puts_it(
    told: tuple[str, ...],
) -> None:
    declaration = declared({"bob": {**BOB, "ipus": 4}}, excluded=["p-ipum5"])
    there = {CONTROLLER: held(bob=["p-ipum5"])["v"]}
    tenancy = tenancy_of(declaration, there, {}, told=told)
    machine = tenancy.placement["bob"][0]
    assert (machine == "p-ipum5") == (told == ())
    (rack,) = rack_of(declaration, tenancy.placement)["pods"]
    assert [each["name"] for each in rack["machines"] if each["vpod"] == "bob"] == [machine]
    ports = {f"p-ipum{number}": f"Ethernet{number + 8}/1" for number in range(1, 17)}
    step = {"device": "p-tor", "layer": "switch", "action": "update", "kind": "port", "phase": 0, "stage": "switches"}
    step.update(dict.fromkeys(("from", "to", "reason", "risk", "observed")))
    plan = Plan([{**step, "name": name} for name in ports.values()])
    document = document_of(Decision(tenancy, [], [], plan=plan), {}, declaration, "", "")
    affected = [step["name"] for step in document["steps"] if "bob" in step["affected"]["vpods"]]
    assert affected == [ports[machine]]


def test_what_belongs_to_others_is_named(looks: Looks) -> None:
    assert not_ours(decided(looks).tenancy, looks) == []  # type: ignore[arg-type]
    without_bob = declared({"alice": VPODS["alice"]})
    listed = not_ours(tenancy_of(without_bob, decided(looks).tenancy.held, looks), looks)  # type: ignore[union-attr]
    assert {(each["device"], each["kind"], each["name"]) for each in listed} >= {(CONTROLLER, "allocation", "bob")}


@pytest.mark.parametrize(
    ("hosts", "managed", "lines"),
    [
        (("p-tor", *SERVERS, CONTROLLER), None, []),
        (("p-tor", CONTROLLER), None, ["Left out by --limit: p-poplar1, p-poplar2, p-poplar3"]),
        (
            (*SERVERS, CONTROLLER),
            ["servers", "controller"],
            ["Not managed by pods.yml: switches p-tor"],
        ),
        (
            ("p-tor",),
            ["switch"],
            [
                "Not managed by pods.yml: Poplar servers p-poplar1, p-poplar2, p-poplar3; V-IPU controllers on ctrl",
            ],
        ),
    ],
)
def test_what_a_run_does_not_look_at_is_told(hosts: Any, managed: Any, lines: list[str]) -> None:
    assert left_out(declared({}, **({"managed": managed} if managed else {})), request(hosts=hosts)) == lines


def test_what_is_under_way_on_devices_is_told(looks: Looks) -> None:
    assert notes(looks) == []
    looks["p-tor"]["parts"]["sessions"].update(timer=57, busy={"joe": "pending", "ann": "pending"})
    looks["p-poplar1"]["parts"]["network"].update(pending=True)
    looks["p-poplar2"]["parts"]["network"].update(undone=["a line"])
    looks["p-poplar3"]["parts"]["network"] = {"message": "it would not say"}
    assert notes(looks) == [
        "p-tor: a commit timer is running; the switch undoes that commit in 57 s",
        "p-tor: configuration sessions are open: ann, joe",
        "p-poplar1: a change of its NICs is not confirmed yet and undoes itself",
        "p-poplar2: a change of its NICs was not confirmed; the old settings are back",
    ]


def test_steps_by_stage_and_device() -> None:
    steps = [{"stage": stage, "device": device} for stage, device in [("a", "x"), ("a", "y"), ("b", "x"), ("a", "x")]]
    assert by_stage(steps) == {"a": {"x": [steps[0], steps[3]], "y": [steps[1]]}, "b": {"x": [steps[2]]}}
