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

VPODS = {"alice": {**ALICE, "partitions": {"train": {"ipus": 16}}}, "bob": {**BOB, "state": "absent"}}
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


def finding(device: str, layer: str, kind: str, name: str) -> dict[str, str]:
    thing = {"device": device, "layer": layer, "kind": kind, "name": name}
    return {**thing, "finding": f"{kind} {name} does not work", "remedy": "mend it"}


def lines_of(*steps: dict[str, Any], findings: Any = (), only: Any = None) -> list[str]:
    plan = document_of(Decision(TENANCY, [], [], list(findings), Plan(list(steps))), {}, DECLARATION, "", "")
    return list(vpods_view(plan, DECLARATION, only).lines)


def table(*steps: dict[str, Any], findings: Any = ()) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("  ") if cell] for line in lines_of(*steps, findings=findings)]


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


def test_what_does_not_work_stands_at_its_vpod_and_its_layer_and_below_the_table() -> None:
    port = finding("p-tor", "switch", "port", "Ethernet9/1")
    agent, partition = finding("v", "controller", "agent", "p-ipum1"), finding("v", "controller", "partition", "train")
    spare = finding("p-tor", "switch", "port", "Ethernet20/1")
    _, _bob, alice, *told = table(findings=[port, agent, partition, spare])
    assert alice == ["alice", "not working", "not working", "done", "done", "not working", "done"]
    assert told == [
        ["p-tor: port Ethernet9/1 does not work; mend it (affects alice)"],
        ["v: agent p-ipum1 does not work; mend it (affects alice)"],
        ["v: partition train does not work; mend it (affects alice)"],
    ]
    assert lines_of(findings=[port], only=["bob"])[2:] == []


def test_what_is_due_comes_before_what_does_not_work() -> None:
    port, other = step("p-tor", "switch", "port", "Ethernet10/1"), finding("p-tor", "switch", "port", "Ethernet9/1")
    _, _bob, alice, _told = table(port, findings=[other])
    assert alice[2] == "not yet"


def test_it_can_be_about_one_vpod_alone() -> None:
    assert [line.split()[0] for line in vpods_view({"steps": [], "findings": []}, DECLARATION, ["alice"]).lines] == [
        "vPOD",
        "alice",
    ]
