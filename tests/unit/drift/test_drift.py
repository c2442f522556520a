# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift: what counts, what is ignored and until when, and the reports of it."""

from __future__ import annotations

from datetime import date
from typing import Any
from xml.etree import ElementTree

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._drift.drift import drift_markdown, drift_report, drift_table
from ansible_collections.ipu.pod.plugins.plugin_utils._drift.ignore_rules import parse_rules
from ansible_collections.ipu.pod.plugins.plugin_utils._drift.junit import junit_of
from tests.support.reviewed_pod import HOSTILE, finding, plan, step

TODAY = "2026-11-21"
LOOKED_AT = {"pod001-tor": {"port": ["Et1", "Et2"], "vlan": ["101"]}, "pod001-poplar1": {"interface": ["rnic0"]}}
PORT = step(1, "pod001-tor", "port", "Et1")
NIC = step(2, "pod001-poplar1", "interface", "rnic0")
RULE = {"device": "*-tor", "kind": "port", "name": "Et?", "reason": "cable on order", "until": "2026-12-31"}
SHUT = finding("pod001-tor", "port", "Et2")
UNSEEN = [{"device": "pod001-poplar2", "message": "does not answer"}]


def report(*steps: dict[str, Any], rules: Any = (), **fields: Any) -> dict[str, Any]:
    return drift_report(plan(*steps, **fields), LOOKED_AT, parse_rules(list(rules)), TODAY)


@pytest.mark.parametrize(
    ("found", "verdict", "code"),
    [
        (report(), "same", 0),
        (report(PORT), "drift", 2),
        (report(PORT, rules=[RULE]), "same", 0),
        (report(PORT, NIC, rules=[RULE]), "drift", 2),
        (report(findings=[SHUT]), "drift", 2),
        (report(findings=[SHUT], rules=[RULE]), "same", 0),
        (report(findings=[SHUT], unseen=UNSEEN), "could not look", 1),
        (report(unseen=UNSEEN), "could not look", 1),
        (report(PORT, unseen=UNSEEN), "could not look", 1),
    ],
)
def test_the_verdict_is_the_exit_code(found: dict[str, Any], verdict: str, code: int) -> None:
    assert (found["verdict"], found["exit_code"]) == (verdict, code)


def test_what_is_ignored_keeps_its_reason_and_its_last_day() -> None:
    found = report(PORT, NIC, rules=[RULE])
    assert [each["name"] for each in found["steps"]] == ["rnic0"]
    assert [(each["name"], each["ignored_because"], each["until"]) for each in found["ignored"]] == [
        ("Et1", "cable on order", "2026-12-31")
    ]
    assert [rule["state"] for rule in found["rules"]] == ["used"]


@pytest.mark.parametrize(("until", "counts"), [("2026-11-20", 1), ("2026-11-21", 0), (date(2026, 11, 20), 1)])
def test_a_rule_ignores_up_to_its_last_day(until: Any, counts: int) -> None:
    found = report(PORT, rules=[{**RULE, "until": until}])
    assert len(found["steps"]) == counts
    assert [rule["state"] for rule in found["rules"]] == ["expired" if counts else "used"]


@pytest.mark.parametrize("other", [{"device": "pod002-*"}, {"kind": "vlan"}, {"name": "et1"}])
def test_a_rule_that_matches_nothing_is_reported(other: dict[str, str]) -> None:
    found = report(PORT, rules=[{**RULE, **other}])
    assert ([len(found["steps"])], [rule["state"] for rule in found["rules"]]) == ([1], ["unused"])
    assert "matches no drift; remove it" in " ".join(drift_table(found))


def test_two_rules_for_one_thing_are_both_used() -> None:
    found = report(PORT, rules=[RULE, {"kind": "port", "reason": "all ports", "until": "2027-01-01"}])
    assert [rule["state"] for rule in found["rules"]] == ["used", "used"]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({}, "drift_ignore is not a list"),
        ([1], r"drift_ignore\[0\] is not a mapping"),
        ([{**RULE, "host": "x"}], r"drift_ignore\[0\].host is not a known key; known are device, kind"),
        ([RULE, {"kind": "port", "until": "2027-01-01"}], r"drift_ignore\[1\].reason is missing"),
        ([{"kind": "port", "reason": "x"}], r"drift_ignore\[0\].until is missing"),
        ([{"reason": "x", "until": "2027-01-01"}], r"drift_ignore\[0\] would ignore everything"),
        ([{**RULE, "until": "soon"}], r"drift_ignore\[0\].until: 'soon' is not a day such as 2026-12-31"),
        ([{**RULE, "until": "20261231"}], "is not a day such as"),
    ],
)
def test_bad_rules_are_refused(rules: Any, said: str) -> None:
    with pytest.raises(Refused, match=said):
        parse_rules(rules)


def test_everything_wrong_with_the_rules_is_said_at_once() -> None:
    with pytest.raises(Refused, match=r"\[0\].*; drift_ignore\[1\]"):
        parse_rules([1, 2])


def test_the_table_tells_all_of_it_within_100_columns() -> None:
    not_ours = [{"device": "ctrl001", "kind": "partition", "name": "p4711", "owner": "named as Slurm names it " * 5}]
    rules = [RULE, {**RULE, "name": "Et9", "until": "2026-01-01"}]
    lines = drift_table(report(PORT, NIC, rules=rules, unseen=UNSEEN, not_ours=not_ours))
    text = "\n".join(lines)
    assert max(map(len, lines)) <= 100
    for said in (
        "rnic0",
        "pod001-poplar2",
        "cable on order",
        "expired on 2026-01-01",
        "not ours: ctrl001 partition p4711",
    ):
        assert said in text
    assert lines[-1] == (
        "4 things on 2 devices looked at: 1 not as declared, 1 ignored; 1 device could not be looked at."
    )


def test_what_no_step_puts_right_is_drift_in_every_form() -> None:
    found = report(PORT, findings=[SHUT], not_ours=[])
    assert ([each["name"] for each in found["steps"]], found["findings"]) == (["Et1"], [SHUT])
    lines = drift_table(found)
    assert "pod001-tor: port Et2 does not work; mend it" in lines
    assert lines[-1] == "4 things on 2 devices looked at: 2 not as declared."
    assert "| pod001-tor | port Et2 does not work | mend it |" in drift_markdown(found)
    suites = ElementTree.fromstring(junit_of(found))
    failures = {case.get("name"): case[0].get("message") for case in suites.iter("testcase") if len(case)}
    assert failures["Et2"] == "port Et2 does not work; mend it"


def test_a_finding_that_its_owner_knows_of_is_shown_as_ignored() -> None:
    found = report(findings=[SHUT], rules=[RULE])
    assert (found["findings"], [each["name"] for each in found["ignored"]]) == ([], ["Et2"])
    shown = "ignored: pod001-tor port Et2 (port Et2 does not work), until 2026-12-31: cable on order"
    assert shown in " ".join(drift_table(found))
    assert "**Et2**: port Et2 does not work. Until 2026-12-31: cable on order" in drift_markdown(found)
    suites = ElementTree.fromstring(junit_of(found))
    skipped = {case.get("name"): case[0].get("message") for case in suites.iter("testcase") if len(case)}
    assert skipped == {"Et2": "cable on order (until 2026-12-31)"}


def test_the_markdown_tells_drift_and_what_is_ignored() -> None:
    text = drift_markdown(report(PORT, NIC, rules=[RULE]))
    assert text.startswith("## Drift of pod001\n")
    assert "**rnic0**" in text
    assert "cable on order" in text


def test_junit_has_a_case_for_every_thing() -> None:
    hostile = step(3, "pod001-tor", "vlan", "101", reason=f"name is {HOSTILE}\x07", **{"from": {"name": HOSTILE}})
    suites = ElementTree.fromstring(junit_of(report(PORT, NIC, hostile, rules=[RULE], unseen=UNSEEN)))
    assert {suite.get("name"): dict(suite.attrib, name="", timestamp="") for suite in suites} == {
        name: {"name": "", "timestamp": "", "tests": t, "failures": f, "errors": e, "skipped": s}
        for name, t, f, e, s in (
            ("pod001-tor", "3", "1", "0", "1"),
            ("pod001-poplar1", "1", "1", "0", "0"),
            ("pod001-poplar2", "1", "0", "1", "0"),
        )
    }
    failures = {case.get("name"): case[0].get("message") for case in suites.iter("testcase") if len(case)}
    assert failures == {
        "Et1": "cable on order (until 2026-12-31)",
        "101": f"update: name is {HOSTILE}?",
        "rnic0": "update: vlan is 1, wanted 101",
        "could be looked at": "does not answer",
    }
    assert next(case.get("classname") for case in suites.iter("testcase")) == "pod001-tor.port"
