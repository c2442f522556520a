# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What V-IPU would refuse is refused before anything is sent, with one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import empty_state
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import plan


def declared(**changes: Any) -> dict[str, list[dict[str, Any]]]:
    """One IPU-Machine pair with one tenant; ``changes`` replace whole lists."""
    return {
        "agent": [{"name": "a1", "host": "10.1.2.1", "port": 8080}, {"name": "a2", "host": "10.1.2.2", "port": 8080}],
        "cluster": [{"name": "c", "agents": ["a1", "a2"], "topology": None, "ipu_link_domains": 1}],
        "allocation": [{"name": "alice", "cluster": "c", "size": 8}],
        "partition": [{"name": "train", "allocation": "alice", "size": 4, "reconfigurable": False}],
        **changes,
    }


def held() -> State:
    state = empty_state()
    state["agent"] = {n: {"host": f"10.1.2.{n[1]}", "port": 8080, "status": "Up"} for n in ("a1", "a2")}
    state["cluster"] = {"c": {"agents": ["a1", "a2"], "topology": "torus", "ipu_link_domains": 1, "looped": False}}
    state["allocation"] = {"alice": {"cluster": "c", "size": 8, "agents": ["a1", "a2"]}}
    state["partition"] = {
        "train": {
            "allocation": "alice",
            "size": 4,
            "gcds": 1,
            "replicas": 1,
            "reconfigurable": False,
            "status": "ACTIVE",
        }
    }
    return state


def refusal(actual: State, **changes: Any) -> str:
    with pytest.raises(Refused) as caught:
        plan(declared(**changes), actual)
    return str(caught.value)


def test_parents_come_before_children() -> None:
    assert [step.name for step in plan(declared(), empty_state())] == ["a1", "a2", "c", "alice", "train"]


def test_what_is_there_needs_no_step() -> None:
    assert plan(declared(), held()) == []


def test_what_is_not_declared_is_left_alone() -> None:
    actual = held()
    actual["partition"]["p4711"] = {"allocation": "alice", "size": 2, "reconfigurable": False}
    assert plan(declared(), actual) == []


def test_removals_go_from_children_to_parents_and_say_who_suffers() -> None:
    absent = {kind: [dict(entity, state="absent") for entity in entities] for kind, entities in declared().items()}
    steps = plan(absent, held())
    assert [step.kind for step in steps] == ["partition", "allocation", "cluster", "agent", "agent"]
    assert steps[0].risk == "tenant outage"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"partition": [{"name": "p", "allocation": "alice", "size": 3}]},
            "partition p: size: 3 IPUs do not exist as a",
        ),
        ({"partition": [{"name": "p", "allocation": "alice", "size": 16}]}, "train (4) need 20 IPUs, but it has 8"),
        (
            {"partition": [{"name": "p", "allocation": "x", "size": 4}]},
            "partition p: allocation names allocation 'x', which is neither",
        ),
        ({"partition": [{"name": "p!", "allocation": "alice", "size": 4}]}, "a name has letters, digits"),
        (
            {"partition": [{"name": "p", "allocation": "alice", "size": 4, "gcds": 3}]},
            "cannot be split into 3 equal GCDs",
        ),
        (
            {"partition": [{"name": "p", "allocation": "alice", "size": 4, "gcds": 2, "reconfigurable": True}]},
            "a reconfigurable partition has one GCD, not 2",
        ),
        (
            {"partition": [{"name": "p", "allocation": "alice", "size": 1}] * 2},
            "partitions: 'p' is declared twice; keep one",
        ),
        (
            {"allocation": [{"name": "bob", "cluster": "c", "size": 12}]},
            "allocation bob: 12 IPUs do not exist as an allocation",
        ),
        ({"allocation": [{"name": "bob", "cluster": "x", "size": 4}]}, "allocation bob: cluster names cluster 'x'"),
        (
            {"allocation": [{"name": "bob", "cluster": "c", "size": 4, "agents": ["a1"]}]},
            "agent a1 is already in allocation alice",
        ),
        ({"cluster": [{"name": "d", "agents": ["a9"], "ipu_link_domains": 1}]}, "cluster d: agents names agent 'a9'"),
        ({"cluster": [{"name": "d", "agents": ["a1"], "ipu_link_domains": 1}]}, "agent a1 is already in cluster c"),
        (
            {"allocation": [{"name": "alice", "cluster": "c", "size": 4}]},
            "allocation alice: size is 8, wanted 4; V-IPU cannot change it",
        ),
        (
            {"allocation": [{"name": "alice", "state": "absent"}], "partition": []},
            "allocation names allocation 'alice'",
        ),
    ],
)
def test_one_sentence_for_what_cannot_be(changes: dict[str, Any], said: str) -> None:
    assert said in refusal(held(), **changes)
