# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as one HTML page that needs nothing but itself, and that nothing in a plan can make do anything. Pure."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import NO_RISK

from .._reports.wording import (
    NOT_THERE,
    RISKS,
    SHAPE_OF_RISK,
    Difference,
    affected_text,
    counted,
    counts_of_risks,
    differences_of,
    made_text,
    summary_of,
    title_of,
)
from .page_style import SCRIPT, STYLE
from .rack_picture import devices_in, marks_of, rack_pictures

Step = Mapping[str, Any]
# So many racks are shown whole; of more, those that the plan leaves as they are can be opened.
RACKS_SHOWN = 2
FELT_SHOWN = 12
# Longer texts can be opened.
LINES_SHOWN = 12
FINDING = ("device", "finding", "remedy")


def page_of(document: Mapping[str, Any], rack: Mapping[str, Any]) -> str:
    """The page.

    Args:
        document: a plan document; ``findings`` in it (device, finding, remedy) are shown too.
        rack: what :func:`rack.rack_of` returns.
    """
    steps = document["steps"]
    title, made = title_of(document), made_text(document)
    sections = [
        f'<header><h1>{escape(title)}</h1><p class="summary">{escape(summary_of(document))}</p>',
        _risk_badges(steps),
        f'<p class="quiet">{escape(made)} This page changes nothing.</p></header>',
        _racks(rack, document),
        _steps(steps),
        '<div id="unseen">',
        _section("Could not be looked at", ("Device", "Why"), _rows(document.get("unseen", ()), ("device", "message"))),
        "</div>",
        _section("Findings", ("Device", "Finding", "Remedy"), _rows(document.get("findings", ()), FINDING)),
        _section("Not ours, left alone", ("Device", "What", "Whose"), _not_ours(document.get("not_ours", ()))),
        _footer(document),
    ]
    return "\n".join([_head(title), *filter(None, sections), f"<script>{SCRIPT}</script>", "</body>", "</html>", ""])


def _head(title: str) -> str:
    policy = f"default-src 'none'; style-src {_hash_of(STYLE)}; script-src {_hash_of(SCRIPT)}; base-uri 'none'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>"""


def _hash_of(text: str) -> str:
    """How a Content-Security-Policy names the one style or script that it lets pass."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _risk_badges(steps: Sequence[Step]) -> str:
    badges = [
        f'<li class="badge risk-{RISKS.index(risk)}">{SHAPE_OF_RISK[risk]} {count} {_name_of(risk)}</li>'
        for risk, count in counts_of_risks(steps).items()
        if count
    ]
    return f'<ul class="risks">{"".join(badges)}</ul>' if badges else ""


def _name_of(risk: str) -> str:
    return "without risk" if risk == RISKS[0] else risk


def _racks(rack: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    pictures, marks = rack_pictures(rack, document), marks_of(document["steps"])
    figures, folded = [_worst_first(document["steps"])], []
    for pod in rack["pods"]:
        here = {step["number"] for name in devices_in(pod) for step in marks.get((name, ""), ())}
        told = f"{escape(pod['name'])} <span class='quiet'>{counted(len(here), 'step') if here else 'no step'}</span>"
        if here or len(rack["pods"]) <= RACKS_SHOWN:
            figures.append(f"<figure><h3>{told}</h3>\n{pictures[pod['name']]}</figure>")
        else:
            folded.append(f"<details><summary>{told}</summary>\n{pictures[pod['name']]}</details>")
    shown = ['<h2>At a glance</h2>\n<div class="racks">', *figures, "</div>"]
    return "\n".join([*shown, *(['<div class="racks folded">', *folded, "</div>"] if folded else [])])


def _worst_first(steps: Sequence[Step]) -> str:
    """What to read if one reads nothing else: the steps that somebody would feel, the worst first."""
    felt = sorted((step for step in steps if step["risk"] != NO_RISK), key=lambda step: -RISKS.index(step["risk"]))
    lines = [
        f'<li>{_badge(step["risk"])} <a href="#step-{step["number"]}">step {step["number"]}</a>'
        f" {escape(step['device'])}: {_what(step)}"
        f'<div class="quiet">{escape(affected_text(step) or step["reason"])}</div></li>'
        for step in felt[:FELT_SHOWN]
    ]
    rest = len(felt) - FELT_SHOWN
    more = f'<p class="quiet">and {counted(rest, "step")} more with a risk, in the table</p>' if rest > 0 else ""
    return f'<section><h3>Worst first</h3><ul class="felt">{"".join(lines)}</ul>{more}</section>' if felt else ""


def _steps(steps: Sequence[Step]) -> str:
    if not steps:
        return ""
    return "\n".join(
        [
            "<h2>Steps, in their order</h2>",
            _filter(steps),
            '<table class="cards"><thead><tr><th>Step</th><th>Device</th><th>What</th><th>From → to</th><th>Why</th>'
            "<th>Risk</th><th>Affects</th></tr></thead>",
            '<tbody id="steps">',
            *map(_step, steps),
            "</tbody></table>",
        ]
    )


def _filter(steps: Sequence[Step]) -> str:
    devices = "".join(f"<option>{escape(name)}</option>" for name in dict.fromkeys(step["device"] for step in steps))
    risks = "".join(
        f'<option value="{risk}">{_name_of(risk)}</option>' for risk, count in counts_of_risks(steps).items() if count
    )
    return (
        '<form id="filter" hidden>'
        f'<label>Device <select name="device"><option value="">all</option>{devices}</select></label>'
        f'<label>Risk <select name="risk"><option value="">all</option>{risks}</select></label><output></output></form>'
    )


def _step(step: Step) -> str:
    device = f'<span class="device">{escape(step["device"])}</span> <span class="quiet">{escape(step["layer"])}</span>'
    cells = [
        ("Step", "number", str(step["number"])),
        ("Device", "", device),
        ("What", "", _what(step)),
        ("From → to", "", _differences(step)),
        ("Why", "", escape(step["reason"])),
        ("Risk", "", _badge(step["risk"])),
        ("Affects", "", escape(affected_text(step))),
    ]
    told = "".join(f'<td class="{classes}" data-label="{label}">{cell}</td>' for label, classes, cell in cells)
    return (
        f'<tr id="step-{step["number"]}" data-device="{escape(step["device"])}" data-risk="{step["risk"]}">{told}</tr>'
    )


def _what(step: Step) -> str:
    return f"{escape(step['action'])} {escape(step['kind'])} <b>{escape(step['name'])}</b>"


def _badge(risk: str) -> str:
    return f'<span class="badge risk-{RISKS.index(risk)}">{SHAPE_OF_RISK[risk]} {risk}</span>'


def _differences(step: Step) -> str:
    """From and to: fields with their values, and where the thing itself comes or goes, that it does."""
    parts = [f"<li>{_old(NOT_THERE)} → {_new('made')}</li>"] if step["from"] is None else []
    parts += [f"<li>{_old('there')} → {_new('removed')}</li>"] if step["to"] is None else []
    parts += map(_difference, differences_of(step))
    return f'<ul class="fields">{"".join(parts)}</ul>' if parts else ""


def _difference(difference: Difference) -> str:
    if difference.lines:
        lines = "\n".join(_old(line) if line.startswith("-") else _new(line) for line in difference.lines)
        if len(difference.lines) <= LINES_SHOWN:
            return f"<li><pre>{lines}</pre></li>"
        return f"<li><details><summary>{len(difference.lines)} lines</summary><pre>{lines}</pre></details></li>"
    values = []
    if difference.before is not None:
        values.append(_old(difference.before))
    if difference.after is not None:
        values.append(_new(difference.after))
    return f"<li>{escape(difference.field)}: {' → '.join(values)}</li>"


def _old(text: str) -> str:
    return f"<del>{escape(text)}</del>"


def _new(text: str) -> str:
    return f"<ins>{escape(text)}</ins>"


def _not_ours(things: Iterable[Mapping[str, Any]]) -> list[Sequence[str]]:
    return [(thing["device"], f"{thing['kind']} {thing['name']}", thing["owner"]) for thing in things]


def _rows(things: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> list[Sequence[str]]:
    return [[str(thing.get(field, "")) for field in fields] for thing in things]


def _section(heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts, empty without rows."""
    if not rows:
        return ""
    head = "".join(f"<th>{column}</th>" for column in columns)
    body = "\n".join(
        "<tr>"
        + "".join(f'<td data-label="{column}">{escape(text)}</td>' for column, text in zip(columns, row, strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f'<h2>{heading} ({len(rows)})</h2>\n<table class="cards"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table>"
    )


def _footer(document: Mapping[str, Any]) -> str:
    apply = "ansible-playbook playbooks/apply.yml -e plan=plan.json"
    told = (
        f"To do exactly this, or be refused if the pod has moved meanwhile: <code>{apply}</code>."
        if document["steps"]
        else ""
    )
    return f'<footer><p>{told}</p><p class="quiet">{escape(document["fingerprint"])}</p></footer>'
