# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of cells as the lines of a table. Pure."""

from __future__ import annotations

from typing import Sequence

from .line import printable

# Wider cells would push the others out of sight.
WIDEST = 250
Rows = Sequence[Sequence[str]]


def aligned(rows: Rows) -> list[str]:
    """For a terminal: each column is as wide as its widest cell."""
    rows = [[printable(cell, WIDEST) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def markdown_table(headings: Sequence[str], rows: Rows) -> list[str]:
    """For Markdown, which has to be escaped in the cells."""
    return [f"| {' | '.join(row)} |" for row in (headings, ["---"] * len(headings), *rows)]
