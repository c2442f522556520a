# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A look and its plan, as people and programs read them; the tables themselves are in tests/unit/reports."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import (
    allocations_of,
    cabling_view,
    capacity_view,
    document_of,
    drift_view,
    plan_view,
    summary_view,
    vpods_view,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from tests.support.hostile import HOSTILE, is_seen
from tests.support.html_page import Page
from tests.support.in_memory.pod import CONTROLLER, PodInMemory, declared, pod
from tests.unit.decision.two_vpods import CAROL, VPODS, decided

Looks = dict[str, Any]
DECLARATION = declared(VPODS)
WITH_CAROL = {**VPODS, "carol": CAROL}
LIE = {CONTROLLER: {"alice": [f"p-ipum{n}" for n in (1, 2, 3, 4)], "bob": ["p-ipum5", "p-ipum6"]}}


def planned(looks: Looks, vpods: Any = WITH_CAROL) -> tuple[dict[str, Any], Any]:
    """The plan document, and what was compared for it."""
    decision = decided(looks, vpods)
    return document_of(decision, looks, declared(vpods), "2026-11-21T15:00:00Z", "ann"), decision.plan.compared


def test_a_plan_is_a_table_and_three_files_that_say_the_same(looks: Looks) -> None:
    document, _compared = planned(looks)
    view = plan_view(document, declared(WITH_CAROL), LIE[CONTROLLER])
    assert list(view.files) == ["plan.json", "plan.md", "plan.html"]
    assert json.loads(view.files["plan.json"]) == document
    assert view.exit_code == 0
    for text in ("\n".join(view.lines), view.files["plan.md"], view.files["plan.html"]):
        assert "Ethernet29/1" in text
    assert "p-ipum16" in view.files["plan.html"]


@pytest.mark.parametrize(
    ("rules", "code"),
    [([], 2), ([{"device": "*", "kind": "*", "name": "*", "reason": "carol comes later", "until": "2026-12-31"}], 0)],
)
def test_drift_ends_with_the_code_of_its_verdict(looks: Looks, rules: Any, code: int) -> None:
    view = drift_view(*planned(looks), rules, "2026-11-21")
    assert list(view.files) == ["drift.json", "drift.md", "junit.xml"]
    assert view.exit_code == json.loads(view.files["drift.json"])["exit_code"] == code
    assert drift_view(*planned(looks, VPODS), [], "2026-11-21").exit_code == 0


def test_what_could_not_be_looked_at_is_no_same(looks: Looks) -> None:
    looks["p-poplar1"].update(outcome="timed out", message="No route to host", parts={})
    assert drift_view(*planned(looks, VPODS), [], "2026-11-21").exit_code == 1


def test_a_port_that_somebody_has_shut_is_in_every_view(pod_in_service: PodInMemory) -> None:
    switch = pod_in_service.switch.switch
    switch.configure("interface Ethernet25/1", "shutdown")
    looks = {**pod_in_service.looks(), "p-tor": {**pod_in_service.looks()["p-tor"], **pod_in_service.switch.look()}}
    switch.configure("interface Ethernet25/1", "no shutdown")
    document, compared = planned(looks, VPODS)
    (found,) = document["findings"]
    assert (found["device"], found["name"], found["affected"]["vpods"]) == ("p-tor", "Ethernet25/1", ["alice"])
    plan = plan_view(document, DECLARATION, LIE[CONTROLLER])
    drift = drift_view(document, compared, [], "2026-11-21")
    stand = vpods_view(document, DECLARATION, None)
    assert (drift.exit_code, plan.lines[-1]) == (2, "Nothing to do. 1 finding.")
    assert stand.lines[1].split() == ["alice", "done", "not", "working", *["done"] * 4]
    texts = (*map("\n".join, (plan.lines, drift.lines, stand.lines)), *plan.files.values(), *drift.files.values())
    for text in texts:
        assert "port Ethernet25/1 (vpod alice) is shut down" in text.replace("\\", "")


def test_a_rule_that_is_none_is_refused(looks: Looks) -> None:
    with pytest.raises(Refused, match="drift_ignore"):
        drift_view(*planned(looks), [{"device": "*"}], "2026-11-21")


def test_where_vpods_stand_can_be_about_some_of_them(looks: Looks) -> None:
    document, _compared = planned(looks)
    everybody = vpods_view(document, declared(WITH_CAROL), None).lines
    assert [line.split()[0] for line in everybody] == ["vPOD", "alice", "bob", "carol"]
    assert "not yet" in everybody[3]
    assert "not yet" not in everybody[1] + everybody[2]
    assert [line.split()[0] for line in vpods_view(document, declared(WITH_CAROL), ["bob"]).lines] == ["vPOD", "bob"]


def test_capacity_is_what_the_controllers_have_left(looks: Looks) -> None:
    assert allocations_of(DECLARATION, looks) == LIE
    lines = capacity_view(DECLARATION, LIE, 32, "").lines
    assert any("p-ipum9..16" in line for line in lines)
    with pytest.raises(DeclarationError, match="'x' is no declared cluster"):
        capacity_view(DECLARATION, LIE, 32, "x")


@pytest.mark.parametrize(
    ("look", "beginning"),
    [
        ({"outcome": "timed out", "message": "No route to host", "parts": {}}, "ctrl: No route to host"),
        (
            {"parts": {"controllers": {"": {"storage": True, "message": "nobody listens"}}}},
            "nobody listens; start vipu-server on ctrl, or correct the controller in pods.yml",
        ),
        ({"parts": {"controllers": {"message": "no vipu-admin"}}}, "no vipu-admin; start vipu-server on ctrl, or"),
    ],
)
def test_of_a_controller_that_does_not_say_it_nothing_is_made_up(looks: Looks, look: Any, beginning: str) -> None:
    looks[CONTROLLER].update(look)
    with pytest.raises(Refused) as refused:
        allocations_of(DECLARATION, looks)
    assert str(refused.value).startswith(beginning)
    # Who was not asked is not missed here.
    del looks[CONTROLLER]
    assert allocations_of(DECLARATION, looks) == {}


def test_a_controller_that_is_yet_to_be_made_holds_nothing(looks: Looks) -> None:
    looks[CONTROLLER]["parts"]["controllers"] = {"": {"storage": False, "message": "nobody listens"}}
    assert allocations_of(DECLARATION, looks) == {CONTROLLER: {}}


def test_the_summary_counts_what_is_there_and_what_was_verified(looks: Looks) -> None:
    looks[CONTROLLER]["parts"]["controllers"][""]["agents"]["p-ipum9"]["status"] = "Down"
    vlans = looks["p-tor"]["parts"]["gathered"]["vlans"]
    vlans[:] = [vlan for vlan in vlans if vlan["vlan_id"] != 102]
    decision = decided(looks)
    assert decision.tenancy is not None
    wanted = {**decision.tenancy.wanted, "degraded": ["p-ipum9 is excluded"]}
    done = {("verification", "p-poplar1"), ("verification", "p-poplar2"), ("servers", "p-poplar3")}
    lines = summary_view(DECLARATION, looks, wanted, done).lines
    assert list(lines) == [
        "IPU-Machines  15 of 16 agents up, V-IPU 1.18.0",
        "Cluster       c: 16 IPU-Machines, 64 IPUs, mesh",
        "Allocation    alice: 16 IPUs of c",
        "Allocation    bob: 8 IPUs of c",
        "Partition     train: 8 IPUs of alice, ACTIVE",
        "VLANs         p-tor: 101 vpod-alice, 999 quarantine",
        "Degraded      p-ipum9 is excluded",
        "Checked       2 Poplar servers, 6 ways to their IPU-Machines, with packets of the full MTU and not one byte "
        "more",
    ]
    silent = summary_view(DECLARATION, {}, wanted, set()).lines
    assert silent == ["Degraded      p-ipum9 is excluded", "Checked       nothing: no Poplar server has sent packets"]


def cabled(*swapped: int) -> PodInMemory:
    """A pod whose devices speak LLDP at their ports, but for some of which the cables are swapped."""
    there = pod()
    ports = {f"p-ipum{n}": n + 8 for n in range(1, 17)} | {f"p-poplar{n}": 23 + 2 * n for n in (1, 2, 3)}
    if swapped:
        first, second = (f"p-ipum{n}" for n in swapped)
        ports[first], ports[second] = ports[second], ports[first]
    there.switch.switch.observe(
        neighbours={
            f"Ethernet{port}/1": {"device": name, "port": "eth0", "mac": f"04:3f:72:00:00:{port:02x}"}
            for name, port in ports.items()
        }
    )
    return there


def test_cables_are_as_declared_or_the_run_says_which_are_not() -> None:
    right = cabling_view(DECLARATION, cabled().looks())
    assert right.exit_code == 0
    assert right.lines[0] == "p-tor"
    wrong = cabling_view(DECLARATION, cabled(3, 4).looks())
    assert wrong.exit_code == 2
    assert wrong.lines[-1] == (
        "Ethernet11/1 has p-ipum4, but pods.yml says p-ipum3; Ethernet12/1 has p-ipum3, but pods.yml says p-ipum4; "
        "move the cables, or correct switch_port in pods.yml."
    )


def test_where_nothing_is_seen_the_remedy_is_named(looks: Looks) -> None:
    view = cabling_view(DECLARATION, looks)
    assert view.lines[-1].startswith("Nothing was seen at Ethernet9/1, ")
    assert view.exit_code == 0


def test_cables_of_a_switch_that_does_not_answer_are_not_known(looks: Looks) -> None:
    looks["p-tor"].update(outcome="timed out", message="No route to host", parts={})
    with pytest.raises(Refused, match="p-tor: No route to host"):
        cabling_view(DECLARATION, looks)
    del looks["p-tor"]
    assert cabling_view(DECLARATION, looks).lines == []


def said_by_devices(document: dict[str, Any], text: str) -> dict[str, Any]:
    """The same document, with this text wherever a device, a tenant or a file may have said it."""
    fields = {"name": text, "reason": text, "from": {text: text, "lines": [text]}, "to": {text: [text], "lines": []}}
    affected = {"vpods": [text], "partitions": [text]}
    finding = {"device": "p-tor", "layer": "switch", "kind": "port", "name": text, "finding": text, "remedy": text}
    return {
        **document,
        "steps": [{**step, **fields, "affected": affected} for step in document["steps"]],
        "unseen": [{"device": "p-poplar3", "message": text}],
        "findings": [{**finding, "affected": affected}],
        "not_ours": [{"device": "ctrl", "kind": "partition", "name": text, "owner": text}],
    }


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_breaks_no_view_and_steers_nobody_who_reads_it(looks: Looks, text: str) -> None:
    document, compared = planned(looks)
    harmless, hostile = (said_by_devices(document, each) for each in ("harmless", text))
    views, others = (
        [plan_view(each, DECLARATION, LIE[CONTROLLER]), drift_view(each, compared, [], "2026-11-21")]
        for each in (hostile, harmless)
    )
    files, usual = ({**views[0].files, **views[1].files} for views in (views, others))
    for lines in (views[0].lines, views[1].lines, *(file.split("\n") for file in files.values())):
        assert list(filter(is_seen, lines)) == list(lines)
    assert json.loads(files["plan.json"]) == hostile
    assert json.loads(files["drift.json"])["unseen"] == hostile["unseen"]
    for name in ("plan.md", "drift.md"):
        rows, usual_rows = ([cells(line) for line in file[name].splitlines()] for file in (files, usual))
        assert rows == usual_rows
        assert "<script" not in files[name]
    page = [tag for tag, _attributes in Page(files["plan.html"]).elements]
    assert page == [tag for tag, _attributes in Page(usual["plan.html"]).elements]
    suites = [[each.tag for each in ElementTree.fromstring(file["junit.xml"]).iter()] for file in (files, usual)]
    assert suites[0] == suites[1]


def cells(line: str) -> tuple[str, int]:
    """What begins a line in Markdown, and how many cells it has."""
    return line[:1], line.replace("\\\\", "").replace("\\|", "").count("|")
