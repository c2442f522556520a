# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which steps a plan has, in which order, and what it says of each; what goes only when it was allowed to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import (
    Policy,
    Purge,
    relevant_kinds,
    unmanaged,
)
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS, empty_state
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import plan, trouble
from tests.unit.vipu.site import declared, held, partition, refusal

KEYS = Policy(keeps_keys=True)
RECREATE = replace(KEYS, allow_recreate=True)


def test_parents_come_before_children() -> None:
    steps = plan(declared(), empty_state(), KEYS)
    assert [step.name for step in steps] == ["a1", "a2", "c", "alice", "alice", "train"]


def test_what_is_there_needs_no_step() -> None:
    assert plan(declared(), held()) == []


def test_lists_whose_order_says_nothing_are_compared_so() -> None:
    allocation = {"name": "alice", "cluster": "c", "size": 8, "agents": ["a2", "a1"]}
    assert plan(declared(allocation=[allocation]), held()) == []
    assert plan(declared(allocation=[allocation]), empty_state(), KEYS)[3].after == {
        "cluster": "c",
        "size": 8,
        "agents": ["a1", "a2"],
    }
    assert "agents is ['a1', 'a2'], wanted ['a2', 'a1']" in refusal(
        held(), KEYS, cluster=[{"name": "c", "agents": ["a2", "a1"]}]
    )


def test_what_is_taken_at_creation_only_is_sent_once_and_never_compared() -> None:
    train = {"name": "train", "allocation": "alice", "size": 4, "relocatable": True, "index": 1}
    step = plan(declared(partition=[train]), empty_state(), KEYS)[-1]
    assert (step.after, step.once) == ({"allocation": "alice", "size": 4}, {"relocatable": True, "index": 1})
    assert plan(declared(partition=[train]), held()) == []


def test_what_is_not_declared_is_left_alone_and_reported() -> None:
    actual = held()
    actual["partition"]["p4711"] = partition(size=2)
    assert plan(declared(), actual) == []
    assert unmanaged(declared(), actual, ["user", "partition"]) == {"users": [], "partitions": ["p4711"]}


def test_removals_go_from_children_to_parents_and_say_who_suffers() -> None:
    absent = {kind: [dict(entity, state="absent") for entity in entities] for kind, entities in declared().items()}
    steps = plan(absent, held())
    assert [step.kind for step in steps] == ["partition", "user", "allocation", "cluster", "agent", "agent"]
    assert [step.risk for step in steps] == ["tenant outage", "destructive"] + 4 * ["tenant outage"]
    assert steps[2].reason == "is declared absent; partitions that die: train"


def test_what_others_need_is_not_removed() -> None:
    assert refusal(held(), KEYS, allocation=[{"name": "alice", "state": "absent"}], partition=[], user=[]) == (
        "allocation alice: cannot be removed, because user alice depends on it and is to stay; declare user alice "
        "absent, or keep allocation alice; allocation alice: cannot be removed, because partition train depends on it "
        "and is to stay; declare partition train absent, or keep allocation alice"
    )


def test_a_difference_is_refused_unless_recreation_is_allowed() -> None:
    smaller = [{"name": "train", "allocation": "alice", "size": 2}]
    assert refusal(held(), KEYS, partition=smaller) == (
        "partition train: size is 4, wanted 2; V-IPU cannot change it: declare what is there, remove it first, or set "
        "allow_recreate"
    )
    steps = plan(declared(partition=smaller), held(), RECREATE)
    assert [(step.action, step.name) for step in steps] == [("remove", "train"), ("create", "train")]
    assert steps[0].risk == "tenant outage"


def test_recreation_of_an_agent_takes_everything_on_it_along() -> None:
    agents = [{"name": "a1", "host": "10.2.9.1", "port": 8080}, declared()["agent"][1]]
    steps = plan(declared(agent=agents), held(), RECREATE)
    assert [(step.action, step.name) for step in steps] == [
        *[("remove", name) for name in ("train", "alice", "alice", "c", "a1")],
        *[("create", name) for name in ("a1", "c", "alice", "alice", "train")],
    ]
    assert steps[4].reason == "host is '10.2.1.1', wanted '10.2.9.1'; partitions that die: train"


def test_recreation_is_refused_where_something_would_not_come_back() -> None:
    agents = [{"name": "a1", "host": "10.2.9.1", "port": 8080}, declared()["agent"][1]]
    assert refusal(held(), RECREATE, agent=agents, partition=[]) == (
        "partition train: depends on allocation alice, which is created again, but it is not declared and would be "
        "lost; declare it, or remove it first"
    )


def purging(**scope: Any) -> Policy:
    return replace(KEYS, purge=Purge(**scope))


@pytest.mark.parametrize(
    ("scope", "gone"),
    [
        ({"partitions_of": ("alice",), "max_deletions": 3}, ["slurm-2", "p4711", "old"]),
        ({"partitions_of": ("alice",), "max_deletions": 2, "ignore": ("p[0-9]*",)}, ["slurm-2", "old"]),
        ({"partitions_of": ("alice",), "max_deletions": 1, "patterns": ("o*", "x*")}, ["old"]),
        ({"partitions_of": ("bob",)}, []),
        ({"allocations_of": ("c",)}, []),
        ({}, []),
    ],
)
def test_purge_has_a_scope(scope: dict[str, Any], gone: list[str]) -> None:
    actual = held()
    actual["partition"].update({name: partition(size=1) for name in ("old", "p4711", "slurm-2")})
    assert [step.name for step in plan(declared(), actual, purging(**scope))] == gone


def test_a_purged_allocation_keeps_its_partitions_unless_they_are_purged_too() -> None:
    actual = held()
    actual["cluster"]["d"] = {"agents": ["a3"], "ipu_link_domains": 1}
    actual["agent"]["a3"] = {"host": "10.2.1.3", "port": 8080}
    actual["allocation"]["bob"] = {"cluster": "d", "size": 4, "agents": ["a3"]}
    actual["partition"]["q"] = partition(allocation="bob")
    policy = purging(allocations_of=("d",), max_deletions=2)
    assert "allocation bob: cannot be removed, because partition q depends on it" in refusal(actual, policy)
    policy = purging(allocations_of=("d",), partitions_of=("bob",), max_deletions=2)
    assert [step.name for step in plan(declared(), actual, policy)] == ["q", "bob"]


def test_more_deletions_than_allowed_are_refused_with_the_list() -> None:
    actual = held()
    actual["partition"].update(old=partition(size=1), older=partition(size=1))
    assert refusal(actual, purging(partitions_of=("alice",), max_deletions=1)) == (
        "purge: 2 deletions (partition old, partition older) are more than max_deletions 1; raise it if they are all "
        "meant, or name in ignore what is to stay"
    )


def test_a_user_without_a_place_for_the_key_is_refused() -> None:
    assert refusal(empty_state(), Policy()) == (
        "user alice: its access key is shown at creation only and would be lost; set key_directory or return_keys"
    )


def test_users_are_read_only_where_they_matter() -> None:
    without = tuple(kind for kind in KINDS if kind != "user")
    assert relevant_kinds(declared(user=[]), KEYS) == without
    assert relevant_kinds(declared(), KEYS) == KINDS
    assert relevant_kinds(declared(user=[]), RECREATE) == KINDS
    assert relevant_kinds(declared(user=[]), purging(allocations_of=("c",))) == KINDS
    assert relevant_kinds(declared(user=[], allocation=[{"name": "x", "state": "absent"}]), KEYS) == KINDS


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"status": "ACTIVE"}, ""),
        (
            {"status": "ERROR", "errors": ["agent 'a1' is down", "no sync"]},
            "partition train is in ERROR: agent 'a1' is down; no sync; put that right, then reset the partition with "
            "vipu_action, or remove it",
        ),
        (
            {"status": "ERROR", "errors": []},
            "partition train is in ERROR: the controller does not say why; put that right, then reset the partition "
            "with vipu_action, or remove it",
        ),
        ({"status": "PENDING"}, "partition train is still PENDING; run again later, or raise wait_timeout"),
    ],
)
def test_trouble_with_a_declared_partition_is_reported_with_the_remedy(fields: dict[str, Any], message: str) -> None:
    actual = held()
    actual["partition"]["train"].update(fields)
    actual["partition"]["p4711"] = partition(status="ERROR")
    assert trouble(declared(), actual) == message


@pytest.mark.parametrize("name", ["--force", "-x", ".."])
def test_what_has_a_name_like_an_option_is_not_removed(name: str) -> None:
    there = held()
    there["partition"][name] = there["partition"]["train"]
    policy = replace(KEYS, purge=Purge(partitions_of=("alice",), max_deletions=9))
    said = refusal(there, policy)
    assert f"partition {name!r}: a program could take its name for an option; remove it by hand" in said
