# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decision of a run as a whole: its refusals before anything is touched, the unknown, and where it waits."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision, left_servers
from tests.support.in_memory.pod import CONTROLLER, declared, pod
from tests.unit.decision.two_vpods import ALICE, ALICE_GOES, BOB, CAROL, DEVICES, VPODS, brief_steps, decided

Looks = dict[str, Any]
PINNED = {
    "alice": {**ALICE, "ipu_machines": [f"p-ipum{n}" for n in (1, 2, 3, 4)]},
    "bob": {**BOB, "ipu_machines": ["p-ipum5", "p-ipum6"]},
}


def silent(looks: Looks, name: str, outcome: str = "timed out", message: str = "No route to host") -> None:
    looks[name].update(outcome=outcome, message=message, parts={})


def shared(looks: Looks) -> dict[str, Any]:
    """The contents of the cluster's controller."""
    controller: dict[str, Any] = looks[CONTROLLER]["parts"]["controllers"][""]
    return controller


def test_a_pod_as_declared_needs_nothing(looks: Looks) -> None:
    found = decided(looks)
    assert (found.refusals, found.unseen, found.findings, found.plan.steps, found.point) == ([], [], [], [], "")


@pytest.mark.parametrize("outcome", ["timed out", "refused", "failed"])
def test_a_device_that_does_not_answer_is_refused_and_the_rest_is_planned(looks: Looks, outcome: str) -> None:
    silent(looks, "p-poplar1", outcome, "its own words; and a remedy")
    found = decided(looks, {**VPODS, "carol": CAROL})
    assert found.refusals == ["p-poplar1: its own words; and a remedy"]
    assert found.unseen == [{"device": "p-poplar1", "message": "its own words; and a remedy"}]
    devices = {step["device"] for step in found.plan.steps}
    assert "p-poplar3" in devices
    assert "p-poplar1" not in devices


@pytest.mark.parametrize("name", ["p-tor", "p-poplar1", CONTROLLER])
def test_a_device_that_was_not_even_looked_at_is_refused(looks: Looks, name: str) -> None:
    del looks[name]
    found = decided(looks)
    assert found.refusals[0].startswith(f"{name}: Ansible could not begin to look at it; ")
    assert [each["device"] for each in found.unseen] == [name]


@pytest.mark.parametrize(
    ("words", "pod"),
    [
        ({"hosts": [name for name in DEVICES if name != "p-poplar1"]}, {}),
        ({"only": ("bob",)}, {}),
        ({}, {"managed": ["switch", "controller"]}),
    ],
)
def test_a_device_that_the_run_is_not_about_need_not_answer(looks: Looks, words: Any, pod: Any) -> None:
    silent(looks, "p-poplar1")
    assert decided(looks, pod=pod, **words).refusals == []


def test_where_nobody_says_where_vpods_lie_nothing_is_planned(looks: Looks) -> None:
    looks[CONTROLLER]["parts"]["controllers"][""] = {"storage": True, "message": "nobody listens"}
    found = decided(looks)
    assert found.tenancy is None
    assert found.plan.steps == []
    assert found.refusals[0] == (
        f"nobody listens; start vipu-server on {CONTROLLER}, or correct the controller in pods.yml"
    )
    assert found.refusals[1].startswith(f"vpods.alice: the controller on {CONTROLLER} says where it lies and could not")


def test_pins_say_where_vpods_lie_although_the_controller_does_not(looks: Looks) -> None:
    silent(looks, CONTROLLER)
    found = decided(looks, PINNED)
    assert found.tenancy is not None
    assert found.tenancy.placement["bob"] == ["p-ipum5", "p-ipum6"]
    assert [each for each in found.refusals if each.startswith(f"{CONTROLLER}: No route to host")]


def test_a_vpod_that_is_not_declared_is_refused(looks: Looks) -> None:
    found = decided(looks, only=("al",))
    assert found.refusals == ["vpods_only: 'al' is no vPOD of pods.yml, which has alice, bob"]
    assert found.plan.steps == []


def test_running_work_does_not_end_unless_somebody_says_so(looks: Looks) -> None:
    (refusal,) = decided(looks, ALICE_GOES).refusals
    assert refusal.startswith("it would end what runs: vPOD alice is to go; ")
    assert "partition train" in refusal
    assert decided(looks, ALICE_GOES, allowed=("alice",)).refusals == []
    # Who only looks is not refused.
    assert decided(looks, ALICE_GOES, parts=(), checks_cables=False).refusals == []


def test_a_vpod_goes_down_through_all_layers_or_through_none(looks: Looks) -> None:
    found = decided(looks, ALICE_GOES, allowed=("alice",), parts=("switches",))
    assert found.refusals == ["vPOD alice is to go, which is more than this playbook does; run playbooks/vpods.yml"]


@pytest.mark.parametrize(
    ("vpod", "words", "start"),
    [
        ("alice", {"controller": "dedicated"}, "vPOD alice shall have a dedicated controller, and has partitions on"),
        (
            "bob",
            {"controller": "shared"},
            "vPOD bob shall be on the shared controller of ctrl, and has a dedi",
        ),
    ],
)
def test_users_and_partitions_do_not_move_between_controllers(looks: Looks, vpod: str, words: Any, start: str) -> None:
    found = decided(looks, {**VPODS, vpod: {**VPODS[vpod], **words}}, allowed=("alice", "bob"))
    (refusal,) = [each for each in found.refusals if "cannot move" in each]
    assert refusal.startswith(start)
    assert refusal.endswith("make the vPOD absent first")


@pytest.mark.parametrize("state", ["present", "absent"])
def test_a_dedicated_controller_does_not_move_to_a_host_of_its_own(looks: Looks, state: str) -> None:
    looks["bob-controller"] = pod(["bob-controller"]).looks()["bob-controller"]
    away = {**BOB, "controller_address": "10.1.3.220", "state": state}
    hosts = (*DEVICES, "bob-controller")
    (refusal,) = decided(looks, {**VPODS, "bob": away}, allowed=("bob",), hosts=hosts).refusals
    assert refusal.startswith("vPOD bob shall have its dedicated controller on bob-controller, and has it on ctrl; ")


def test_a_host_of_a_dedicated_controller_that_does_not_answer_is_refused(looks: Looks) -> None:
    carol = {**CAROL, "controller": "dedicated", "controller_address": "10.1.3.220"}
    looks["carol-controller"] = {"outcome": "timed out", "message": "No route to host", "parts": {}}
    hosts = (*DEVICES, "carol-controller")
    for only in (None, ("carol",)):
        found = decided(looks, {**VPODS, "carol": carol}, hosts=hosts, only=only)
        assert found.refusals[0] == "carol-controller: No route to host"
        assert found.unseen[0] == {"device": "carol-controller", "message": "No route to host"}
    assert decided(looks, {**VPODS, "carol": carol}, hosts=hosts, only=("alice",)).refusals == []


def test_what_contradicts_itself_is_refused_where_it_matters(looks: Looks) -> None:
    network = looks["p-poplar3"]["parts"]["network"]
    network["gathered"][0]["addresses"] = ["10.1.5.3/24"]
    (refusal,) = decided(looks, parts=("switches",)).refusals
    assert "10.1.5.3 is its rnic_address in pods.yml" in refusal
    assert decided(looks, parts=(), checks_cables=False).refusals == []


def found_things(decision: Decision) -> list[tuple[str, str, str]]:
    """Device, kind and name of each finding."""
    return [(each["device"], each["kind"], each["name"]) for each in decision.findings]


def test_a_partition_that_does_not_work_is_a_finding_and_not_a_step(looks: Looks) -> None:
    shared(looks)["partitions"]["train"]["status"] = "ERROR"
    found = decided(looks)
    assert found_things(found) == [(CONTROLLER, "partition", "train")]
    assert (found.refusals, found.unseen, found.plan.steps) == ([], [], [])
    assert decided(looks, parts=("switches",)).findings == []
    # A run that changes nothing says it, too.
    assert decided(looks, parts=(), checks_cables=False).findings == found.findings


def test_so_is_one_of_a_dedicated_controller(looks: Looks) -> None:
    looks[CONTROLLER]["parts"]["controllers"]["bob"]["partitions"]["serve"]["status"] = "ERROR"
    assert found_things(decided(looks)) == [(CONTROLLER, "partition", "serve")]
    assert decided(looks, hosts=("p-tor",)).findings == []


def test_an_agent_that_is_down_is_a_finding_of_those_who_have_its_machine(looks: Looks) -> None:
    shared(looks)["agents"]["p-ipum2"]["status"] = "Down"
    found = decided(looks)
    assert found_things(found) == [(CONTROLLER, "agent", "p-ipum2")]
    assert (found.refusals, found.unseen, found.plan.steps) == ([], [], [])
    assert found_things(decided(looks, only=("alice",))) == found_things(found)
    assert decided(looks, only=("bob",)).findings == []
    assert decided(looks, pod={"excluded": ["p-ipum2"]}).findings == []
    assert decided(looks, {"alice": ALICE}, pod={"managed": ["switch", "servers"]}).findings == []


def test_what_keeps_a_port_from_working_is_a_finding_and_not_a_step(looks: Looks) -> None:
    looks["p-tor"]["parts"]["status"]["links"]["Ethernet25/1"] = "errdisabled"
    found = decided(looks)
    assert found_things(found) == [("p-tor", "port", "Ethernet25/1")]
    assert (found.refusals, found.unseen, found.plan.steps) == ([], [], [])
    assert found_things(decided(looks, only=("alice",))) == found_things(found)
    assert decided(looks, only=("bob",)).findings == []
    assert decided(looks, parts=("servers",)).findings == []
    assert decided(looks, pod={"managed": ["servers", "controller"]}).findings == []


def test_a_nic_that_is_off_is_a_step(looks: Looks) -> None:
    looks["p-poplar2"]["parts"]["links"]["links"]["rnic0"]["up"] = False
    found = decided(looks)
    assert (found.refusals, found.findings) == ([], [])
    assert brief_steps(found) == [("servers", "p-poplar2", "interface", "rnic0")]
    assert found.plan.steps[0]["from"] == {"up": False}


def test_a_switch_that_does_not_say_what_works_has_not_been_looked_at(looks: Looks) -> None:
    looks["p-tor"]["parts"]["status"] = {"message": "it would not say"}
    found = decided(looks)
    assert found.unseen == [{"device": "p-tor", "message": "it would not say"}]
    assert (found.refusals, found.findings, found.plan.steps) == ([], [], [])
    looks["p-tor"]["parts"]["running_config"] = {"message": "it would not say"}
    assert decided(looks).unseen == [{"device": "p-tor", "message": "it would not say"}]


@pytest.mark.parametrize(("by_agents", "point"), [(True, ""), (False, "controllers")])
def test_where_only_the_controller_knows_where_an_allocation_comes_to_lie_the_plan_waits_for_it(
    looks: Looks, by_agents: bool, point: str
) -> None:
    shared(looks)["allocates_by_agents"] = by_agents
    assert decided(looks, {**VPODS, "carol": CAROL}).point == point
    assert decided(looks).point == ""


def test_a_run_that_goes_on_after_that_does_no_stage_twice(looks: Looks) -> None:
    vpods = {**VPODS, "alice": {**ALICE, "ipus": 8}}
    stages = {stage for stage, *_thing in brief_steps(decided(looks, vpods, allowed=("alice",)))}
    assert {"allocations_down", "controllers"} <= stages
    # Its looks would not say that any more; what still did would not be done in a stage that is over.
    found = decided(looks, vpods, allowed=("alice",), goes_on=True)
    assert not {stage for stage, *_thing in brief_steps(found)} & {"allocations_down", "controllers"}


def test_a_refusal_of_one_device_names_it(looks: Looks) -> None:
    looks["p-tor"]["parts"]["sessions"]["busy"] = {"joe": "pending"}
    found = decided(looks, {**VPODS, "carol": CAROL})
    (refusal,) = found.refusals
    assert refusal.startswith("p-tor: ")
    assert {"device": "p-tor", "message": refusal.removeprefix("p-tor: ")} in found.unseen
    assert not [each for each in brief_steps(found) if each[1] == "p-tor"]


def test_what_is_not_managed_has_no_step(looks: Looks) -> None:
    found = decided(looks, {**VPODS, "carol": CAROL}, pod={"managed": ["switch", "controller"]})
    assert {step["device"] for step in found.plan.steps} == {"p-tor", CONTROLLER}


def test_the_servers_that_a_vpod_leaves_are_known_from_the_looks(looks: Looks) -> None:
    moved = declared({**VPODS, "alice": {**ALICE, "poplar_servers": ["p-poplar3"]}})
    assert left_servers(moved, looks, ["alice"]) == ["p-poplar1"]
    assert left_servers(moved, looks, ["bob"]) == []
    assert left_servers(moved, looks, ["nobody"]) == []
