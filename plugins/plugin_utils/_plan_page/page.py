# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as one HTML page that needs nothing but itself, and that nothing in a plan can make do anything. Pure."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import NO_RISK

from .._reports import wording
from .._templates.render import render
from .rack_picture import devices_in, marks_of, rack_pictures


def page_of(document: Mapping[str, Any], rack: Mapping[str, Any]) -> str:
    """The page of a plan document and its ``findings``, with the racks that :func:`rack.rack_of` returns."""
    risky = [step for step in document["steps"] if step["risk"] != NO_RISK]
    not_ours = [{**thing, "what": f"{thing['kind']} {thing['name']}"} for thing in document.get("not_ours", ())]
    return render(
        "page.html",
        document=document,
        wording=wording,
        racks=_racks(document, rack),
        worst=sorted(risky, key=lambda step: -wording.RISKS.index(step["risk"])),
        not_ours=not_ours,
        style=render("page.css"),
        script=render("page.js"),
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
