# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run: a line for each stage and device with steps, and one at the end. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import CREATE, RECREATE, REMOVE
from ansible_collections.ipu.pod.plugins.module_utils._runs.records import ENTIRELY_DONE, NOT_VERIFIED, PARTLY_DONE

from .._inventory.stages import VERIFICATION
from .table import table_of
from .wording import NOT_THERE, counted, differences_of

Step = Mapping[str, Any]
# Stage to device to its steps there.
Stages = Mapping[str, Mapping[str, Sequence[Step]]]
# Stage and device of what has been carried out.
Done = Collection[tuple[str, str]]

VALUE = 40
# More steps of one kind are counted, not listed.
TOLD = 4
# A thing with more fields that change is shown with the names of these, without values.
FIELDS = 3
# What says nothing to a person.
UNTOLD = ("lines", "sha256", "files", "network_file", "script", "unit")
DONE = {CREATE: "added", REMOVE: "removed", RECREATE: "made again"}
# Kinds whose names say by themselves what they are.
PLAIN = ("port", "file", "service", "package", "task", "interface", "startup_config")


def stage_lines(stages: Stages, stage: str, host: str) -> list[str]:
    """Return the lines on a device in a stage."""
    steps = stages.get(stage, {}).get(host, ())
    return [line_of(host, steps)] if steps else []


def done_steps(stages: Stages, done: Done) -> list[Step]:
    """The steps that have been carried out."""
    return [
        step
        for stage, devices in stages.items()
        for host, steps in devices.items()
        if (stage, host) in done
        for step in steps
    ]


def outcome_of(reading: Mapping[str, Any], done: Done) -> str:
    """How far a run has come with what it had to do, as its record says it; arguments as of :func:`report_lines`."""
    planned = [step for devices in reading["stages"].values() for steps in devices.values() for step in steps]
    if len(done_steps(reading["stages"], done)) < len(planned):
        return PARTLY_DONE
    return NOT_VERIFIED if _unverified(reading, done) else ENTIRELY_DONE


def _unverified(reading: Mapping[str, Any], done: Done) -> list[str]:
    return [host for host in reading["verifying"] if (VERIFICATION, host) not in done]


def with_done(stages: Stages, before: Stages, done: Done) -> dict[str, dict[str, Sequence[Step]]]:
    """The stages of a plan that was made again on the way, with what the plan before it has done already."""
    found: dict[str, dict[str, Sequence[Step]]] = {}
    for stage, host in sorted(done):
        if host in before.get(stage, {}):
            found.setdefault(stage, {})[host] = before[stage][host]
    for stage, devices in stages.items():
        found.setdefault(stage, {}).update(devices)
    return found


def report_lines(
    document: Mapping[str, Any], reading: Mapping[str, Any], done: Done, seconds: int, is_predicted: bool
) -> list[str]:
    """The end of a run; one that only predicts shows the plan.

    Args:
        document: the plan.
        reading: ``looked_at`` with the devices that have answered, ``notes``, ``left_out`` and ``degraded`` with
            sentences, ``verifying`` with the devices that had to verify it, and ``stages``.
        done: what has been carried out.
        seconds: how long the run has taken.
        is_predicted: whether nothing was to be changed.
    """
    looked = f"{counted(len(reading['looked_at']), 'device')} looked at in {seconds} s"
    asides = [*reading["notes"], *reading["left_out"], *(f"degraded: {sentence}" for sentence in reading["degraded"])]
    planned = [step for devices in reading["stages"].values() for steps in devices.values() for step in steps]
    if not planned:
        return [*asides, f"nothing changed; {looked}"]
    if is_predicted:
        return [*table_of(document), *asides, f"nothing was changed; {looked}"]
    carried_out = done_steps(reading["stages"], done)
    count = f"{counted(len(carried_out), 'step')} on {counted(len({step['device'] for step in carried_out}), 'device')}"
    if len(carried_out) < len(planned):
        return [*asides, f"only {count} done, of {len(planned)}; run again without --tags and --skip-tags; {looked}"]
    return [*asides, f"{count} done{_verified(reading, done)}; {looked}"]


def _verified(reading: Mapping[str, Any], done: Done) -> str:
    missing = _unverified(reading, done)
    if missing:
        return f" and not verified by {', '.join(missing)}"
    return " and verified" if reading["verifying"] else ""


def line_of(device: str, steps: Sequence[Step]) -> str:
    """All steps of a device."""
    kinds = dict.fromkeys((step["kind"], step["action"]) for step in steps)
    parts = [
        part
        for kind, action in kinds
        for part in _of_kind(kind, action, [s for s in steps if (s["kind"], s["action"]) == (kind, action)])
    ]
    return f"{device}: {'; '.join(parts)}"


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
