# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as a document: every step that site.yml would take, numbered, with who is affected. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._text.line import one_line

from .._inventory.hosts import canaries_first
from .._placement.placement import Placement
from .._pod.model import Declaration
from .impact import NOTHING, Affected, Fields, Tenants, TenantVlans

Document = dict[str, Any]
Step = Mapping[str, Any]

SCHEMA = 2
STEP_KEYS = (
    *("number", "device", "layer", "action", "kind", "name"),
    *("from", "to", "reason", "risk", "affected", "observed"),
)
TEXTS = ("device", "layer", "action", "kind", "name", "reason", "risk")
# What a thing is, None for one that is not there.
STATES = ("from", "to", "observed")


def plan_document(
    declaration: Declaration,
    placement: Placement,
    steps: Sequence[Document],
    unseen: Sequence[Mapping[str, str]],
    not_ours: Sequence[Mapping[str, str]],
    made: str,
    by: str,
    findings: Sequence[Mapping[str, str]] = (),
    vlans: TenantVlans = MappingProxyType({}),
) -> Document:
    """The plan.

    Args:
        declaration: the checked pods.yml.
        placement: where the vPODs lie.
        steps: as recorded in a dry run of site.yml, each with its ``phase``, in any order of the devices.
        unseen: ``device`` and ``message`` of what could not be looked at.
        not_ours: ``device``, ``kind``, ``name`` and ``owner`` of what is there and is left alone.
        made: when, in UTC, as 2026-11-21T15:00:00Z.
        by: who, as alice@control1.
        findings: ``device``, ``layer``, ``kind``, ``name``, ``finding`` and ``remedy`` of what is wrong and no step
            puts right.
        vlans: whose which VLAN is on the switches.
    """
    tenants = Tenants(declaration, placement, vlans)

    def affected(thing: Mapping[str, Any], before: Fields = NOTHING, after: Fields = NOTHING) -> Affected:
        return tenants.affected(thing["device"], thing["layer"], thing["kind"], thing["name"], before, after)

    ordered = []
    for number, step in enumerate(_in_order(declaration, steps), 1):
        observed, to = step["observed"] or {}, step["to"] or {}
        whole = {**step, "number": number, "affected": affected(step, observed, {**observed, **to})}
        ordered.append({key: whole[key] for key in STEP_KEYS})
    return {
        "schema": SCHEMA,
        "made": made,
        "by": by,
        "pods": list(declaration.pods),
        "steps": ordered,
        "unseen": [dict(each) for each in unseen],
        "findings": [{**each, "affected": affected(each)} for each in findings],
        "not_ours": [dict(each) for each in not_ours],
        "fingerprint": fingerprint_of(ordered),
    }


def _in_order(declaration: Declaration, steps: Sequence[Document]) -> list[Document]:
    """Play by play, then device by device, as in site.yml; a dry run works on the devices side by side."""
    places = {device.name: place for place, device in enumerate(canaries_first(declaration))}
    return sorted(steps, key=lambda step: (step["phase"], places.get(step["device"], len(places))))


def fingerprint_of(steps: Sequence[Mapping[str, Any]]) -> str:
    """Return a fingerprint of what was observed of the touched things, and of the steps."""
    touched = [{key: step[key] for key in STEP_KEYS if key not in ("number", "affected")} for step in steps]
    canonical = json.dumps(touched, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def parse_plan(text: str, source: str) -> Document:
    """A saved plan.

    Raises:
        Refused: it is no plan of this schema, or has been edited since it was made.
    """
    remedy = f"give a plan.json that playbooks/plan.yml has written, not {source}"
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{source} is not JSON ({error}); {remedy}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise Refused(f"{source} is no plan of schema {SCHEMA}; {remedy}")
    steps = document.get("steps")
    if not isinstance(steps, list) or not all(_is_step(step) for step in steps):
        raise Refused(f"{source}: `steps` is not a list of steps; {remedy}")
    if document.get("fingerprint") != fingerprint_of(steps):
        raise Refused(f"{source} has been edited since it was made; a plan is applied as it is or made again")
    return document


def _is_step(step: Any) -> bool:
    return (
        isinstance(step, dict)
        and step.keys() == set(STEP_KEYS)
        and all(isinstance(step[key], str) for key in TEXTS)
        and all(isinstance(step[key], (dict, type(None))) for key in STATES)
    )


def moved(saved: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """One sentence for each difference that makes the plan of ``now`` another one than the one that was saved."""
    unseen = [f"{each['device']} cannot be looked at: {each['message']}" for each in now["unseen"]]
    before, after = _by_thing(saved["steps"]), _by_thing(now["steps"])
    different = [text for key, step in before.items() for text in _differences(step, after.get(key))]
    further = [
        f"{_thing(step)}: {step['action']} is due now ({step['reason']}), which the plan does not hold"
        for key, step in after.items()
        if key not in before
    ]
    order = [] if different or further or list(before) == list(after) else ["the steps are due in another order"]
    return list(map(one_line, [*unseen, *different, *further, *order]))


def unrecognised(saved: Mapping[str, Any], source: str) -> list[str]:
    """What may have moved on the devices of a saved plan without :func:`moved` seeing it, in one sentence."""
    switches = dict.fromkeys(step["device"] for step in saved["steps"] if step["layer"] == "switch")
    sentence = (
        f"{source} has nothing of what others have configured on {', '.join(switches)}, since that can hold secrets; "
        "whether it has changed since the plan was made is for you to know"
    )
    return [one_line(sentence)] if switches else []


def _by_thing(steps: Sequence[Step]) -> dict[tuple[Any, ...], Step]:
    """Each step by what it touches; a thing that is touched more than once has its steps counted."""
    found: dict[tuple[Any, ...], Step] = {}
    for step in steps:
        thing = (step["device"], step["layer"], step["kind"], step["name"])
        count = 0
        while (*thing, count) in found:
            count += 1
        found[(*thing, count)] = step
    return found


def _differences(step: Step, now: Step | None) -> list[str]:
    if now is None:
        return [f"{_thing(step)}: {step['action']} is not due any more"]
    if step["observed"] != now["observed"]:
        return [f"{_thing(step)}: {_fields(step['observed'], now['observed'])}"]
    if any(step[key] != now[key] for key in ("action", "from", "to", "reason", "risk")):
        return [
            f"{_thing(step)}: the plan says {_summary(step)}, and now it would be {_summary(now)}; pods.yml has changed"
        ]
    return []


def _thing(step: Step) -> str:
    return f"{step['device']}: {step['kind']} {step['name']}"


def _summary(step: Step) -> str:
    return f"{step['action']} to {step['to']} ({step['reason']})"


def _fields(saved: Any, now: Any) -> str:
    """Which fields are not what they were when the plan was made."""
    if saved is None:
        return "was not there, and is there now"
    if now is None:
        return "was there, and is gone"
    names = [name for name in {**saved, **now} if saved.get(name) != now.get(name)]
    return ", ".join(f"{name} was {saved.get(name)!r}, and is {now.get(name)!r}" for name in names)
