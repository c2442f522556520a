# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan in a comment: every step is a row of its own, whatever stands in it."""

from __future__ import annotations

from ansible_collections.ipu.pod.plugins.plugin_utils._reports.markdown import markdown_of, text_of
from tests.support.reviewed_pod import HOSTILE, plan, step


def rows(markdown: str) -> list[str]:
    return [line for line in markdown.splitlines() if line.startswith("| ") and line[2].isdigit()]


def cells(row: str) -> int:
    return row.replace("\\|", "").count("|") - 1


def test_the_summary_comes_first() -> None:
    lines = markdown_of(plan(step(1, "pod001-tor", "port", "Ethernet9/1"))).splitlines()
    assert lines[:3] == ["## Plan for pod001", "", "**1 step on 1 device.**"]


def test_every_step_is_a_row() -> None:
    found = rows(markdown_of(plan(*(step(number, "pod001-tor", "vlan", str(number)) for number in range(1, 6)))))
    assert (
        found[2]
        == "| 3 | pod001-tor (switch) | update vlan **3** | vlan: 1 → 101 | vlan is 1, wanted 101 | ● none |  |"
    )
    assert len(found) == 5


def test_a_hostile_step_is_still_one_row_of_seven_cells() -> None:
    text = f"{HOSTILE}\n\n# a heading\n/close"
    fields = {
        "reason": text,
        "from": {text: text},
        "to": {"lines": [text]},
        "affected": {"vpods": [text], "partitions": []},
    }
    markdown = markdown_of(plan(step(1, text, text, text, **fields)))
    (row,) = rows(markdown)
    assert cells(row) == 7
    assert "<script" not in markdown
    assert not [line for line in markdown.splitlines() if line.startswith("/close")]
    assert "@all" not in markdown


def test_a_long_list_is_folded_in() -> None:
    steps = [step(number, "pod001-tor", "vlan", str(number)) for number in range(1, 31)]
    markdown = markdown_of(plan(*steps))
    assert "<details><summary>Steps (30)</summary>\n\n| Step |" in markdown
    assert "<details>" not in markdown_of(plan(*steps[:20]))


def test_a_long_text_is_cut_short() -> None:
    lines = [f"line {number}" for number in range(1, 31)]
    markdown = markdown_of(plan(step(1, "pod001-poplar1", "file", "/etc/x", **{"from": None, "to": {"lines": lines}})))
    assert "\\+line 8<br>and 22 lines more |" in markdown


def test_nothing_to_do_says_so() -> None:
    assert "**Nothing to do.**" in markdown_of(plan())


def test_what_else_is_known_is_listed() -> None:
    markdown = markdown_of(
        plan(
            unseen=[{"device": "pod001-poplar2", "message": "no route"}],
            not_ours=[{"device": "ctrl001", "kind": "partition", "name": "p4711", "owner": "Slurm"}],
            findings=[{"device": "pod001-tor", "finding": "an orphan", "remedy": "remove it"}],
        )
    )
    for line in (
        "| pod001-poplar2 | no route |",
        "| ctrl001 | partition | p4711 | Slurm |",
        "| pod001-tor | an orphan | remove it |",
    ):
        assert line in markdown.splitlines()


def test_text_is_shown_as_it_is() -> None:
    assert text_of("a|b_c *d*\n<e>") == "a\\|b\\_c \\*d\\*<br>&lt;e&gt;"
