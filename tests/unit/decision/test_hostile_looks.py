# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at devices whose programs and files say what must not be obeyed, from reading to what people see of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import yaml

from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs
from ansible_collections.ipu.pod.plugins.module_utils._look.controllers import Place, controllers_from
from ansible_collections.ipu.pod.plugins.module_utils._look.parts import plain
from ansible_collections.ipu.pod.plugins.module_utils._look.use import running_on
from ansible_collections.ipu.pod.plugins.module_utils._rnic.uses import mounts_from, queue_pairs_from
from ansible_collections.ipu.pod.plugins.module_utils._text.line import encodable
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.gathering import gather
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import (
    View,
    cabling_view,
    document_of,
    drift_view,
    plan_view,
    summary_view,
    vpods_view,
)
from tests.support.hostile import ENDS, HOSTILE, is_seen
from tests.support.hostile_programs import entities
from tests.support.in_memory.pod import CONTROLLER, declared
from tests.unit.decision.two_vpods import ALICE, ALICE_GOES, CAROL, DOCUMENT, VPODS, brief_steps, decided

Looks = dict[str, Any]
WITH_CAROL, SMALLER = {**VPODS, "carol": CAROL}, {**VPODS, "alice": {**ALICE, "ipus": 8}}
CHANGES = {"one more": WITH_CAROL, "one goes": ALICE_GOES, "smaller": SMALLER}
each_hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
# As the kernel writes them.
ESCAPED = {" ": "\\040", "\t": "\\011", "\n": "\\012", "\\": "\\134"}
NOT_IN_A_PATH = "\0"


def controller_with(text: str) -> dict[str, Any]:
    """What a look reads of a V-IPU controller with entities that are called so, and a program that fails with it."""

    def run(argv: list[str]) -> tuple[int, str, str]:
        if "list" in argv:
            return 0, json.dumps({argv[-1]: entities([text])[argv[-1]]}), ""
        return (0, "version: 1.18.0", "") if argv[-1] == "--server-version" else (1, "", text)

    (answer,) = controllers_from([Place("", 8091, "/storage")], ["good", text], run, lambda _path: True).values()
    return answer


def on_a_server_with(text: str) -> dict[str, Any]:
    """What a look reads of a Poplar server whose users call their jobs, mounts and programs so."""
    programs = Programs(lambda argv: (0, "" if "--version" in argv else f"4711 {text}\n", ""))
    in_use, unknown = running_on(programs, [])
    name = "".join(ESCAPED.get(sign, sign) for sign in text.replace(NOT_IN_A_PATH, ""))
    mounts = [(mount, None) for mount in mounts_from(f"{name}:/x /data/{name} nfs4 rw 0 0\n")]
    assert [str(mount) for mount, _device in mounts] == [
        f"/data/{text} (nfs4 from {text}:/x)".replace(NOT_IN_A_PATH, "")
    ]
    pairs = queue_pairs_from(json.dumps([{"ifname": "mlx5_0", "lqpn": 1, "type": "RC", "comm": text, "pid": 1}]))
    return {
        "use": {"in_use": in_use, "unknown": unknown},
        "uses": plain({"mounts": mounts, "netdevs": {}, "queue_pairs": pairs, "functions": []}),
        "leases": {"text": f"1760000000 04:3f:72:00:01:02 10.5.1.101 {text} *\n"},
    }


def looks_with(text: str, looks: Looks, allocation: str = "") -> Looks:
    """The pod with this text wherever a tenant, a user or a device has put it, and a partition in an allocation."""
    looks = copy.deepcopy(looks)
    there = looks[CONTROLLER]["parts"]["controllers"][""]
    for kind, found in controller_with(text).items():
        if isinstance(found, dict):
            there[kind] = {**found, **there[kind]} if kind in there else found
    there["partitions"][encodable(text)]["allocation"] = allocation
    for name in ("p-poplar1", "p-poplar2", "p-poplar3"):
        looks[name]["parts"].update(on_a_server_with(text))
    looks["p-poplar1"]["parts"]["links"]["links"]["rnic0"]["mtu"] = 1500
    return looks


def views_of(decision: Decision, looks: Looks, vpods: Any) -> Iterator[View]:
    """Everything that a run shows of these looks."""
    document = document_of(decision, looks, declared(vpods), "2026-11-21T15:00:00Z", "ann")
    yield plan_view(document, declared(vpods), {})
    yield drift_view(document, decision.plan.compared, [], "2026-11-21")
    yield vpods_view(document, declared(vpods), None)
    yield cabling_view(declared(vpods), looks)
    if decision.tenancy is not None:
        yield summary_view(declared(vpods), looks, {**decision.tenancy.wanted, "degraded": []}, set())


def unseen(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not is_seen(line)]


@each_hostile
@pytest.mark.parametrize("vpods", CHANGES.values(), ids=CHANGES)
def test_what_is_read_of_hostile_devices_is_lines_and_files_for_people(looks: Looks, text: str, vpods: Any) -> None:
    hostile = looks_with(text, looks, "alice")
    decision = decided(hostile, vpods)
    assert unseen(decision.refusals) == []
    for view in views_of(decision, hostile, vpods):
        assert unseen(view.lines) == []
        assert {name: unseen(text.split("\n")) for name, text in view.files.items() if unseen(text.split("\n"))} == {}


@each_hostile
@pytest.mark.parametrize(("vpods", "allocation"), [(WITH_CAROL, "alice"), (ALICE_GOES, ""), (SMALLER, "")])
def test_no_name_keeps_anybody_else_from_what_is_due(looks: Looks, text: str, vpods: Any, allocation: str) -> None:
    usual, found = (decided(looks_with(each, looks, allocation), vpods) for each in ("harmless", text))
    assert brief_steps(found) == brief_steps(usual)
    assert len(found.refusals) == len(usual.refusals)
    remedies = [line for line in found.refusals if "end it first, or say with -e" in line]
    assert len(remedies) == sum("end it first, or say with -e" in line for line in usual.refusals)


@pytest.mark.parametrize("name", ["--force", "..", HOSTILE["shell"]])
def test_a_partition_that_no_program_is_told_to_remove_stops_its_own_vpod_alone(looks: Looks, name: str) -> None:
    hostile, vpods = looks_with(name, looks, "alice"), {**ALICE_GOES, "carol": CAROL}
    named, *_others = decided(hostile, vpods, allowed=("alice",)).refusals
    assert named.startswith(f"ctrl: partition {name!r}: ")
    assert named.endswith("remove it by hand")
    others = decided(hostile, vpods, only=("carol",))
    assert others.refusals == []
    assert others.plan.steps


# YAML takes its time to be written.
@pytest.mark.parametrize("text", [text[:10_000] for text in HOSTILE.values()], ids=HOSTILE)
def test_what_is_gathered_of_hostile_devices_is_lines_and_files_for_people(looks: Looks, text: str) -> None:
    usual, found = (gather(DOCUMENT, looks_with(each, looks)) for each in ("harmless", text))
    assert unseen([*found.lines, *found.partly, *found.unread, *found.left]) == []
    assert (len(found.left), len(found.unread)) == (len(usual.left), len(usual.unread))
    assert {name: unseen(text.split("\n")) for name, text in found.files.items() if unseen(text.split("\n"))} == {}
    assert yaml.safe_load(found.files["pods.yml"])["vpods"] == yaml.safe_load(usual.files["pods.yml"])["vpods"]
    shapes = [[line[:2] for line in each.files["findings.md"].split("\n")] for each in (usual, found)]
    assert shapes[0] == shapes[1]
    assert "<script" not in found.files["findings.md"]


@pytest.mark.parametrize("end", ENDS, ids=ascii)
def test_no_name_of_a_dhcp_client_makes_up_a_lease(looks: Looks, end: str) -> None:
    lease = f"1760000000 04:3f:72:00:01:02 10.1.3.9 x{end}1760000000 04:3f:72:00:01:03 10.1.3.200 y *\n"
    looks["p-poplar1"]["parts"]["leases"] = {"text": lease}
    assert "04:3f:72:00:01:03" not in gather(DOCUMENT, looks).files["findings.json"]
    looks["p-poplar1"]["parts"]["leases"] = {"text": lease.replace(end, "\n")}
    assert "04:3f:72:00:01:03" in gather(DOCUMENT, looks).files["findings.json"]
