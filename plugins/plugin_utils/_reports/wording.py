# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words that every view of a plan uses: its summary, what differs in a step, and how a value is spelled. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import DESTRUCTIVE, DISRUPTIVE, NO_RISK, TENANT_OUTAGE
from ansible_collections.ipu.pod.plugins.module_utils._text.line import one_line

# From the least to the worst. The shapes tell the risks apart where colours do not.
SHAPE_OF_RISK = {NO_RISK: "●", DISRUPTIVE: "▲", DESTRUCTIVE: "◆", TENANT_OUTAGE: "■"}
RISKS = tuple(SHAPE_OF_RISK)
NOTHING = "Nothing to do."
NOTHING_SEEN = "Nothing to do on the devices that answered."
NOT_THERE = "not there"


@dataclass(frozen=True)
class Difference:
    """One field of a step, spelled; None where it is not there. ``lines`` are those of a file that go or come."""

    field: str
    before: str | None
    after: str | None
    lines: tuple[str, ...] = ()


def title_of(document: Mapping[str, Any]) -> str:
    """``Plan for pod001`` or ``Drift of pod001``; more than three pods are counted."""
    pods = document["pods"]
    what = "Drift of" if "verdict" in document else "Plan for"
    return f"{what} {', '.join(pods) if len(pods) <= 3 else counted(len(pods), 'pod')}"


def made_text(document: Mapping[str, Any]) -> str:
    """When and by whom: ``Made 2026-11-21 15:00:00 UTC by alice@control1.``"""
    return f"Made {document['made'].replace('T', ' ').replace('Z', ' UTC')} by {document['by']}."


def summary_of(document: Mapping[str, Any]) -> str:
    """One line: ``3 steps on 2 devices: 1 disruptive; affects vPOD alice``, and what is known beside the steps."""
    steps = document["steps"]
    unseen = {device["device"] for device in document.get("unseen", ())}
    sentences = [_steps_sentence(steps) if steps else NOTHING_SEEN if unseen else NOTHING]
    if unseen:
        sentences.append(f"{counted(len(unseen), 'device')} could not be looked at.")
    if document.get("findings"):
        sentences.append(f"{counted(len(document['findings']), 'finding')}.")
    return " ".join(sentences)


def finding_text(finding: Mapping[str, Any]) -> str:
    """``pod001-tor: port Ethernet9/1 is err-disabled; what to do``."""
    return one_line(f"{finding['device']}: {finding['finding']}; {finding['remedy']}")


def _steps_sentence(steps: Sequence[Mapping[str, Any]]) -> str:
    devices = {step["device"] for step in steps}
    text = f"{counted(len(steps), 'step')} on {counted(len(devices), 'device')}"
    risks = [f"{count} {risk}" for risk, count in counts_of_risks(steps).items() if count and risk != NO_RISK]
    if risks:
        text += f": {', '.join(risks)}"
    vpods = affected_by(steps, "vpods")
    if vpods:
        text += f"; affects {'vPOD' if len(vpods) == 1 else 'vPODs'} {', '.join(vpods)}"
    return f"{text}."


def counts_of_risks(steps: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many steps have each risk, from the least to the worst."""
    risks = [step["risk"] for step in steps]
    return {risk: risks.count(risk) for risk in RISKS}


def worst_risk(steps: Sequence[Mapping[str, Any]]) -> str:
    """The worst risk among some steps."""
    return max((step["risk"] for step in steps), key=RISKS.index, default=NO_RISK)


def affected_by(steps: Sequence[Mapping[str, Any]], what: str) -> list[str]:
    """The ``vpods`` or ``partitions`` that some steps affect, each once, in the order of the steps."""
    return list(dict.fromkeys(name for step in steps for name in (step.get("affected") or {}).get(what, ())))


def counted(count: int, noun: str) -> str:
    """``1 step``, ``2 steps``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def affected_text(step: Mapping[str, Any]) -> str:
    """``vPOD alice, partition train``; empty where nobody is affected."""
    affected = step.get("affected") or {}
    nouns = {"vpods": "vPOD", "partitions": "partition"}
    parts = [
        f"{noun if len(affected[what]) == 1 else noun + 's'} {', '.join(affected[what])}"
        for what, noun in nouns.items()
        if affected.get(what)
    ]
    return "; ".join(parts)


def differences_of(step: Mapping[str, Any]) -> list[Difference]:
    """Return the changes of a step by field; a created or removed thing has its fields on one side."""
    before, after = step.get("from") or {}, step.get("to") or {}
    return [
        _difference(field, before.get(field), after.get(field))
        for field in dict.fromkeys([*before, *after])
        if before.get(field) is not None or after.get(field) is not None
    ]


def _difference(field: str, before: Any, after: Any) -> Difference:
    spelled_before, spelled_after = (None if value is None else spelled(value) for value in (before, after))
    if field != "lines":
        return Difference(field, spelled_before, spelled_after)
    lines = (*(f"-{line}" for line in before or ()), *(f"+{line}" for line in after or ()))
    return Difference(field, spelled_before, spelled_after, lines)


def spelled(value: Any) -> str:
    """A value as people read it: texts as they are, lists with commas, all else as JSON."""
    if isinstance(value, str):
        return value or '""'
    if isinstance(value, list) and value and all(isinstance(item, (str, int)) for item in value):
        return ", ".join(map(spelled, value))
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
