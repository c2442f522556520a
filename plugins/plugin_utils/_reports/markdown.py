# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as Markdown, for a comment on a merge request. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._text.table import markdown_table

from .._templates.render import render
from . import wording

# Longer texts are cut short, so that a comment stays readable.
LINES_SHOWN = 8
COLUMNS: Sequence[str] = ("Step", "Device", "What", "From → to", "Why", "Risk", "Affects")
# What is known beside the steps: key in the document to heading and fields.
LISTS = {
    "unseen": ("Could not be looked at", ("device", "message")),
    "findings": ("Findings", ("device", "finding", "remedy")),
    "not_ours": ("Not ours, left alone", ("device", "kind", "name", "owner")),
}
# What would mean something to Markdown itself, to tables or to formulas. A comment keeps "@" from calling people.
ESCAPED = {**{sign: f"\\{sign}" for sign in "\\`*_{}[]()#+!|~$"}, "@": "@<!-- -->"}


def markdown_of(
    document: Mapping[str, Any],
    summary: str = "",
    ignored: Sequence[Mapping[str, str]] = (),
    rules: Sequence[str] = (),
) -> str:
    """The document as Markdown: summary first, then the steps, then what else is known.

    Args:
        document: a plan document, or another one that has its keys.
        summary: in place of that of a plan.
        ignored: steps that do not count, each with ``ignored_because`` and ``until``.
        rules: sentences about rules that ignore nothing.
    """
    sections = [("Steps", COLUMNS, [_step(step) for step in document["steps"]])]
    for key, (heading, fields) in LISTS.items():
        rows = [[text_of(str(thing.get(field, ""))) for field in fields] for thing in document.get(key, ())]
        sections.append((heading, tuple(map(str.capitalize, fields)), rows))
    return render(
        "plan.md",
        text=text_of,
        table=markdown_table,
        wording=wording,
        document=document,
        summary=summary or wording.summary_of(document),
        sections=sections,
        ignored=ignored,
        rules=rules,
    )


def text_of(text: str) -> str:
    """A text that Markdown shows as it is, also in the cell of a table."""
    shown = escape(text, quote=False)
    return "<br>".join("".join(ESCAPED.get(sign, sign) for sign in line) for line in shown.splitlines())


def _step(step: Mapping[str, Any]) -> list[str]:
    what = f"{text_of(step['action'])} {text_of(step['kind'])} **{text_of(step['name'])}**"
    risk = f"{wording.SHAPE_OF_RISK[step['risk']]} {step['risk']}"
    device = f"{text_of(step['device'])} ({text_of(step['layer'])})"
    reason, affected = text_of(step["reason"]), text_of(wording.affected_text(step))
    return [str(step["number"]), device, what, _differences(step), reason, risk, affected]


def _differences(step: Mapping[str, Any]) -> str:
    parts = [f"{wording.NOT_THERE} → made"] if step["from"] is None else []
    parts += ["there → removed"] if step["to"] is None else []
    for difference in wording.differences_of(step):
        if difference.lines:
            rest = len(difference.lines) - LINES_SHOWN
            parts += map(text_of, difference.lines[:LINES_SHOWN])
            parts += [f"and {wording.counted(rest, 'line')} more"] if rest > 0 else []
        else:
            values = [value for value in (difference.before, difference.after) if value is not None]
            parts.append(f"{text_of(difference.field)}: {' → '.join(map(text_of, values))}")
    return "<br>".join(parts)
