# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random declarations on random controllers: a plan carried out leaves nothing to do, and touches nobody else's."""

from __future__ import annotations

from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State, predict
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS, empty_state, referred
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import plan

STATE = st.sampled_from(["present", "present", "present", "absent"])
AGENTS = [f"a{n}" for n in range(16)]
ALLOCATIONS = st.sampled_from(["x", "y", "z"])


def some(entity: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(entity, max_size=4, unique_by=lambda fields: fields["name"])


DECLARED = st.fixed_dictionaries(
    {
        "agent": st.just(
            [{"name": name, "host": f"10.0.0.{index}", "port": 8080} for index, name in enumerate(AGENTS)]
        ),
        "cluster": st.just([{"name": "c", "agents": AGENTS, "ipu_link_domains": 1}]),
        "allocation": some(
            st.fixed_dictionaries(
                {"name": ALLOCATIONS, "cluster": st.just("c"), "size": st.sampled_from([4, 8, 16]), "state": STATE}
            )
        ),
        "partition": some(
            st.fixed_dictionaries(
                {
                    "name": st.sampled_from(["p", "q", "r", "s"]),
                    "allocation": ALLOCATIONS,
                    "size": st.sampled_from([1, 2, 4, 8]),
                    "reconfigurable": st.booleans(),
                    "gcds": st.sampled_from([None, 1]),
                    "state": STATE,
                }
            )
        ),
    }
)


def held_by(declared: dict[str, list[dict[str, Any]]]) -> State:
    """A controller that holds what a declaration asks for, as far as it is allowed."""
    try:
        return predict(empty_state(), plan(declared, empty_state()))
    except Refused:
        return empty_state()


@settings(max_examples=400)
@given(DECLARED, DECLARED)
def test_a_plan_carried_out_leaves_nothing_to_do(wanted: dict[str, Any], earlier: dict[str, Any]) -> None:
    actual = held_by(earlier)
    try:
        steps = plan(wanted, actual)
    except Refused:
        event("refused")
        return
    event(f"{min(len(steps), 3)} steps or more")
    after = predict(actual, steps)
    assert plan(wanted, after) == []
    declared_names = {(kind, entity["name"]) for kind in KINDS for entity in wanted[kind]}
    assert {(step.kind, step.name) for step in steps} <= declared_names
    for kind in KINDS:
        for name, fields in actual[kind].items():
            if (kind, name) not in declared_names:
                assert after[kind][name] == fields


@settings(max_examples=400)
@given(DECLARED, DECLARED)
def test_at_no_moment_does_anything_refer_to_what_is_not_there(wanted: dict[str, Any], earlier: dict[str, Any]) -> None:
    state = held_by(earlier)
    try:
        steps = plan(wanted, state)
    except Refused:
        return
    for step in steps:
        state = predict(state, [step])
        for kind in KINDS:
            for fields in state[kind].values():
                assert all(name in state[other] for _, other, name in referred(kind, fields))
