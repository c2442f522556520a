# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random desired and actual states on the simulated controller: what check mode predicts is what then is."""

from __future__ import annotations

from hypothesis import event, given, reject, settings

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Outcome, Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State, predict
from ansible_collections.ipu.pod.plugins.module_utils._vipu.access import AccessKeys
from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import Policy
from ansible_collections.ipu.pod.plugins.module_utils._vipu.engine import Engine
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS
from ansible_collections.ipu.pod.plugins.module_utils._vipu.fields import COMPUTED
from tests.property.vipu_declarations import POLICIES, Declared, check_order, check_untouched, declarations
from tests.support.in_memory.controller import InProcess

ANYTHING = Policy(allow_recreate=True, keeps_keys=True)


def converge(site: InProcess, declared: Declared, policy: Policy, check_mode: bool = False) -> Outcome:
    return Engine(site.client, declared, policy, AccessKeys(keep=True), wait_timeout=0).converge(check_mode)


def site_that_holds(declared: Declared) -> InProcess:
    """A controller that holds what a declaration asks for, as far as it can."""
    site = InProcess()
    for kind in KINDS:
        for entity in declared[kind]:
            try:
                converge(site, {kind: [entity]}, ANYTHING)
            except Refused:
                event(f"{kind} refused")
    return site


def check_predicted(predicted: State, real: State) -> None:
    """Check mode predicts every field but those that only the controller can choose."""
    assert {kind: predicted[kind].keys() for kind in real} == {kind: real[kind].keys() for kind in real}
    for kind, entities in real.items():
        for name, fields in entities.items():
            expected = predicted[kind][name]
            assert {**fields, **expected} == fields
            assert set(fields) - set(expected) <= set(COMPUTED[kind])


PAIRS = 200


def test_a_plan_carried_out_is_what_was_predicted() -> None:
    applied = 0

    # Only what is carried out to its end counts; close to half of them are refused.
    @settings(max_examples=PAIRS)
    @given(declarations(), declarations(), POLICIES)
    def check(wanted: Declared, earlier: Declared, policy: Policy) -> None:
        nonlocal applied
        check_applied(wanted, site_that_holds(earlier), policy)
        applied += 1

    check()
    assert applied >= PAIRS


def check_applied(wanted: Declared, site: InProcess, policy: Policy) -> None:
    """Check mode and the real run agree; a refusal touches nothing."""
    writes = site.memory.writes
    try:
        predicted = converge(site, wanted, policy, check_mode=True)
    except Refused:
        assert site.memory.writes == writes
        reject()
    assert site.memory.writes == writes
    outcome = converge(site, wanted, policy)
    assert outcome.after is not None
    assert outcome.steps == predicted.steps
    check_order(list(outcome.steps))
    check_untouched(wanted, policy, outcome.before, outcome.after)
    if outcome.failure:
        # Alignment is the controller's business; then exactly the steps before that one were done.
        event("no free block")
        assert "no free" in str(outcome.failure)
        check_predicted(predict(outcome.before, outcome.steps[: outcome.failure.done]), outcome.after)
        reject()
    event(f"{min(len(outcome.steps), 3)} steps or more")
    assert predicted.after is not None
    check_predicted(predicted.after, outcome.after)
    site.calls.clear()
    assert not converge(site, wanted, policy).changed
    assert {call[1] for call in site.calls} == {"list"}
    assert len(site.calls) == len(outcome.after)
