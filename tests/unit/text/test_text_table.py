# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables for a terminal and for Markdown."""

from __future__ import annotations

from ansible_collections.ipu.pod.plugins.module_utils._text.table import aligned, markdown_table

ROWS = [("a", "", "1"), ("bcd", "ef", "")]


def test_columns_are_as_wide_as_their_widest_cell_and_no_line_ends_in_spaces() -> None:
    assert aligned([("PORT", "X", "N"), *ROWS]) == ["PORT  X   N", "a         1", "bcd   ef"]
    assert aligned([]) == []


def test_in_markdown_every_row_has_every_cell() -> None:
    lines = ["| h | i | j |", "| --- | --- | --- |", "| a |  | 1 |", "| bcd | ef |  |"]
    assert markdown_table(("h", "i", "j"), ROWS) == lines
