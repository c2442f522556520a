# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps on a device as one line: ``vlan 101 vpod-alice added; Ethernet9/1 access 1 -> 101``. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import CREATE, RECREATE, REMOVE

from .wording import NOT_THERE, counted, differences_of

Step = Mapping[str, Any]

VALUE = 40
# Of more steps of one kind only their number is told.
TOLD = 4
# Of a thing with more fields that change only these are told, without their values.
FIELDS = 3
# What says nothing to a person.
UNTOLD = ("lines", "sha256", "files", "network_file", "script", "unit")
DONE = {CREATE: "added", REMOVE: "removed", RECREATE: "made again"}
# Kinds whose names say by themselves what they are.
PLAIN = ("port", "file", "service", "package", "task", "interface")


def line_of(device: str, steps: Sequence[Step]) -> str:
    """All steps of a device."""
    kinds = dict.fromkeys((step["kind"], step["action"]) for step in steps)
    parts = [
        part
        for kind, action in kinds
        for part in _of_kind(kind, action, [s for s in steps if (s["kind"], s["action"]) == (kind, action)])
    ]
    return f"{device}: {'; '.join(parts)}"


def lines_of(steps: Sequence[Step]) -> list[str]:
    """A line for each device, in the order of the steps."""
    devices = dict.fromkeys(step["device"] for step in steps)
    return [line_of(device, [step for step in steps if step["device"] == device]) for device in devices]


def _of_kind(kind: str, action: str, steps: Sequence[Step]) -> list[str]:
    if len(steps) <= TOLD:
        return [_words(step) for step in steps]
    fields = dict.fromkeys(each.field for step in steps for each in differences_of(step)) if action not in DONE else {}
    what = f": {', '.join(fields)}" if fields else ""
    return [f"{counted(len(steps), kind.replace('_', ' '))} {DONE.get(action, 'changed')}{what}"]


def _words(step: Step) -> str:
    name = step["name"] if step["kind"] in PLAIN else f"{step['kind'].replace('_', ' ')} {step['name']}"
    if step["action"] in DONE:
        called = (step["to"] or step["from"] or {}).get("name")
        return f"{name}{f' {called}' if called else ''} {DONE[step['action']]}"
    fields = [each for each in differences_of(step) if each.field not in UNTOLD]
    if not fields or len(fields) > FIELDS:
        return f"{name} changed{': ' if fields else ''}{', '.join(each.field for each in fields)}"
    return f"{name} {', '.join(f'{each.field} {_short(each.before)} -> {_short(each.after)}' for each in fields)}"


def _short(value: str | None) -> str:
    return textwrap.shorten(value or NOT_THERE, VALUE, placeholder=" ...")
