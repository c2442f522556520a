# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random servers and declarations: the plan from a look is what the modules say in check mode, step by step.

What is planned on what an earlier stage will have made is what is planned once that has been made.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.server_steps import server_steps
from tests.property.test_rnic_plan import Case, cases, declarations
from tests.property.test_roce_plan import cases as roce_cases
from tests.property.test_roce_plan import declarations as roce_declarations
from tests.support.in_memory.nic_uses import USES, as_it_is
from tests.support.in_memory.rnic_runs import changed, confirmed
from tests.support.in_memory.roce_server import MACS, TinyRoceServer, run
from tests.support.in_memory.server import TinyServer
from tests.support.in_memory.server_looks import look_at, look_at_roce, settings

Options = list[dict[str, Any]]
Outcome = list[tuple[Any, ...]] | str


def outcome(steps: Callable[[], list[Step]]) -> Outcome:
    """The steps without their kind, or why there are none."""
    try:
        return [(step.action, step.name, step.reason, step.risk, step.before, step.after) for step in steps()]
    except Refused as error:
        return str(error)


def planned(case: Case, options: Options, earlier: list[Step] | None = None) -> list[Step]:
    # A look is written to a file and read again.
    look = json.loads(json.dumps(look_at(case.server)))
    return server_steps({"interfaces": options}, settings(), look, earlier or [])


@given(case=cases(), use=st.sampled_from([as_it_is, *(use for use, _words in USES)]))
def test_interfaces_are_planned_as_the_module_says(case: Case, use: Callable[[TinyServer], None]) -> None:
    server, options = case.server, case.options
    use(server)
    found = outcome(lambda: list(changed(server, options, check_mode=True).steps))
    # What netplan makes of its files the server alone can tell.
    assume(not (isinstance(found, str) and found.startswith("netplan would")))
    assert outcome(lambda: planned(case, options)) == found
    if not isinstance(found, str):
        assert confirmed(server, options).failure is None
        assert planned(case, options) == []


@given(case=cases(), data=st.data())
def test_interfaces_are_planned_on_what_was_planned_before(case: Case, data: st.DataObject) -> None:
    server, options = case.server, case.options
    # The daemons themselves make again what somebody has deleted, and no plan says so.
    assume(not case.lost and not isinstance(outcome(lambda: planned(case, options)), str))
    steps = planned(case, options)
    labels = {nic: option["name"] for nic, option in zip(("rnic0", "rnic1"), options, strict=False)}
    wanted = data.draw(declarations(labels))
    ahead = outcome(lambda: planned(case, wanted, steps))
    try:
        confirmed(server, options)
    except Refused:
        return
    assert outcome(lambda: planned(case, wanted)) == ahead


@given(case=roce_cases(), is_labelled=st.booleans(), data=st.data())
def test_lossless_settings_are_planned_as_the_module_says(
    case: tuple[TinyRoceServer, Options], is_labelled: bool, data: st.DataObject
) -> None:
    server, declared = case
    options = [_labelled(option) if is_labelled else option for option in declared]

    def plan(wanted: Options, earlier: list[Step] | None = None) -> list[Step]:
        look = json.loads(json.dumps(look_at_roce(server)))
        return server_steps({"interfaces": []}, settings(roce=wanted), look, earlier or [])

    found = outcome(lambda: list(run(server, *options, check_mode=True).steps))
    assert outcome(lambda: plan(options)) == found
    if isinstance(found, str):
        return
    steps = plan(options)
    other = data.draw(roce_declarations(server.files.ofed))
    other = [_labelled(option) if is_labelled else option for option in other if option["name"] in _names(declared)]
    ahead = outcome(lambda: plan(other, steps))
    assert run(server, *options).failure is None
    assert plan(options) == []
    # A tool tells DSCPs in an order of its own, in which a reason then names them.
    assert _without_reasons(outcome(lambda: plan(other))) == _without_reasons(ahead)


def _without_reasons(found: Outcome) -> Outcome:
    return found if isinstance(found, str) else [(action, name, *rest) for action, name, _reason, *rest in found]


def _labelled(option: dict[str, Any]) -> dict[str, Any]:
    """The same NIC by another name."""
    return {**option, "name": f"data-{option['name']}", "mac": MACS[option["name"]]}


def _names(options: Options) -> set[str]:
    return {option["name"] for option in options}
