# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A dedicated V-IPU controller on a host that it has to itself: its plan, its findings, whom it concerns."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision, Request, decide
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.gathering import gather
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.stage_members import members
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory import stages
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.stages import group_of
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.impact import Tenants
from tests.support.in_memory.pod import CONTROLLER, PodInMemory, declared, pod
from tests.unit.decision.two_vpods import BOB, DOCUMENT, brief_steps

Looks = dict[str, Any]
HOST = "bob-controller"
AWAY = {**BOB, "controller_address": "10.1.3.220"}


@pytest.fixture(scope="module")
def there() -> PodInMemory:
    """A pod on which bob's controller has a host to itself."""
    there = pod([HOST])
    there.carry_out(there.decide(declared({"bob": AWAY})))
    return there


@pytest.fixture
def looks(there: PodInMemory) -> Looks:
    return there.looks()


def decided(looks: Looks, bob: Any = AWAY, **words: Any) -> Decision:
    request = Request(**{"hosts": list(looks), **words})
    return decide(declared({"bob": bob}), looks, request)


def test_all_of_it_is_on_its_host_but_for_the_place() -> None:
    found = decided(pod([HOST]).looks())
    (allocation,) = [each for each in brief_steps(found) if each[:3] == (stages.CONTROLLERS, CONTROLLER, "allocation")]
    assert allocation[3] == "bob"
    own = [each[2:] for each in brief_steps(found) if each[:2] == (stages.DEDICATED, HOST)]
    assert {("allocation", "bob"), ("user", "bob"), ("partition", "serve")} <= set(own)
    assert stages.DEDICATED not in [each[0] for each in brief_steps(found) if each[1] == CONTROLLER]


def test_there_it_is_complete_and_nothing_is_wrong(looks: Looks) -> None:
    found = decided(looks)
    assert (found.refusals, found.findings, found.plan.steps) == ([], [], [])


def test_an_agent_that_it_finds_down_is_a_finding(looks: Looks) -> None:
    agents = looks[HOST]["parts"]["controllers"]["bob"]["agents"]
    name = next(iter(agents))
    agents[name]["status"] = "Down"
    (found,) = decided(looks).findings
    assert (found["device"], found["name"]) == (HOST, name)


def test_its_partition_that_would_end_is_refused_and_its_pod_verified(looks: Looks) -> None:
    other = {**AWAY, "partitions": {"serve": {"ipus": 8}}}
    (refusal,) = decided(looks, other).refusals
    assert refusal.startswith("it would end what runs: partition serve: size is 4, wanted 8; ")
    request = Request(hosts=list(looks), allowed=("bob",))
    decision = decide(declared({"bob": other}), looks, request)
    of = {each["host"]: each["groups"] for each in members(decision, declared({"bob": other}), looks, request, False)}
    assert of[HOST] == [group_of(stages.DEDICATED_DOWN), group_of(stages.DEDICATED)]
    assert group_of(stages.VERIFICATION) in of["p-poplar2"]


def test_a_step_there_concerns_its_vpod() -> None:
    tenants = Tenants(declared({"bob": AWAY}), {"bob": ["p-ipum1", "p-ipum2"]})
    for host in (HOST, CONTROLLER):
        assert tenants.affected(host, "controller", "allocation", "bob")["vpods"] == ["bob"]


def test_who_gathers_misses_no_controller_of_a_cluster_there(looks: Looks) -> None:
    vpods = {"bob": {"cluster": "c", "controller": "dedicated", "controller_address": "10.1.3.220"}}
    found = gather({**DOCUMENT, "clusters": {"c": {"controller": CONTROLLER, "pods": ["p"]}}, "vpods": vpods}, looks)
    assert (found.unread, found.left) == ([], [])
