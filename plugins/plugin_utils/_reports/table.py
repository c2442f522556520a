# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan in the terminal: steps below their devices, with risk, what differs, why and who is affected. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from .wording import NOT_THERE, SHAPE_OF_RISK, Difference, counted, differences_of, finding_text, summary_of

WIDTH = 100
INDENT = " " * 7
# Longer ones stand in the saved plan.
VALUE, REASON = 36, 250

Step = Mapping[str, Any]


def table_of(document: Mapping[str, Any]) -> list[str]:
    """The lines, none of them longer than 100 columns; the last one sums up."""
    unseen = [f"{each['device']}: could not be looked at: {each['message']}" for each in document["unseen"]]
    return [
        *steps_of(document["steps"]),
        *finding_lines(document["findings"]),
        *(line for text in unseen for line in wrapped(text, "", "  ")),
        *wrapped(summary_of(document)),
    ]


def steps_of(steps: Sequence[Step]) -> list[str]:
    """The lines of the steps, below their devices."""
    lines: list[str] = []
    for device, there in groupby(steps, key=lambda step: step["device"]):
        lines += [str(device), *(line for step in there for line in _step(step))]
    return lines


def finding_lines(findings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The lines of the findings, each with whom it concerns."""
    return [line for each in findings for line in wrapped(finding_text(each) + _concerned(each), "", "  ")]


def _concerned(thing: Mapping[str, Any]) -> str:
    affected = ", ".join(thing["affected"]["vpods"])
    return f" (affects {affected})" if affected else ""


def _step(step: Step) -> list[str]:
    """Number, risk and what; then the fields; then the reason with who is affected."""
    head = f"{step['number']:>4} {SHAPE_OF_RISK[step['risk']]} {step['action']} {step['kind']} {step['name']}"
    risk = "" if step["risk"] == "none" else f" [{step['risk']}]"
    why = _short(step["reason"], REASON) + _concerned(step)
    # What the reason has said needs no second time; a thing that is made has its fields in the saved plan.
    unmentioned = [
        each for each in differences_of(step) if step["from"] is not None and each.field not in step["reason"]
    ]
    return [
        *wrapped(head + risk, "", INDENT),
        *(line for text in map(_difference, unmentioned) for line in wrapped(text, INDENT, INDENT + "  ")),
        *(wrapped(why, INDENT, INDENT) if why else []),
    ]


def _difference(difference: Difference) -> str:
    if difference.lines:
        removed, added = (sum(line[0] == sign for line in difference.lines) for sign in "-+")
        return f"{counted(removed, 'line')} to go, {counted(added, 'line')} to come"
    before, after = (_short(value or NOT_THERE, VALUE) for value in (difference.before, difference.after))
    return f"{difference.field}: {before} -> {after}"


def _short(value: str, width: int) -> str:
    return textwrap.shorten(value, width, placeholder=" ...") if len(value) > width else value


def wrapped(text: str, first: str = "", others: str = "") -> list[str]:
    """A text as lines, with what the first and the others begin with."""
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)
