# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which running work a change would end, and the sentence that refuses it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import Tenancy
from ansible_collections.ipu.pod.plugins.plugin_utils._vpods.interruptions import refusals
from tests.support.vpods_of_a_pod import ALICE, BOB, held, machines, planned, seen

IDLE: dict[str, Any] = {f"p-poplar{number}": [] for number in range(1, 5)}
GONE = {**ALICE, "state": "absent"}


def refused(plan: Tenancy, uses: Any = None, allowed: Any = ()) -> list[str]:
    return refusals(plan.impact, IDLE if uses is None else uses, allowed)


def test_a_new_vpod_interrupts_nobody() -> None:
    assert refused(planned({"alice": ALICE}, held(), seen(_9=(1, "default"))), uses={}) == []


def test_an_idle_vpod_may_go() -> None:
    assert refused(planned({"alice": GONE}, held(alice=machines(1, 4)))) == []


def test_active_partitions_and_jobs_are_in_the_way_until_somebody_says_that_they_may_end() -> None:
    plan = planned({"alice": GONE}, held({"train": "alice", "bobs": "bob"}, alice=machines(1, 4), bob=machines(5, 6)))
    uses = {**IDLE, "p-poplar1": ["Slurm job 7 of ann"], "p-poplar2": ["Slurm job 8 of bob"]}
    assert refused(plan, uses) == [
        "vPOD alice is to go; that would end what runs there: partition train, Slurm job 7 of ann on p-poplar1; end it "
        'first, or say with -e \'{"vpods_interrupt": ["alice"]}\' that it may'
    ]
    assert refused(plan, uses, allowed=["bob"])
    assert refused(plan, uses, allowed=["alice"]) == []


def test_a_partition_that_is_broken_is_not_in_use() -> None:
    there = held({"train": "alice"}, alice=machines(1, 4))
    there["v"]["partitions"]["train"]["status"] = "ERROR"
    assert refused(planned({"alice": GONE}, there)) == []


@pytest.mark.parametrize("uses", [{}, {"p-poplar1": None}])
def test_a_server_that_cannot_be_asked_counts_as_in_use(uses: Any) -> None:
    (sentence,) = refused(planned({"alice": GONE}, held(alice=machines(1, 4))), uses)
    assert "whatever runs on p-poplar1, which cannot be asked" in sentence


def test_partitions_that_nobody_could_list_count_as_in_use() -> None:
    there = held(alice=machines(1, 4))
    there["v"]["partitions"] = None
    (sentence,) = refused(planned({"alice": GONE}, there))
    assert "partitions that cannot be listed" in sentence


@pytest.mark.parametrize("words", [{"controller": "dedicated"}, {}])
def test_partitions_of_a_dedicated_controller_are_in_the_way_also_where_nobody_says_that_there_is_one(
    words: dict[str, str],
) -> None:
    there = held(alice=machines(1, 4))
    there["v"]["dedicated"] = {"alice": {"partitions": {"train": {"status": "ACTIVE"}}}, "bob": None}
    (sentence,) = refused(planned({"alice": {**GONE, **words}}, there))
    assert "that would end what runs there: partition train;" in sentence


@pytest.mark.parametrize(
    ("dedicated", "is_refused"), [(None, True), ({"alice": None}, True), ({"alice": {}}, False), ({}, False)]
)
def test_a_dedicated_controller_that_says_nothing_counts_as_in_use_and_one_that_is_not_there_does_not(
    dedicated: Any, is_refused: bool
) -> None:
    there = held(alice=machines(1, 4))
    there["v"]["dedicated"] = dedicated
    sentences = refused(planned({"alice": {**GONE, "controller": "dedicated"}}, there))
    assert ["partitions that cannot be listed" in sentence for sentence in sentences] == [True] * is_refused


def test_users_of_a_dedicated_controller_get_other_keys_when_it_is_made_again() -> None:
    there = held(users={}, alice=machines(1, 4))
    there["v"]["dedicated"] = {"alice": {}}
    (sentence,) = refused(planned({"alice": {**ALICE, "ipus": 32, "controller": "dedicated"}}, there))
    assert "that would end what runs there: the access key of user alice;" in sentence


def test_another_vlan_interrupts_what_runs_on_the_servers() -> None:
    plan = planned({"alice": {**ALICE, "vlan": 111}}, held(alice=machines(1, 4)), seen(_9=(101, "vpod-alice")))
    assert refused(plan) == []
    (sentence,) = refused(plan, {"p-poplar1": ["Slurm job 7 of ann"]})
    assert sentence.startswith("p-ipum1 is to leave VLAN 101 of vPOD alice for VLAN 111; ")


def test_a_server_that_leaves_is_asked_and_the_others_are_not() -> None:
    moved = {**ALICE, "poplar_servers": ["p-poplar3"]}
    plan = planned({"alice": moved}, held(alice=machines(1, 4)), seen(_25=(101, "vpod-alice"), _29=(999, "quarantine")))
    assert [one.servers for one in plan.impact] == [("p-poplar1",)]


def test_ports_of_a_vpod_that_was_only_deleted_from_pods_yml_are_not_taken_from_it() -> None:
    plan = planned(
        {"bob": BOB},
        held(alice=machines(1, 4), bob=machines(5, 6)),
        seen(_9=(101, "vpod-alice"), _13=(102, "vpod-bob")),
    )
    (sentence,) = refused(plan, {})
    assert "which pods.yml no longer has (declare vpods.alice with state: absent to remove it)" in sentence


def test_a_user_whose_key_changes_interrupts_every_vpod_of_theirs() -> None:
    both = {"alice": {**ALICE, "users": ["ann"]}, "bob": {**BOB, "users": ["ann"]}}
    plan = planned(both, held(users={"ann": ["alice"]}, alice=machines(1, 4)))
    (sentence,) = refused(plan)
    assert "user ann is to have other vPODs than alice, and so another access key" in sentence
    assert refused(plan, allowed=["alice"]) == []


def test_a_partition_that_is_declared_otherwise_is_made_again_when_allowed() -> None:
    there = held({"train": "alice"}, alice=machines(1, 4))
    there["v"]["partitions"]["train"].update(size=8, gcds=1, reconfigurable=False)
    same = {"partitions": {"train": {"ipus": 8}}}
    assert refused(planned({"alice": {**ALICE, **same}}, there)) == []
    plan = planned({"alice": {**ALICE, "partitions": {"train": {"ipus": 16}}}}, there)
    assert [each["name"] for each in plan.teardown["vipu_controllers"]["v"]["partitions"]] == ["train"]
    assert plan.teardown["vipu_controllers"]["v"]["allocations"] == []
    (sentence,) = refused(plan)
    assert sentence.startswith(
        "partition train: size is 8, wanted 16; that would end what runs there: partition train;"
    )
    assert refused(plan, allowed=["alice"]) == []


def test_a_partition_on_a_dedicated_controller_is_made_again_when_allowed_and_nothing_else_there() -> None:
    there = held(alice=machines(1, 4))
    train = {"allocation": "alice", "status": "ACTIVE", "size": 8, "gcds": 1, "reconfigurable": False}
    there["v"]["dedicated"] = {
        "alice": {"agents": {"p-ipum1": {}}, "users": {"alice": {}}, "partitions": {"train": train, "hers": train}}
    }
    alice = {**ALICE, "controller": "dedicated"}
    same = planned({"alice": {**alice, "partitions": {"train": {"ipus": 8}}}}, there)
    assert (refused(same), same.teardown["vipu_controllers"]) == ([], {})
    plan = planned({"alice": {**alice, "partitions": {"train": {"ipus": 16}}}}, there)
    (emptied,) = plan.teardown["vipu_controllers"]["v"]["emptied"]
    assert {kind: [each["name"] for each in going] for kind, going in emptied.items() if kind != "name" and going} == {
        "partitions": ["train"]
    }
    (sentence,) = refused(plan)
    assert sentence.startswith(
        "partition train: size is 8, wanted 16; that would end what runs there: partition train;"
    )
    assert refused(plan, allowed=["alice"]) == []
