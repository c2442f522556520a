# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages of a plan: what each is about, what it rests on, and whom a refusal stops."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.stage_steps import Plan, plan_of, targets_of
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import Tenancy, tenancy_of
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory import stages
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.stages import STAGES
from tests.support.in_memory.pod import CONTROLLER, declared
from tests.support.vpods_of_a_pod import held
from tests.unit.decision.two_vpods import ALICE, ALICE_GOES, BOB, CAROL, VPODS, brief_steps, decided

Looks = dict[str, Any]
CLIENT = "/etc/vipu/vipu-cli.hcl"
ALICE_HAS = {CONTROLLER: held(alice=["p-ipum1", "p-ipum2", "p-ipum3", "p-ipum4"])["v"]}


def tenancy(vpods: Any, there: Any = ALICE_HAS) -> Tenancy:
    return tenancy_of(declared(vpods), there, {})


def targets(vpods: Any, there: Any = ALICE_HAS) -> dict[str, dict[str, Any]]:
    """Stage to device to options, of stages in which there is any device."""
    found = {stage.name: targets_of(stage, tenancy(vpods, there)) for stage in STAGES}
    return {name: devices for name, devices in found.items() if devices}


def test_what_goes_is_in_the_stages_down_and_nothing_else() -> None:
    found = targets({"alice": {**ALICE, "state": "absent"}, "bob": BOB})
    assert {name: list(found[name]) for name in found if name in [stage.name for stage in stages.DOWN]} == {
        stages.VPODS_DOWN: ["p-poplar1"],
        # It may have a controller of its own.
        stages.DEDICATED_DOWN: [CONTROLLER],
        stages.TENANTS_DOWN: [CONTROLLER],
        stages.SERVERS_DOWN: ["p-poplar1"],
        stages.SWITCHES_DOWN: ["p-tor"],
        stages.ALLOCATIONS_DOWN: [CONTROLLER],
    }
    assert set(found[stages.TENANTS_DOWN][CONTROLLER]) == {"admin_port", "users", "partitions"}
    assert set(found[stages.ALLOCATIONS_DOWN][CONTROLLER]) == {"admin_port", "allocations"}


def test_a_server_that_is_settled_on_the_way_down_does_not_come_up_again() -> None:
    found = targets({"alice": {**ALICE, "state": "absent"}})
    for stage in (stages.SERVERS, stages.VPODS):
        assert list(found[stage]) == ["p-poplar2", "p-poplar3"]


def test_a_controller_has_its_own_before_its_tenants_have_theirs() -> None:
    found = targets(VPODS)
    assert not set(found[stages.TENANTS][CONTROLLER]) & {"agents", "clusters", "allocations"}
    assert {"users", "partitions"} <= set(found[stages.TENANTS][CONTROLLER])
    assert [each["name"] for each in found[stages.DEDICATED][CONTROLLER]] == ["bob"]
    assert stages.DEDICATED not in targets({"alice": ALICE})


def test_steps_stand_in_the_order_of_the_stages(looks: Looks) -> None:
    found = decided(looks, {**ALICE_GOES, "carol": CAROL}, allowed=("alice",))
    order = [stage.name for stage in STAGES]
    places = [order.index(step["stage"]) for step in found.plan.steps]
    assert places == sorted(places) == [step["phase"] for step in found.plan.steps]
    without = (stages.CLOUDS_DOWN, stages.DEDICATED_DOWN, stages.SERVERS_DOWN)
    assert {step["stage"] for step in found.plan.steps} == {
        *(stage.name for stage in stages.DOWN if stage.name not in without),
        *(stages.CONTROLLERS, stages.SWITCHES, stages.TENANTS, stages.VPODS),
    }


def test_a_step_says_what_was_there_and_what_will_be(looks: Looks) -> None:
    looks["p-poplar3"]["parts"]["links"]["links"]["rnic0"]["mtu"] = 1500
    found = decided(looks, {**VPODS, "carol": CAROL}, hosts=("p-tor",))
    (vlan, port) = [step for step in found.plan.steps if step["name"] in ("103", "Ethernet29/1")]
    assert (vlan["action"], vlan["from"], vlan["to"]["name"]) == ("create", None, "vpod-carol")
    assert (port["device"], port["layer"], port["kind"], port["action"]) == ("p-tor", "switch", "port", "update")
    assert port["from"]["native_vlan"], port["to"]["native_vlan"] == (999, 103)
    assert port["observed"]["native_vlan"] == 999
    assert port["reason"].startswith("vpod carol: ")
    assert port["risk"] == "disruptive"


def test_only_devices_with_a_step_get_options(looks: Looks) -> None:
    found = decided(looks, {**VPODS, "carol": CAROL})
    assert {name: list(devices) for name, devices in found.plan.options.items()} == {
        stages.CONTROLLERS: [CONTROLLER],
        stages.SWITCHES: ["p-tor"],
        stages.TENANTS: [CONTROLLER],
        stages.VPODS: ["p-poplar3"],
    }


def test_a_stage_rests_on_what_the_stages_before_it_will_have_made(looks: Looks) -> None:
    """Alice's server goes to carol: what is removed from it on the way down is made anew."""
    moved = {**ALICE_GOES, "carol": {**CAROL, "poplar_servers": ["p-poplar1"]}}
    found = decided(looks, moved, allowed=("alice",))
    clients = [(step["stage"], step["action"]) for step in found.plan.steps if step["name"] == CLIENT]
    assert clients == [(stages.VPODS_DOWN, "remove"), (stages.VPODS, "create")]
    ports = [(step["stage"], step["from"], step["to"]) for step in found.plan.steps if step["name"] == "Ethernet25/1"]
    assert [(stage, before["native_vlan"], after["native_vlan"]) for stage, before, after in ports] == [
        (stages.SWITCHES_DOWN, 101, 999),
        (stages.SWITCHES, 999, 103),
    ]


def test_a_vpod_that_is_made_again_goes_and_comes_in_one_plan(looks: Looks) -> None:
    found = decided(looks, {**VPODS, "bob": {**BOB, "ipus": 16}}, allowed=("bob",))
    of_bob = [
        (step["stage"], step["action"])
        for step in found.plan.steps
        if (step["kind"], step["name"]) in [("allocation", "bob"), ("partition", "serve")]
    ]
    assert of_bob == [
        # Of his own controller, then of the cluster's.
        *[(stages.DEDICATED_DOWN, "remove")] * 2,
        (stages.ALLOCATIONS_DOWN, "remove"),
        (stages.CONTROLLERS, "create"),
        *[(stages.DEDICATED, "create")] * 2,
    ]


def test_who_is_made_again_has_another_key_on_every_server(looks: Looks) -> None:
    found = decided(looks, {**VPODS, "carol": {**CAROL, "users": ["alice"]}}, allowed=("alice",))
    assert (stages.TENANTS, CONTROLLER, "user", "alice") in brief_steps(found)
    assert [each for each in brief_steps(found) if each[3] == CLIENT] == [
        (stages.VPODS, "p-poplar1", "file", CLIENT),
        (stages.VPODS, "p-poplar3", "file", CLIENT),
    ]


def test_a_user_of_the_same_name_on_another_controller_keeps_the_key(looks: Looks) -> None:
    found = decided(looks, {**VPODS, "carol": {**CAROL, "users": ["bob"]}})
    assert (stages.TENANTS, CONTROLLER, "user", "bob") in brief_steps(found)
    assert [each[1] for each in brief_steps(found) if each[3] == CLIENT] == ["p-poplar3"]


def test_a_partition_of_the_same_name_on_another_controller_is_another_one(looks: Looks) -> None:
    found = decided(
        looks, {**VPODS, "carol": {**CAROL, "controller": "dedicated", "partitions": {"train": {"ipus": 4}}}}
    )
    assert (stages.DEDICATED, CONTROLLER, "partition", "train") in brief_steps(found)
    assert {each[1] for each in brief_steps(found)} == {"p-tor", "p-poplar3", CONTROLLER}


def test_a_device_that_is_refused_has_no_step_and_stops_no_other(looks: Looks) -> None:
    looks["p-tor"]["parts"]["running_config"] = {"message": "it would not say"}
    plan = decided(looks, {**VPODS, "carol": CAROL}).plan
    assert plan.refusals == [{"device": "p-tor", "message": "it would not say"}]
    assert stages.SWITCHES not in plan.options
    assert {step["device"] for step in plan.steps} == {CONTROLLER, "p-poplar3"}


def test_what_was_compared_is_known_whether_it_differs_or_not(looks: Looks) -> None:
    compared = decided(looks).plan.compared
    assert compared["p-tor"]["vlan"] == ["101", "102", "999"]
    assert compared["p-poplar3"]["interface"] == ["rnic0"]
    assert compared[CONTROLLER]["partition"] == ["train", "serve"]
    gone = decided(looks, ALICE_GOES, allowed=("alice",)).plan.compared
    assert gone[CONTROLLER]["partition"] == ["train", "serve"]


@pytest.mark.parametrize("part", ["controllers", "switches", "servers", "vpods"])
def test_a_run_carries_out_its_part_alone(looks: Looks, part: str) -> None:
    may = [stage.name for stage in STAGES if stage.part == part]
    whole = plan_of(tenancy(VPODS, {CONTROLLER: {}}), looks, lambda _device, _stage: True)
    found = plan_of(tenancy(VPODS, {CONTROLLER: {}}), looks, lambda _device, stage: stage.part == part)
    assert [step["stage"] for step in found.steps] == [step["stage"] for step in whole.steps if step["stage"] in may]


def test_what_a_plan_has_made_before_is_by_device_and_stage() -> None:
    plan = Plan(made={("a", "switches"): [1], ("a", "switches_down"): [2], ("b", "switches"): [3]})  # type: ignore[list-item]
    assert plan.before("a", "switches_down", "switches", "tenants") == [2, 1]
