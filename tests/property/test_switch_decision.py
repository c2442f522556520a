# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan from a look at a switch is the module's own, also for what follows on steps that are still to be done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._look.switch import look_at
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.module_utils._tor.session import CommandRefused
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.switch_steps import switch_steps
from tests.property.test_tor_apply import RELEASES, entered
from tests.property.tor_configurations import CONFIGURATIONS, DECLARATIONS
from tests.support.in_memory.switch import InProcessSwitch

WANTED = 60
Declared = Mapping[str, Any]
# The steps, or the sentence with which they are refused.
Planned = Sequence[Step] | str


def test_random_declarations_from_looks_at_random_switches() -> None:
    applied = raised = 0

    @settings(max_examples=180, phases=[Phase.reuse, Phase.generate], suppress_health_check=[HealthCheck.too_slow])
    @given(CONFIGURATIONS, DECLARATIONS, DECLARATIONS, RELEASES)
    def one(configuration: list[str], first: Declared, second: Declared, release: str) -> None:
        nonlocal applied, raised
        if raised == WANTED:
            return
        switch = InProcessSwitch(*entered(configuration), release=release)
        steps = check_plan(switch, first)
        if isinstance(steps, str):
            return
        applied += 1
        look = look_of(switch)
        switch.change(**first)
        assert planned(first, look_of(switch)) == []
        predicted, then = planned(second, look, steps), check_plan(switch, second)
        event(f"then {'refused' if isinstance(then, str) else 'planned'}")
        assert predicted == then
        raised += not isinstance(then, str)

    one()
    assert applied >= raised == WANTED


def test_random_switches_of_which_a_part_is_not_saved() -> None:
    """Unsaved settings of others are never saved, and ours are, unless it cannot be without that."""
    applied = Counter[bool]()

    @settings(max_examples=180, phases=[Phase.reuse, Phase.generate], suppress_health_check=[HealthCheck.too_slow])
    @given(CONFIGURATIONS, st.just([]) | CONFIGURATIONS, DECLARATIONS, RELEASES)
    def one(saved: list[str], further: list[str], declared: Declared, release: str) -> None:
        switch = InProcessSwitch(*entered(saved), release=release)
        with suppress(CommandRefused):
            switch.configure(*further)
        before = switch.startup
        if applied.total() == WANTED or isinstance(check_plan(switch, declared), str):
            return
        changed = switch.change(**declared)
        assert changed.failure is None
        assert switch.last
        left = switch.last.unsaved()
        applied[left.may_be_saved] += 1
        if not left.may_be_saved:
            assert switch.startup == before
        elif changed.steps:
            assert switch.startup == switch.running
        assert planned(declared, look_of(switch)) == []

    one()
    assert applied.total() == WANTED
    assert applied.keys() == {True, False}


def check_plan(switch: InProcessSwitch, declared: Declared) -> Planned:
    """The plan from a look at the switch, which has to be the module's in check mode."""
    found = planned(declared, look_of(switch))
    try:
        by_module: Planned = list(switch.change(**declared, check_mode=True).steps)
    except Refused as refusal:
        by_module = str(refusal)
    assert found == by_module
    return found


def planned(declared: Declared, look: Declared, earlier: Sequence[Step] = ()) -> Planned:
    variables = {
        "tor_switch_state": declared.get("state", "merged"),
        "tor_switch_scope": declared.get("scope", {}),
        "tor_switch_checks": {},
        "tor_switch_confirm_within": 120,
    }
    try:
        return switch_steps(declared, variables, look, earlier)
    except Refused as refusal:
        return str(refusal)


def look_of(switch: InProcessSwitch) -> dict[str, Any]:
    return {"message": "", "parts": look_at(switch.send, "here", lambda: switch.seconds)}
