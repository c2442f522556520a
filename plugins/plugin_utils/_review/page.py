# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as one HTML page that needs nothing but itself, and that nothing in a plan can make do anything. Pure."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import NO_RISK

from .._templates.render import render
from .rack_picture import devices_in, marks_of, rack_pictures
from .wording import (
    RISKS,
    SHAPE_OF_RISK,
    affected_text,
    counted,
    counts_of_risks,
    differences_of,
    made_text,
    summary_of,
    title_of,
)


def page_of(document: Mapping[str, Any], rack: Mapping[str, Any]) -> str:
    """The page.

    Args:
        document: a plan document; ``findings`` in it (device, finding, remedy) are shown too.
        rack: what :func:`rack.rack_of` returns.
    """
    steps = document["steps"]
    not_ours = [
        (each["device"], f"{each['kind']} {each['name']}", each["owner"]) for each in document.get("not_ours", ())
    ]
    return render(
        "page.html",
        title=title_of(document),
        summary=summary_of(document),
        made=made_text(document),
        fingerprint=document["fingerprint"],
        style=render("page.css"),
        script=render("page.js"),
        racks=_racks(document, rack),
        steps=steps,
        felt=sorted((step for step in steps if step["risk"] != NO_RISK), key=lambda step: -RISKS.index(step["risk"])),
        unseen=_rows(document.get("unseen", ()), "device", "message"),
        findings=_rows(document.get("findings", ()), "device", "finding", "remedy"),
        not_ours=not_ours,
        counts=counts_of_risks(steps),
        risks=RISKS,
        shapes=SHAPE_OF_RISK,
        affected_text=affected_text,
        counted=counted,
        differences_of=differences_of,
        sha256_of=_sha256_of,
    )


def _sha256_of(text: str) -> str:
    """How a Content-Security-Policy names the one style or script that it lets pass."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _racks(document: Mapping[str, Any], rack: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The racks with their pictures, and how many steps are marked in each."""
    pictures, marks = rack_pictures(rack, document), marks_of(document["steps"])
    marked = {
        pod["name"]: {step["number"] for name in devices_in(pod) for step in marks.get((name, ""), ())}
        for pod in rack["pods"]
    }
    return [{"name": name, "steps": len(marked[name]), "picture": picture} for name, picture in pictures.items()]


def _rows(things: Iterable[Mapping[str, Any]], *fields: str) -> list[list[str]]:
    return [[str(thing.get(field, "")) for field in fields] for thing in things]
