# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Differences between a saved plan and a new one, in things that either touches. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Step = Mapping[str, Any]
Key = tuple[str, str, str, str, int]


def moved(saved: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """One sentence for each difference that makes the saved plan another one; empty if it can be applied as it is.

    Args:
        saved: the plan document that is to be applied.
        now: the plan document of just now.
    """
    unseen = [f"{each['device']} cannot be looked at: {each['message']}" for each in now["unseen"]]
    before, after = _by_thing(saved["steps"]), _by_thing(now["steps"])
    different = [text for key, step in before.items() for text in _differences(step, after.get(key))]
    further = [
        f"{_thing(step)}: {step['action']} is due now ({step['reason']}), which the plan does not hold"
        for key, step in after.items()
        if key not in before
    ]
    order = [] if different or further or list(before) == list(after) else ["the steps are due in another order"]
    return [*unseen, *different, *further, *order]


def _by_thing(steps: Sequence[Step]) -> dict[Key, Step]:
    """Each step by what it touches; a thing that is touched more than once has its steps counted."""
    found: dict[Key, Step] = {}
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
