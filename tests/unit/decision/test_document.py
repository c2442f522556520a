# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as a document, whom it affects, what belongs to others, and its notes."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.stage_steps import Plan
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import tenancy_of
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import (
    document_of,
    left_out,
    not_ours,
    notes,
    vpods_view,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._plan_page.rack import rack_of
from tests.support.in_memory.pod import CONTROLLER, declared
from tests.support.vpods_of_a_pod import held
from tests.unit.decision.two_vpods import ALICE, ALICE_GOES, BOB, CAROL, VPODS, decided, request

Looks = dict[str, Any]
WITH_CAROL = {**VPODS, "carol": CAROL}
SERVERS = ["p-poplar1", "p-poplar2", "p-poplar3"]


def test_the_plan_numbers_the_steps_and_says_whom_they_affect(looks: Looks) -> None:
    decision = decided(looks, WITH_CAROL)
    document = document_of(decision, looks, declared(WITH_CAROL), "2026-11-21T15:00:00Z", "ann@control")
    assert [step["number"] for step in document["steps"]] == list(range(1, len(decision.plan.steps) + 1))
    assert not [step for step in document["steps"] if {"stage", "phase"} & step.keys()]
    affected = {step["name"]: step["affected"]["vpods"] for step in document["steps"] if step["kind"] == "port"}
    assert affected["Ethernet29/1"] == ["carol"]
    assert (document["made"], document["by"], document["unseen"]) == ("2026-11-21T15:00:00Z", "ann@control", [])


def test_who_is_to_go_feels_what_is_taken_from_it(looks: Looks) -> None:
    decision = decided(looks, ALICE_GOES, allowed=("alice",))
    steps = document_of(decision, looks, declared(ALICE_GOES), "", "")["steps"]
    assert {tuple(step["affected"]["vpods"]) for step in steps if step["kind"] in ("port", "partition")} == {("alice",)}


def test_ports_that_somebody_else_gets_affect_who_had_them(looks: Looks) -> None:
    vpods = {"alice": {**ALICE, "poplar_servers": ["p-poplar3"]}, "bob": {**BOB, "poplar_servers": ["p-poplar1"]}}
    document = document_of(decided(looks, vpods, allowed=("alice", "bob")), looks, declared(vpods), "", "")
    (step,) = [each for each in document["steps"] if each["name"] == "Ethernet25/1"]
    assert (step["risk"], step["affected"]["vpods"], step["to"]["native_vlan"]) == ("tenant outage", ["alice"], 102)
    status = [line.split() for line in vpods_view(document, declared(vpods), None).lines]
    assert [line[:4] for line in status[1:]] == [["alice", "done", "not", "yet"], ["bob", "done", "not", "yet"]]


def test_what_a_tenant_has_made_is_not_called_declared_and_its_end_is_its_vpods(looks: Looks) -> None:
    shared = looks[CONTROLLER]["parts"]["controllers"][""]["partitions"]
    shared["hers"] = {**shared["train"], "size": 4}
    smaller = {**VPODS, "alice": {**ALICE, "ipus": 8}}
    steps = document_of(decided(looks, smaller, allowed=("alice",)), looks, declared(smaller), "", "")["steps"]
    kinds = ("partition", "user", "allocation")
    gone = [step for step in steps if step["action"] == "remove" and step["kind"] in kinds]
    assert [step["affected"] for step in gone if step["name"] == "hers"] == [
        {"vpods": ["alice"], "partitions": ["hers"]}
    ]
    shrink = "vPOD alice is to shrink, from p-ipum1, p-ipum2, p-ipum3, p-ipum4 to p-ipum1, p-ipum2"
    assert {step["kind"]: step["reason"].partition(";")[0] for step in gone} == {
        "partition": "allocation alice goes",
        "user": "allocation alice goes",
        "allocation": shrink,
    }


def test_other_removals_say_why_too(looks: Looks) -> None:
    vpods = {
        "alice": {**ALICE, "partitions": {"train": {"ipus": 16}}},
        "bob": {**BOB, "ipus": 4, "users": ["alice"]},
    }
    steps = decided(looks, vpods, allowed=("alice", "bob")).plan.steps
    gone = {
        (step["kind"], step["name"]): step["reason"].partition(";")[0] for step in steps if step["action"] == "remove"
    }
    assert gone["partition", "train"] == "size is 8, wanted 16"
    assert gone["partition", "serve"] == "allocation bob goes"
    assert not [reason for reason in gone.values() if "declared absent" in reason]


def test_a_plan_that_cannot_be_made_says_why(looks: Looks) -> None:
    looks[CONTROLLER]["parts"]["controllers"][""] = {"storage": True, "message": "nobody listens"}
    decision = decided(looks)
    document = document_of(decision, looks, declared(VPODS), "", "")
    assert document["steps"] == []
    assert [each["message"] for each in document["unseen"]] == decision.refusals
    assert {each["device"] for each in document["unseen"]} == {"pods.yml"}


@pytest.mark.parametrize("allowed", [(), ("bob",)])
def test_a_vpod_with_a_dead_machine_is_shown_where_it_lies_or_where_a_run_that_may_move_it_puts_it(
    allowed: tuple[str, ...],
) -> None:
    declaration = declared({"bob": {**BOB, "ipus": 4}}, excluded=["p-ipum5"])
    there = {CONTROLLER: held(bob=["p-ipum5"])["v"]}
    tenancy = tenancy_of(declaration, there, {}, allowed=allowed)
    machine = tenancy.placement["bob"][0]
    assert (machine == "p-ipum5") == (allowed == ())
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
def test_what_a_run_does_not_look_at_is_listed(hosts: Any, managed: Any, lines: list[str]) -> None:
    assert left_out(declared({}, **({"managed": managed} if managed else {})), request(hosts=hosts)) == lines


def test_changes_under_way_on_devices_are_reported(looks: Looks) -> None:
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
