# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan in the terminal."""

from __future__ import annotations

from ansible_collections.ipu.pod.plugins.plugin_utils._reports.table import table_of
from tests.support.reviewed_pod import finding, plan, step


def test_an_empty_plan_says_so() -> None:
    assert table_of(plan()) == ["Nothing to do."]


def test_steps_stand_below_their_devices_and_the_last_line_sums_up() -> None:
    affected = {"vpods": ["alice"], "partitions": ["train"]}
    port = step(1, "pod001-tor", "port", "Ethernet9/1", risk="disruptive", affected=affected)
    file = step(
        2,
        "pod001-poplar1",
        "file",
        "/etc/x",
        reason="content differs",
        **{"from": {"lines": ["a"]}, "to": {"lines": []}},
    )
    assert table_of(plan(port, file)) == [
        "pod001-tor",
        "   1 ▲ update port Ethernet9/1 [disruptive]",
        "       vlan is 1, wanted 101 (affects alice)",
        "pod001-poplar1",
        "   2 ● update file /etc/x",
        "       1 line to go, 0 lines to come",
        "       content differs",
        "2 steps on 2 devices: 1 disruptive; affects vPOD alice.",
    ]


def test_findings_are_shown_with_the_remedy_and_whom_they_affect() -> None:
    affected = {"vpods": ["alice", "bob"], "partitions": []}
    shut, down = finding("pod001-tor", "port", "Et1", affected=affected), finding("ctrl001", "agent", "ipum2")
    assert table_of(plan(findings=[shut, down])) == [
        "pod001-tor: port Et1 does not work; mend it (affects alice, bob)",
        "ctrl001: agent ipum2 does not work; mend it",
        "Nothing to do. 2 findings.",
    ]


def test_nothing_is_longer_than_100_columns() -> None:
    long = "x-" * 150
    fields = {"from": {"description": long, "new": None}, "to": {"description": "", "new": long}}
    unseen = [{"device": "pod001-poplar2", "message": "does not answer " * 20}]
    findings = [finding("pod001-tor", "port", "Et1", remedy=long)]
    port = step(1, "pod001-tor", "port", "Ethernet9/1", reason="differs", **fields)
    lines = table_of(plan(port, unseen=unseen, findings=findings))
    assert max(map(len, lines)) <= 100
