# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters of plan.yml show a vPOD with a dead machine where it lies, or where a run that may move it puts it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.filter.review import plan_document_of, racks_of

DECLARATION: dict[str, Any] = {
    "schema": 1,
    "pods": {"p": {"model": "bow-pod64", "poplar_servers": 1, "excluded": ["p-ipum1"]}},
    "controllers": {"v": {"address": "10.9.9.9"}},
    "clusters": {"c": {"controller": "v", "pods": ["p"]}},
    "vpods": {"alice": {"cluster": "c", "ipus": 4, "vlan": 101, "poplar_servers": ["p-poplar1"]}},
}
ALLOCATIONS = {"v": {"alice": {"agents": ["p-ipum1"]}}}
RUN = {"started": "2026-01-02T03:04:05+00:00", "by": "ann"}
STEP = {
    "device": "p-tor",
    "layer": "switch",
    "action": "update",
    "kind": "port",
    "from": {},
    "to": {},
    "reason": "",
    "risk": "none",
    "foretold": True,
    "phase": 0,
}
MAY_MOVE = [("p-ipum1", ()), ("p-ipum2", ("alice",))]


@pytest.mark.parametrize(("machine", "told"), MAY_MOVE)
def test_the_picture_shows_it_there(machine: str, told: tuple[str, ...]) -> None:
    (rack,) = racks_of(DECLARATION, ALLOCATIONS, told)["pods"]
    assert [each["name"] for each in rack["machines"] if each["vpod"] == "alice"] == [machine]


@pytest.mark.parametrize(("machine", "told"), MAY_MOVE)
def test_it_feels_what_happens_to_the_port_there(machine: str, told: tuple[str, ...]) -> None:
    steps = [{**STEP, "name": f"Ethernet{number}/1", "observed": number} for number in (9, 10)]
    plan = plan_document_of(steps, DECLARATION, ALLOCATIONS, RUN, [], [], told)
    ports = {"p-ipum1": "Ethernet9/1", "p-ipum2": "Ethernet10/1"}
    assert [step["name"] for step in plan["steps"] if "alice" in step["affected"]["vpods"]] == [ports[machine]]
