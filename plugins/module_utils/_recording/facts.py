# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is understood of a record, in short: how much of everything, and what was not understood. Pure."""

from __future__ import annotations

from typing import Any, Dict, Mapping

from .._look.parts import Part
from .host import understood_of_host
from .switch import SWITCH, understood_of_switch

Facts = Dict[str, Any]
# By vPOD: the controllers of a host.
_CONTROLLERS = "controllers"
_TEXT = "text"


def understood(record: Mapping[str, Any]) -> dict[str, Part]:
    """The parts of a look, from the record of a switch or a host."""
    if record["kind"] == SWITCH:
        return understood_of_switch(record["answers"])
    return understood_of_host(record)


def facts_of(parts: Mapping[str, Part]) -> Facts:
    """Part to the number of its things by kind, or to the message alone where it was not understood."""
    found: Facts = {}
    for name, part in parts.items():
        if name == _CONTROLLERS and "message" not in part:
            # The vPODs have other names in an archive.
            of_each = sorted(map(_counts, part.values()), key=str)
            found.update({f"{name} {number}": counts for number, counts in enumerate(of_each, 1)})
        else:
            found[name] = _counts(part)
    return found


def messages_of(facts: Facts) -> list[str]:
    """Why parts were not understood, one sentence each."""
    return [f"{name}: {part['message']}" for name, part in facts.items() if "message" in part]


def _counts(part: Part) -> Facts:
    if "message" in part:
        return {"message": part["message"]}
    return {key: _count(key, value) for key, value in part.items() if value is not None}


def _count(key: str, value: Any) -> Any:
    if isinstance(value, (dict, list)):
        return len(value)
    if isinstance(value, str):
        return len(value.splitlines()) if key == _TEXT else bool(value)
    return value
