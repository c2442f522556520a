# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as a document: order, who is affected, the fingerprint, and what has moved since it was saved."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.impact import Tenants
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.plan_document import (
    STATES,
    TEXTS,
    fingerprint_of,
    moved,
    parse_plan,
    plan_document,
    unrecognised,
)
from tests.support.hostile import HOSTILE, is_seen
from tests.support.reviewed_pod import declared

DECLARATION = parse_declaration(declared())
PLACEMENT = place(DECLARATION, {})
ALICE = {"vpods": ["alice-pod001"], "partitions": ["alice-pod001-train"]}
BOB = {"vpods": ["bob-pod001"], "partitions": ["bob-pod001-train"]}
NOBODY: dict[str, list[str]] = {"vpods": [], "partitions": []}


PHASES = ("controller", "switch", "server", "vpod")


def recorded(device: str, layer: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {
        "device": device,
        "layer": layer,
        "action": "update",
        "kind": kind,
        "name": name,
        "from": {"mtu": 1500},
        "to": {"mtu": 9214},
        "reason": "mtu is 1500, wanted 9214",
        "risk": "none",
        "observed": {"mtu": 1500, "vlan": 101},
        "predicted": True,
        "phase": PHASES.index(layer),
        **fields,
    }


PORT = recorded("pod001-tor", "switch", "port", "Ethernet9/1")
FILE = recorded("pod001-poplar1", "vpod", "file", "/etc/vipu/vipu-cli.hcl")
AGENT = recorded("ctrl001", "controller", "agent", "pod001-ipum1")
NIC = recorded("pod001-poplar2", "server", "interface", "ens2f0")
NIC_1 = recorded("pod001-poplar1", "server", "interface", "ens2f0")
PARTITION = recorded("ctrl001", "controller", "partition", "alice-pod001-train", phase=2)


def document(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    made = plan_document(DECLARATION, PLACEMENT, steps, [], [], "2026-11-21T15:00:00Z", "alice@control1")
    return {**made, **fields}


def test_steps_stand_in_the_order_of_site_yml() -> None:
    plan = document(FILE, NIC, PARTITION, AGENT, PORT, NIC_1)
    assert [(step["number"], step["device"], step["kind"]) for step in plan["steps"]] == [
        (1, "ctrl001", "agent"),
        (2, "pod001-tor", "port"),
        (3, "pod001-poplar1", "interface"),
        (4, "pod001-poplar2", "interface"),
        (5, "ctrl001", "partition"),
        (6, "pod001-poplar1", "file"),
    ]


def test_what_the_callback_needs_for_itself_is_not_in_the_document() -> None:
    assert not {"predicted", "phase"} & document(PORT)["steps"][0].keys()


@pytest.mark.parametrize(
    ("device", "layer", "kind", "name", "affected"),
    [
        ("pod001-tor", "switch", "port", "Ethernet9/1", ALICE),
        ("pod001-tor", "switch", "port", "Ethernet13/1", BOB),
        ("pod001-tor", "switch", "port", "Ethernet24/1", NOBODY),
        ("pod001-tor", "switch", "port", "Ethernet27/1", BOB),
        ("pod001-tor", "switch", "vlan", "101", ALICE),
        ("pod001-tor", "switch", "vlan", "300", NOBODY),
        ("pod001-tor", "switch", "qos_profile", "ROCE", {key: ALICE[key] + BOB[key] for key in ALICE}),
        ("pod001-mgmt", "switch", "port", "Ethernet9/1", NOBODY),
        ("pod001-poplar1", "server", "interface", "ens2f0", ALICE),
        ("pod001-poplar2", "vpod", "file", "/etc/vipu/vipu-cli.hcl", BOB),
        ("ctrl001", "controller", "agent", "pod001-ipum1", ALICE),
        ("ctrl001", "controller", "agent", "pod001-ipum16", NOBODY),
        ("ctrl001", "controller", "allocation", "bob-pod001", BOB),
        ("ctrl001", "controller", "partition", "bob-pod001-train", BOB),
        ("ctrl001", "controller", "partition", "p4711", NOBODY),
        ("ctrl001", "controller", "cluster", "c-pod001", {key: ALICE[key] + BOB[key] for key in ALICE}),
        ("ctrl001", "controller", "service", "vipu-server.service", {key: ALICE[key] + BOB[key] for key in ALICE}),
        ("ctrl001", "controller", "file", "/usr/local/sbin/vipu-backup", NOBODY),
    ],
)
def test_it_says_who_is_affected(device: str, layer: str, kind: str, name: str, affected: Any) -> None:
    assert Tenants(DECLARATION, PLACEMENT).affected(device, layer, kind, name) == affected


@pytest.mark.parametrize(
    ("device", "layer", "kind", "name", "affected"),
    [
        ("ctrl001", "controller", "service", "vipu-server-alice-pod001.service", ALICE),
        ("ctrl001", "controller", "service", "vipu-server.service", BOB),
        ("ctrl001", "controller", "cluster", "alice-pod001", ALICE),
        ("pod001-poplar2", "server", "interface", "ens2f0", BOB),
    ],
)
def test_it_tells_a_dedicated_controller_from_the_shared_one_and_guests_from_their_host(
    device: str, layer: str, kind: str, name: str, affected: Any
) -> None:
    document = declared()
    document["pods"]["pod001"]["hypervisors"] = ["pod001-poplar2"]
    document["vpods"]["alice-pod001"]["controller"] = "dedicated"
    document["vpods"]["bob-pod001"]["virtual_function"] = 0
    declaration = parse_declaration(document)
    assert Tenants(declaration, PLACEMENT).affected(device, layer, kind, name) == affected


def port(**fields: Any) -> dict[str, Any]:
    """The fields of a port."""
    defaults = {"enabled": True, "mode": "access", "vlan": 1, "native_vlan": 1, "allowed_vlans": ["1-4094"]}
    return {**defaults, **fields}


VLANS = {"pod001-tor": {101: "alice-pod001", 102: "bob-pod001", 109: "demo"}}


@pytest.mark.parametrize(
    ("before", "after", "affected"),
    [
        # What comes to bob leaves alice, or somebody whom pods.yml does not know.
        (port(vlan=101), port(vlan=102), ALICE),
        (port(vlan=109), port(vlan=102), {"vpods": ["demo"], "partitions": []}),
        (port(mode="trunk", native_vlan=101, allowed_vlans=["101-102"]), port(vlan=102), ALICE),
        # Nobody loses anything.
        (port(vlan=999), port(vlan=102), BOB),
        (port(vlan=102), port(vlan=102, mtu=9214), BOB),
        (port(vlan=101, enabled=False), port(vlan=102), BOB),
    ],
)
def test_a_port_that_leaves_a_vlan_affects_whose_that_is(before: Any, after: Any, affected: Any) -> None:
    tenants = Tenants(DECLARATION, PLACEMENT, VLANS)
    assert tenants.affected("pod001-tor", "switch", "port", "Ethernet13/1", before, after) == affected


def test_a_vlan_that_goes_affects_whose_it_was_and_a_partition_its_allocation() -> None:
    tenants, hers = Tenants(DECLARATION, PLACEMENT, VLANS), {"vpods": ["alice-pod001"], "partitions": ["hers"]}
    assert tenants.affected("pod001-tor", "switch", "vlan", "109") == {"vpods": ["demo"], "partitions": []}
    assert tenants.affected("ctrl001", "controller", "partition", "hers", {"allocation": "alice-pod001"}) == hers


def test_the_fingerprint_is_of_what_is_touched_and_of_nothing_else() -> None:
    plan = document(PORT)
    later = plan_document(DECLARATION, PLACEMENT, [PORT], [], [{"device": "x"}], "2027-01-01T00:00:00Z", "bob@control2")
    assert plan["fingerprint"] == later["fingerprint"]
    seen = document({**PORT, "observed": {"mtu": 1500, "vlan": 102}})
    assert plan["fingerprint"] != seen["fingerprint"]


def test_a_saved_plan_comes_back_as_it_was() -> None:
    plan = document(PORT, NIC)
    assert parse_plan(json.dumps(plan, indent=4), "plan.json") == plan


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("not JSON", "plan.json is not JSON"),
        ("[]", "plan.json is no plan of schema 2"),
        ('{"schema": 1}', "plan.json is no plan of schema 2"),
        ('{"schema": 2, "steps": [{}]}', "plan.json: `steps` is not a list of steps"),
        (json.dumps(document(PORT, fingerprint="sha256:0")), "plan.json has been edited since it was made"),
    ],
)
def test_what_is_no_plan_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        parse_plan(text, "plan.json")


SHAPES: list[Any] = [None, 0, "text", [], [1], {"a": 1}]
WRONG = [
    *((key, value) for key in TEXTS for value in SHAPES if not isinstance(value, str)),
    *((key, value) for key in STATES for value in SHAPES if not isinstance(value, (dict, type(None)))),
]


@pytest.mark.parametrize(("key", "value"), WRONG)
def test_a_step_of_another_shape_is_refused_even_with_its_fingerprint(key: str, value: Any) -> None:
    plan = document(PORT)
    steps = [{**plan["steps"][0], key: value}]
    text = json.dumps({**plan, "steps": steps, "fingerprint": fingerprint_of(steps)})
    with pytest.raises(Refused, match="`steps` is not a list of steps; give a"):
        parse_plan(text, "plan.json")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_saved_plan_with_hostile_text_is_never_carried_out(text: str) -> None:
    plan = document(PORT)
    fields = {"name": text, "reason": text, "from": {text: text}, "to": {text: [text]}, "observed": {text: {text: 1}}}
    for changes in (fields, {**fields, "name": "Ethernet9/1"}, {"to": {text: text}, "reason": text}):
        steps = [{**plan["steps"][0], **changes}]
        saved = parse_plan(json.dumps({**plan, "steps": steps, "fingerprint": fingerprint_of(steps)}), "plan.json")
        sentences = moved(saved, document(PORT))
        assert sentences
        assert list(filter(is_seen, sentences)) == sentences


@pytest.mark.parametrize("text", ["[" * 100_000, '{"schema": 2, "steps": ' + "[" * 100_000, "\x00", "9" * 10_000])
def test_what_only_looks_like_json_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(Refused, match="give a plan"):
        parse_plan(text, "plan.json")


def test_nothing_has_moved_where_nothing_differs() -> None:
    assert moved(document(PORT, NIC), document(NIC, PORT)) == []


def test_lines_of_others_on_its_switches_are_not_in_a_saved_plan_and_that_is_said() -> None:
    (sentence,) = unrecognised(document(PORT, NIC), "plan.json")
    assert sentence.startswith(
        "plan.json has nothing of what others have configured on pod001-tor, since that can hold"
    )
    assert unrecognised(document(NIC), "plan.json") == []


def test_what_does_not_touch_the_plan_may_move() -> None:
    now = document(PORT, not_ours=[{"device": "ctrl001", "kind": "partition", "name": "p1", "owner": "Slurm"}])
    assert moved(document(PORT), now) == []


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        (
            document({**PORT, "observed": {"mtu": 1500, "vlan": 102}}),
            "pod001-tor: port Ethernet9/1: vlan was 101, and is 102",
        ),
        (document({**PORT, "observed": None}), "pod001-tor: port Ethernet9/1: was there, and is gone"),
        (document(), "pod001-tor: port Ethernet9/1: update is not due any more"),
        (
            document({**PORT, "to": {"mtu": 9000}, "reason": "mtu is 1500, wanted 9000"}),
            "pod001-tor: port Ethernet9/1: the plan says update to {'mtu': 9214} (mtu is 1500, wanted 9214), and now "
            "it would be update to {'mtu': 9000} (mtu is 1500, wanted 9000); pods.yml has changed",
        ),
        (
            document(PORT, NIC),
            "pod001-poplar2: interface ens2f0: update is due now (mtu is 1500, wanted 9214), which the plan does not "
            "hold",
        ),
        (
            document(PORT, unseen=[{"device": "ctrl001", "message": "does not answer"}]),
            "ctrl001 cannot be looked at: does not answer",
        ),
    ],
)
def test_what_has_moved_is_reported_in_one_sentence(now: dict[str, Any], sentence: str) -> None:
    assert moved(document(PORT), now) == [sentence]


def test_the_same_steps_in_another_order_are_another_plan() -> None:
    other = document({**PORT, "kind": "vlan", "name": "101"}, PORT)
    assert moved(document(PORT, {**PORT, "kind": "vlan", "name": "101"}), other) == [
        "the steps are due in another order"
    ]
