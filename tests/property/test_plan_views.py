# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever stands in a plan: its page and its Markdown keep their shape, and every step is on them."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.plugin_utils._plan_page.page import page_of
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.markdown import markdown_of
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.wording import RISKS
from tests.support.html_page import Page
from tests.support.reviewed_pod import HOSTILE, plan, rack, step

RACK = rack()
SIGNS = st.sampled_from([*"<>&\"'|\\`*_[]()#@\n\r-", "</pre>", "--", "]]>", HOSTILE, "\u2028", "é"])
TEXTS = st.lists(SIGNS | st.characters(codec="utf-8"), max_size=8).map("".join)
FIELDS = st.none() | st.dictionaries(TEXTS, TEXTS | st.integers() | st.lists(TEXTS, max_size=2) | st.none(), max_size=3)
LINES = st.fixed_dictionaries({"lines": st.lists(TEXTS, max_size=20)})


@st.composite
def steps(draw: st.DrawFn) -> list[dict[str, Any]]:
    return [
        step(
            number,
            draw(st.sampled_from(["pod001-tor", "pod001-ipum1"]) | TEXTS),
            draw(st.sampled_from(["port", "agent"]) | TEXTS),
            draw(st.sampled_from(["Ethernet9/1", "pod001-ipum1"]) | TEXTS),
            **{"from": draw(FIELDS | LINES), "to": draw(FIELDS | LINES), "reason": draw(TEXTS)},
            risk=draw(st.sampled_from(RISKS)),
            affected={"vpods": draw(st.lists(TEXTS, max_size=2)), "partitions": []},
        )
        for number in range(1, draw(st.integers(1, 4)) + 1)
    ]


@given(steps(), TEXTS)
def test_the_page_has_its_own_elements_only(found: list[dict[str, Any]], text: str) -> None:
    shown = Page(page_of(plan(*found, by=text, unseen=[{"device": text, "message": text}]), RACK))
    assert [row["id"] for row in shown.all("tr") if "id" in row] == [f"step-{each['number']}" for each in found]
    assert len(shown.all("script")) == 1
    assert len(shown.all("svg")) == 1


@given(steps(), TEXTS)
def test_the_markdown_has_one_row_of_seven_cells_for_each_step(found: list[dict[str, Any]], text: str) -> None:
    markdown = markdown_of(plan(*found, by=text))
    # A carriage return ends a line of Markdown, too.
    rows = [line for line in re.split(r"\r\n?|\n", markdown) if re.match(r"\| \d+ \|", line)]
    assert [len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows] == [8] * len(found)
    assert re.findall(r"<(?!br>|!-- -->|/?sub>)", markdown) == []
