# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as a document: every step that site.yml would take, numbered, with who is affected. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

from .._inventory.hosts import canaries_first
from .._placement.placement import Placement
from .._pod.model import Declaration
from .impact import Tenants

Document = dict[str, Any]

SCHEMA = 2
STEP_KEYS = (
    *("number", "device", "layer", "action", "kind", "name"),
    *("from", "to", "reason", "risk", "affected", "observed"),
)


def plan_document(
    declaration: Declaration,
    placement: Placement,
    steps: Sequence[Document],
    unseen: Sequence[Mapping[str, str]],
    not_ours: Sequence[Mapping[str, str]],
    made: str,
    by: str,
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
    """
    tenants = Tenants(declaration, placement)
    numbered = [
        {
            "number": number,
            **{key: step[key] for key in STEP_KEYS if key in step},
            "affected": tenants.affected(step["device"], step["layer"], step["kind"], step["name"]),
        }
        for number, step in enumerate(_in_order(declaration, steps), 1)
    ]
    ordered = [{key: step[key] for key in STEP_KEYS} for step in numbered]
    return {
        "schema": SCHEMA,
        "made": made,
        "by": by,
        "pods": list(declaration.pods),
        "steps": ordered,
        "unseen": [dict(each) for each in unseen],
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
    except ValueError as error:
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
    return isinstance(step, dict) and step.keys() == set(STEP_KEYS)
