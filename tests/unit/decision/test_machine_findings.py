# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declared virtual machines in plans and drift: which have other vPODs than pods.yml says, and who puts that right."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision, Request, decide
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import document_of, drift_view, plan_view
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration
from tests.support.in_memory.cloud import port, server
from tests.support.in_memory.pod import CONTROLLER, pod
from tests.unit.decision.test_cloud_steps import ALICE, CLOUD, look

TRAIN = server("train", "p-zoe", "zoe", None)
PORT = {**port("train", "p-zoe", None, "n-1", "vpod-alice-rnic", "s-train", []), "attached": "alice"}
HYPERVISOR = "p-poplar3"


def declared(**machines: Any) -> Declaration:
    """The machines ``train`` of the cloud and ``build1`` of the hypervisor, as far as they are given."""
    places = {"train": f"{CLOUD}/train", "build1": f"{HYPERVISOR}/build1"}
    return parse_declaration(
        {
            "schema": 1,
            "pods": {
                "p": {
                    "model": "bow-pod64",
                    "poplar_servers": 3,
                    "rnic": {"interface": "rnic0", "vlan": 100},
                    "hypervisors": [HYPERVISOR],
                    "virtual_functions": 0,
                }
            },
            "controllers": {CONTROLLER: {"address": "10.1.3.200", "mode": "insecure"}},
            "clusters": {"c": {"controller": CONTROLLER, "pods": ["p"]}},
            "clouds": {
                CLOUD: {"physical_network": "rnic", "control_network": "control", "control_sources": ["10.6.0.0/16"]}
            },
            "vpods": {"alice": ALICE},
            "machines": {places[name]: each for name, each in machines.items()},
        }
    )


def decided(
    declaration: Declaration, servers: Any = (), ports: Any = (), domains: Any = None, **words: Any
) -> Decision:
    looks = {**pod().looks(), CLOUD: look(servers=servers, ports=ports)}
    if domains is not None:
        looks[HYPERVISOR]["parts"]["domains"] = domains
    return decide(declaration, looks, Request(**{"hosts": list(looks), **words}))


def said(decision: Decision) -> list[str]:
    return [
        f"{each['device']}: {each['finding']}; {each['remedy']}"
        for each in decision.findings
        if each["kind"] == "machine"
    ]


TO_ATTACH = (
    "cloud001: machine train has no vPOD, and should have vPOD alice; run attachments.yml, which attaches it to "
)
TO_DETACH = "cloud001: machine train has vPOD alice, and should have no vPOD; run attachments.yml, which detaches it "
TO_MOVE = (
    "cloud001: machine train has vPOD bob, and should have vPOD alice; run attachments.yml, which detaches it from bob "
    "and attaches it to alice"
)


@pytest.mark.parametrize(
    ("vpod", "ports", "sentences"),
    [
        ("alice", [PORT], []),
        ("alice", [], [f"{TO_ATTACH}alice"]),
        ("alice", [{**PORT, "device_id": ""}], [f"{TO_ATTACH}alice"]),
        ("alice", [{**PORT, "attached": "bob"}], [TO_MOVE]),
        (None, [PORT], [f"{TO_DETACH}from alice"]),
        (None, [{**PORT, "attached": None}], []),
    ],
)
def test_a_machine_of_a_cloud_is_compared_by_its_ports(vpod: Any, ports: Any, sentences: list[str]) -> None:
    found = decided(declared(train={"vpod": vpod} if vpod else {}), [TRAIN], ports)
    assert said(found) == sentences
    assert found.refusals == []


def test_a_machine_that_is_not_there_is_missed_where_it_should_have_a_vpod() -> None:
    assert said(decided(declared(train={}))) == []
    assert said(decided(declared(train={"vpod": "alice"}))) == [
        "cloud001: machine train is not there, and should have vPOD alice; make it and run attachments.yml, or correct "
        "machines.cloud001/train in pods.yml"
    ]


def test_a_domain_is_compared_by_what_its_hypervisor_says() -> None:
    declaration = declared(build1={"vpod": "alice", "address": "10.6.1.9"})
    assert said(decided(declaration, domains={"domains": {"build1": ["alice"]}})) == []
    assert said(decided(declaration, domains={"domains": {"build1": []}})) == [
        "p-poplar3: machine build1 has no vPOD, and should have vPOD alice; run attachments.yml, which attaches it to "
        "alice"
    ]
    silent = decided(declaration, domains={"message": "virsh is not installed"})
    assert said(silent) == []
    assert {"device": HYPERVISOR, "message": "virsh is not installed"} in silent.unseen
    assert silent.refusals == []


def test_a_run_says_it_of_the_devices_and_vpods_that_it_is_about() -> None:
    declaration = declared(train={"vpod": "alice"})
    assert said(decided(declaration, [TRAIN], hosts=[HYPERVISOR])) == []
    assert said(decided(declaration, [TRAIN], only=("alice",))) == [f"{TO_ATTACH}alice"]


def test_plan_and_drift_say_whom_it_affects() -> None:
    declaration = declared(train={"vpod": "alice"})
    found = decided(declaration, [TRAIN])
    document = document_of(found, {CLOUD: look()}, declaration, "2026-11-21T15:00:00Z", "tester")
    [finding] = [each for each in document["findings"] if each["kind"] == "machine"]
    assert (finding["layer"], finding["affected"]["vpods"]) == ("machine", ["alice"])
    plan = plan_view(document, declaration, {}).files
    drift = drift_view(document, found.plan.compared, [], "2026-11-21").files
    for text in (plan["plan.md"], plan["plan.html"], drift["drift.md"], drift["junit.xml"]):
        assert "run attachments.yml, which attaches it to alice" in text
