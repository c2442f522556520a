# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as Markdown, for a comment on a merge request. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .wording import NOT_THERE, SHAPE_OF_RISK, affected_text, counted, differences_of, made_text, summary_of, title_of

# Longer tables are folded in, and longer texts cut short, so that a comment stays readable.
ROWS_SHOWN = 20
LINES_SHOWN = 8
# What would mean something to Markdown itself, to tables or to formulas. A comment keeps "@" from calling people.
ESCAPED = {**{sign: f"\\{sign}" for sign in "\\`*_{}[]()#+!|~$"}, "@": "@<!-- -->"}


def markdown_of(document: Mapping[str, Any], summary: str | None = None) -> str:
    """The document as Markdown: summary first, then the steps, then what else is known.

    Args:
        document: a plan document, or another one that has its keys.
        summary: in place of that of a plan.
    """
    steps = document["steps"]
    parts = [
        f"## {text_of(title_of(document))}",
        f"**{text_of(summary_of(document) if summary is None else summary)}**",
        text_of(made_text(document)),
    ]
    if steps:
        columns = ("Step", "Device", "What", "From → to", "Why", "Risk", "Affects")
        parts.append(_table("Steps", columns, [_step(step) for step in steps]))
    parts += [
        _list(document, "unseen", "Could not be looked at", ("device", "message")),
        _list(document, "findings", "Findings", ("device", "finding", "remedy")),
        _list(document, "not_ours", "Not ours, left alone", ("device", "kind", "name", "owner")),
        f"<sub>{text_of(document['fingerprint'])}</sub>",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def text_of(text: str) -> str:
    """A text that Markdown shows as it is, also in the cell of a table."""
    shown = escape(text, quote=False)
    return "<br>".join("".join(ESCAPED.get(sign, sign) for sign in line) for line in shown.splitlines())


def _step(step: Mapping[str, Any]) -> list[str]:
    what = f"{text_of(step['action'])} {text_of(step['kind'])} **{text_of(step['name'])}**"
    risk = f"{SHAPE_OF_RISK[step['risk']]} {step['risk']}"
    device = f"{text_of(step['device'])} ({text_of(step['layer'])})"
    reason, affected = text_of(step["reason"]), text_of(affected_text(step))
    return [str(step["number"]), device, what, _differences(step), reason, risk, affected]


def _differences(step: Mapping[str, Any]) -> str:
    parts = [f"{NOT_THERE} → made"] if step["from"] is None else []
    parts += ["there → removed"] if step["to"] is None else []
    for difference in differences_of(step):
        if difference.lines:
            rest = len(difference.lines) - LINES_SHOWN
            parts += map(text_of, difference.lines[:LINES_SHOWN])
            parts += [f"and {counted(rest, 'line')} more"] if rest > 0 else []
        else:
            values = [value for value in (difference.before, difference.after) if value is not None]
            parts.append(f"{text_of(difference.field)}: {' → '.join(map(text_of, values))}")
    return "<br>".join(parts)


def _list(document: Mapping[str, Any], key: str, heading: str, fields: Sequence[str]) -> str:
    rows = [[text_of(str(thing.get(field, ""))) for field in fields] for thing in document.get(key, ())]
    return _table(heading, [field.capitalize() for field in fields], rows) if rows else ""


def _table(heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [_line(columns), _line(["---"] * len(columns)), *map(_line, rows)]
    told = f"{heading} ({len(rows)})"
    if len(rows) <= ROWS_SHOWN:
        return "\n".join([f"### {told}", "", *lines])
    return "\n".join([f"<details><summary>{told}</summary>", "", *lines, "", "</details>"])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
