# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where each vPOD stands, by the steps that are still due."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.stage_steps import Plan
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import document_of, vpods_view
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from tests.support.vpods_of_a_pod import ALICE, BOB, document, held, machines, planned

VPODS = {"alice": ALICE, "bob": {**BOB, "state": "absent"}}
DECLARATION = parse_declaration(document(VPODS))
TENANCY = planned(VPODS, held(alice=machines(1, 4), bob=machines(5, 6)))


def step(device: str, layer: str, kind: str, name: str, action: str = "update") -> dict[str, Any]:
    keys = dict.fromkeys(("from", "to", "observed"))
    return {
        "device": device,
        "layer": layer,
        "action": action,
        "kind": kind,
        "name": name,
        "phase": 0,
        "reason": "",
        "risk": "none",
        **keys,
    }


def table(*steps: dict[str, Any]) -> list[list[str]]:
    plan = document_of(Decision(TENANCY, [], [], plan=Plan(list(steps))), {}, DECLARATION, "", "")
    return [[cell.strip() for cell in line.split("  ") if cell] for line in vpods_view(plan, DECLARATION, None).lines]


def test_with_nothing_to_do_all_is_done_or_gone() -> None:
    assert table() == [
        ["vPOD", "allocation", "switch ports", "servers", "users", "partitions", "IPUoF"],
        ["bob", *["gone"] * 6],
        ["alice", *["done"] * 6],
    ]


def test_what_is_due_stands_at_its_vpod_and_its_layer() -> None:
    _, bob, alice = table(
        step("p-tor", "switch", "port", "Ethernet9/1"),
        step("p-poplar1", "vpod", "file", "/etc/vipu/vipu-cli.hcl", "create"),
        step("v", "controller", "allocation", "bob", "remove"),
        step("p-tor", "switch", "port", "Ethernet13/1"),
        step("v", "controller", "agent", "p-ipum9", "create"),
    )
    assert alice == ["alice", "done", "not yet", "done", "done", "done", "not yet"]
    assert bob == ["bob", "to be removed", "to be removed", "gone", "gone", "gone", "gone"]


def test_it_can_be_about_one_vpod_alone() -> None:
    assert [line.split()[0] for line in vpods_view({"steps": []}, DECLARATION, ["alice"]).lines] == ["vPOD", "alice"]
