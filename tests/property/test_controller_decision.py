# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random controllers, declared and actual: what the decision plans from a look is what the module does there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.module_utils._vipu.access import AccessKeys
from ansible_collections.ipu.pod.plugins.module_utils._vipu.engine import Engine
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS, plural
from ansible_collections.ipu.pod.plugins.module_utils._vipu.options import declared_by, policy_of
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.controller_steps import (
    controller_steps,
    dedicated_steps,
    emptied_steps,
    tenant_steps,
)
from tests.property.test_vipu_apply import site_that_holds
from tests.property.vipu_declarations import ALLOCATIONS, Declared, declarations
from tests.support.controller_looks import SETTINGS, asked, in_service, look
from tests.support.in_memory.controller import InProcess

Options = dict[str, Any]
BASE = ("agents", "clusters", "allocations")
TENANTS = ("users", "partitions")
ALL = (*BASE, *TENANTS)
DEFAULTS = {"mode": "insecure", "strict_sizes": False, "any_replica_size": False}
SHARED = {**DEFAULTS, "user_port": 8090, "admin_port": 8091}
DEDICATED = {**DEFAULTS, "user_port": 10404, "admin_port": 10405, "metrics_port": 10406}
SERVICES = {**SETTINGS, "vipu_controller_dedicated": [{"name": name, **DEDICATED} for name in ("one", "two")]}


def options_of(declared: Declared) -> Options:
    """The declared entities as the core has them, without the fields that are left out."""
    return {
        plural(kind): [
            {name: value for name, value in entity.items() if value is not None} for entity in declared[kind]
        ]
        for kind in KINDS
    }


def engine(site: InProcess, options: Options, kinds: Sequence[str]) -> Engine:
    """The module vipu_state's engine, with the options that the role gives to it."""
    params = {**{kind: options[kind] for kind in kinds if kind in options}, "key_directory": "/keys"}
    return Engine(site.client, declared_by(params), policy_of(params), AccessKeys(keep=True), wait_timeout=0)


def predicted(site: InProcess, options: Options, kinds: Sequence[str] = ALL) -> list[Step] | str:
    """The module's steps in check mode, or why it refuses."""
    return steps_of(lambda: list(engine(site, options, kinds).converge(check_mode=True).steps))


def steps_of(decide: Callable[[], list[Step]]) -> list[Step] | str:
    try:
        return decide()
    except Refused as error:
        return str(error)


def seen(*vpods: str, **sites: InProcess) -> dict[str, Any]:
    """A look at a host where only what the controllers hold may have to change."""
    controllers = asked({"" if name == "shared" else name: site for name, site in sites.items()})
    return look(controllers, in_service(SERVICES, *vpods))


def plain(steps: list[Step] | str) -> Any:
    """The steps in a form that is comparable, of whichever controller they are."""
    if isinstance(steps, str):
        return steps
    return [{name: value for name, value in vars(step).items() if name != "vpod"} for step in steps]


@settings(max_examples=80)
@given(declarations(), declarations())
def test_the_decision_says_what_check_mode_says(wanted: Declared, earlier: Declared) -> None:
    site, options = site_that_holds(earlier), options_of(wanted)
    there = seen(shared=site)
    writes = site.memory.writes
    base = steps_of(lambda: controller_steps({**SHARED, **options}, SETTINGS, there))
    assert base == predicted(site, options, BASE)
    tenants = {kind: options[kind] for kind in TENANTS}
    assert steps_of(lambda: tenant_steps(tenants, SETTINGS, there)) == predicted(site, options, TENANTS)
    assert site.memory.writes == writes
    event("refused" if isinstance(base, str) else f"{min(len(base), 3)} steps or more")


@settings(max_examples=80)
@given(declarations(), declarations(), st.sets(st.sampled_from(sorted(ALLOCATIONS))))
def test_a_stage_is_planned_on_what_the_stages_before_it_do(
    wanted: Declared, earlier: Declared, down: set[str]
) -> None:
    """Some vPODs go, then everything comes: planned at once is as planned when the stages before have been done."""
    site, options = site_that_holds(earlier), options_of(wanted)
    there = seen(shared=site)
    stages = [(tenant_steps, kinds, gone(there, kinds, down)) for kinds in (TENANTS, ("allocations",))]
    stages += [(controller_steps, BASE, {**SHARED, **options}), (tenant_steps, TENANTS, options)]
    planned: list[Step] = []
    for decide, kinds, stage in stages:
        asked_for = {name: value for name, value in stage.items() if name not in ALL or name in kinds}
        steps = steps_of(lambda: decide(asked_for, SETTINGS, there, planned))  # noqa: B023  (called at once)
        assert public(steps) == public(predicted(site, asked_for, kinds))
        if isinstance(steps, str):
            event("refused")
            return
        if engine(site, asked_for, kinds).converge(check_mode=False).failure:
            # Alignment is the controller's business.
            reject()
        planned += steps
    event(f"{min(len(planned), 5)} steps or more")
    now = seen(shared=site)
    assert controller_steps({**SHARED, **options}, SETTINGS, now) == tenant_steps(options, SETTINGS, now) == []


@settings(max_examples=50)
@given(declarations(), declarations(), declarations())
def test_dedicated_controllers_that_hold_the_same_names_are_not_mixed_up(
    first: Declared, second: Declared, earlier: Declared
) -> None:
    """One of two is emptied, and both are made what they should be."""
    one, two = site_that_holds(earlier), site_that_holds(earlier)
    wanted = [{"name": name, **DEDICATED, **options_of(each)} for name, each in (("one", first), ("two", second))]
    there = seen("one", "two", one=one, two=two)
    emptied = {"name": "one", **gone(there, ALL, set(ALLOCATIONS), "one")}
    steps = emptied_steps([emptied], SETTINGS, there)
    assert plain(steps) == plain(predicted(one, emptied))
    again = steps_of(lambda: dedicated_steps(wanted, SETTINGS, there, steps))
    engine(one, emptied, ALL).converge(check_mode=False)
    outcomes = [predicted(site, each) for site, each in zip((one, two), wanted, strict=True)]
    refusals = [each for each in outcomes if isinstance(each, str)]
    expected = refusals[0] if refusals else [step for each in outcomes for step in each]
    assert plain(again) == plain(expected)
    event("refused" if refusals else f"{min(len(expected), 5)} steps or more")


def gone(there: dict[str, Any], kinds: Sequence[str], down: set[str], vpod: str = "") -> Options:
    """The entities that go with some allocations, as the teardown names them; all of a dedicated controller."""
    held_now = there["parts"]["controllers"][vpod]
    goes = {
        "users": lambda fields: not fields["admin"] and (vpod or set(fields["allocations"]) & down),
        "partitions": lambda fields: vpod or fields["allocation"] in down,
    }
    return {
        kind: [
            {"name": name, "state": "absent"}
            for name, fields in held_now[kind].items()
            if (goes[kind](fields) if kind in goes else vpod or name in down)
        ]
        for kind in kinds
    }


def public(steps: list[Step] | str) -> Any:
    """The steps as plans show them; fields that only the controller can choose are unknown before it has."""
    return steps if isinstance(steps, str) else [step.public() for step in steps]
