# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of a plan: the summary counts rightly, and differences are shown field by field."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._reports.wording import (
    Difference,
    affected_text,
    differences_of,
    finding_text,
    spelled,
    summary_of,
    title_of,
    worst_risk,
)
from tests.support.hostile import HOSTILE, is_seen
from tests.support.reviewed_pod import plan, step


def test_the_summary_counts_steps_devices_risks_and_tenants() -> None:
    alice, both = ({"vpods": vpods, "partitions": []} for vpods in (["alice"], ["bob", "alice"]))
    steps = [
        step(1, "pod001-tor", "vlan", "101"),
        step(2, "pod001-tor", "port", "Ethernet9/1", risk="disruptive", affected=alice),
        step(3, "ctrl001", "partition", "p", risk="tenant outage", affected=both),
    ]
    summary = "3 steps on 2 devices: 1 disruptive, 1 tenant outage; affects vPODs alice, bob."
    unseen = [{"device": "pod001-poplar1", "message": "no route"}]
    assert summary_of(plan(*steps)) == summary
    assert summary_of(plan(*steps, unseen=unseen)) == f"{summary} 1 device could not be looked at."


def test_nothing_to_do_is_reported_beside_what_was_not_seen() -> None:
    assert summary_of(plan()) == "Nothing to do."
    unseen = [{"device": "a", "message": "b"}, {"device": "c", "message": "d"}, {"device": "c", "message": "e"}]
    assert summary_of(plan(unseen=unseen)) == (
        "Nothing to do on the devices that answered. 2 devices could not be looked at."
    )


def test_the_title_names_few_pods_and_counts_many() -> None:
    assert title_of(plan(pods=["a", "b"])) == "Plan for a, b"
    assert title_of(plan(pods=list("abcd"))) == "Plan for 4 pods"


def test_the_worst_risk_wins() -> None:
    for risks, worst in (
        (["none", "disruptive"], "disruptive"),
        (["tenant outage", "destructive"], "tenant outage"),
    ):
        assert worst_risk([step(1, "d", "k", "n", risk=risk) for risk in risks]) == worst
    assert worst_risk([]) == "none"


@pytest.mark.parametrize(
    ("before", "after", "differences"),
    [
        ({"vlan": 1}, {"vlan": 101}, [Difference("vlan", "1", "101")]),
        (None, {"name": "a", "vni": None}, [Difference("name", None, "a")]),
        ({"name": "a"}, None, [Difference("name", "a", None)]),
        ({"lines": ["a"]}, {"lines": ["b", "c"]}, [Difference("lines", "a", "b, c", ("-a", "+b", "+c"))]),
        ({}, {}, []),
    ],
)
def test_differences_are_shown_by_field(before: Any, after: Any, differences: list[Difference]) -> None:
    assert differences_of(step(1, "d", "k", "n", **{"from": before, "to": after})) == differences


@pytest.mark.parametrize(
    ("value", "text"), [("a", "a"), ("", '""'), (9000, "9000"), (True, "true"), (["a", "b"], "a, b"), ([], "[]")]
)
def test_values_are_spelled_for_people(value: Any, text: str) -> None:
    assert spelled(value) == text


def test_who_is_affected_is_one_line() -> None:
    affected = {"vpods": ["alice"], "partitions": ["train", "serve"]}
    assert affected_text({"affected": affected}) == "vPOD alice; partitions train, serve"
    assert affected_text({"affected": {"vpods": [], "partitions": []}}) == ""


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_finding_is_one_line_whatever_it_is_about(text: str) -> None:
    assert is_seen(finding_text({"device": "pod001-tor", "finding": text, "remedy": text}))
