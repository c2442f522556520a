# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random desired and actual states: a plan leaves nothing to do, and keeps its hands off what is not declared."""

from __future__ import annotations

from hypothesis import event, given, reject, settings

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State, Step, predict
from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import Policy
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS, empty_state
from ansible_collections.ipu.pod.plugins.module_utils._vipu.fields import CREATION_ONLY, referred
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import plan
from tests.property.vipu_declarations import POLICIES, Declared, check_order, check_untouched, declarations, names


def held_by(declared: Declared) -> State:
    """A controller that holds what a declaration asks for, as far as it is allowed."""
    state = empty_state()
    for kind in KINDS:
        for entity in declared[kind]:
            try:
                state = predict(state, plan({kind: [entity]}, state, Policy(keeps_keys=True)))
            except Refused:
                event(f"{kind} refused")
    return state


PAIRS = 1000


def test_a_plan_is_safe_at_every_step_and_leaves_nothing_to_do() -> None:
    planned = 0

    # Only what is not refused counts; close to half of them are.
    @settings(max_examples=PAIRS)
    @given(declarations(), declarations(), POLICIES)
    def check(wanted: Declared, earlier: Declared, policy: Policy) -> None:
        nonlocal planned
        actual = held_by(earlier)
        try:
            steps = plan(wanted, actual, policy)
        except Refused:
            reject()
        check_plan(wanted, actual, policy, steps)
        planned += 1

    check()
    assert planned >= PAIRS


def check_plan(wanted: Declared, actual: State, policy: Policy, steps: list[Step]) -> None:
    """It is in order, touches only what it may, breaks nothing on the way, and leaves nothing to do."""
    event(f"{min(len(steps), 3)} steps or more")
    after = predict(actual, steps)
    assert plan(wanted, after, policy) == []
    check_order(steps)
    check_untouched(wanted, policy, actual, after)
    check_purged(wanted, policy, steps)
    for step in steps:
        actual = predict(actual, [step])
        check_whole(actual)


def check_purged(wanted: Declared, policy: Policy, steps: list[Step]) -> None:
    """No more is purged than was allowed."""
    purged = [step for step in steps if step.action == "remove" and (step.kind, step.name) not in names(wanted)]
    assert len(purged) <= policy.purge.max_deletions


def check_whole(state: State) -> None:
    """Nothing refers to what is not there, and nothing is predicted that can never be read."""
    for kind in KINDS:
        for fields in state[kind].values():
            assert all(name in state[other] for _, other, name in referred(kind, fields))
            assert not set(fields) & set(CREATION_ONLY[kind])
