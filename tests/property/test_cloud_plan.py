# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random vPODs in a cloud that holds others: check equals apply, a second run has no steps, nobody else is touched."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._cloud.entities import vpod_of_mark
from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import kept, plan, state_of
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State, Step, predict
from tests.property.cloud_options import VPODS, Options, options
from tests.support.in_memory.cloud import LISTS, InMemoryCloud, bare_look, port, server

# The kinds of which nothing may be left of an absent vPOD, whatever its tenant does.
GONE = ("networks", "subnets", "flavors", "traits", "keys", "ports", "servers")


def cloud_of(earlier: Options) -> InMemoryCloud:
    """A cloud in which earlier options were carried out, with a volume and a machine that tenants made."""
    cloud = InMemoryCloud(bare_look())
    for step in plan(earlier, cloud.look):
        cloud.carry_out(step)
    return cloud


def add_machine_of_tenant(cloud: InMemoryCloud) -> None:
    """The tenant of the first vPOD makes a machine on its RNIC network."""
    for network in [each for each in cloud.look["networks"] if each["vpod"]][:1]:
        project = network["projects"][0]
        project_id = next(each["id"] for each in cloud.look["projects"] if each["name"] == project)
        cloud.look["servers"].append(server("own", project_id, project, None))
        cloud.look["ports"].append(port("own", project_id, None, network["id"], network["name"], "s-own", ["10.5.1.9"]))


def check_predicted(predicted: State, real: State) -> None:
    """Every field but those that only the cloud can choose."""
    assert {kind: set(names) for kind, names in predicted.items()} == {kind: set(names) for kind, names in real.items()}
    for kind, names in real.items():
        for name, fields in names.items():
            assert {**fields, **predicted[kind][name]} == fields
            assert set(fields) - set(predicted[kind][name]) <= {"address", "cores", "instances"}


def unmarked(look: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """All that bears no mark, but what OpenStack itself keeps of it."""
    kinds = [each for each in LISTS if each not in ("members", "quotas", "traits", "images")]
    return {each: [thing for thing in look[each] if not thing["vpod"]] for each in kinds}


PAIRS = 250


def test_random_vpods_in_a_random_cloud() -> None:
    applied = 0

    @settings(max_examples=PAIRS)
    @given(options(), options(), st.sets(st.sampled_from(VPODS)), st.booleans())
    def check(earlier: Options, later: Options, allowed: set[str], with_machine: bool) -> None:
        nonlocal applied
        cloud = cloud_of(earlier)
        if with_machine:
            add_machine_of_tenant(cloud)
        check_carried_out(cloud, later, allowed)
        applied += 1

    check()
    assert applied >= PAIRS


def check_carried_out(cloud: InMemoryCloud, later: Options, allowed: set[str]) -> None:
    before = deepcopy(cloud.look)
    try:
        steps = plan(later, cloud.look, allowed)
    except Refused as refusal:
        event(f"refused: {str(refusal).split(':')[0].split()[0]}")
        assert cloud.look == before
        reject()
    predicted = predict(state_of(later, cloud.look), steps)
    check_interruptions(steps, cloud.look, allowed)
    for step in steps:
        cloud.carry_out(step)
    event(f"{min(len(steps), 10)} steps or more")
    check_predicted(predicted, state_of(later, cloud.look))
    assert plan(later, cloud.look, allowed) == []
    check_others(before, cloud.look, later)
    if later["absent_vpods"]:
        check_absent(cloud.look, later)


def check_interruptions(steps: list[Step], look: dict[str, Any], allowed: set[str]) -> None:
    """No machine goes whose vPOD nobody named."""
    for step in steps:
        if step.kind == "server" and step.action == "remove":
            assert step.before is not None
            assert vpod_of_mark(step.before["vpod"]) in allowed
            assert look["servers"]


def check_others(before: dict[str, Any], after: dict[str, Any], later: Options) -> None:
    """What bears no mark is as it was, and so is what is marked with a vPOD that nobody mentioned."""
    ports_off = {each["id"] for each in before["ports"]} - {each["id"] for each in after["ports"]}
    was, became = unmarked(before), unmarked(after)
    was["ports"] = [each for each in was["ports"] if each["id"] not in ports_off]
    assert was == became
    about = {each["vpod"] for each in later["projects"]} | set(later["absent_vpods"])
    for name in LISTS:
        others = [each for each in before[name] if each.get("vpod") and each["vpod"] not in about]
        assert [each for each in after[name] if each.get("vpod") and each["vpod"] not in about] == others


def check_absent(look: dict[str, Any], later: Options) -> None:
    absent = later["absent_vpods"]
    marked = {name: [each["name"] for each in look[name] if each.get("vpod") in absent] for name in GONE}
    assert {name: names for name, names in marked.items() if names} == {}
    left = [each["name"] for name in ("projects", "security_groups") for each in look[name] if each["vpod"] in absent]
    assert len(kept(later, look)) >= len(left)
    assert all(any(f" {name}:" in sentence for sentence in kept(later, look)) for name in left)
