# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run: a line for each stage and device with steps, and one at the end. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .step_lines import line_of
from .table import table_of
from .wording import counted

Step = Mapping[str, Any]
# Stage to device to its steps there.
Stages = Mapping[str, Mapping[str, Sequence[Step]]]
# Stage and device of what has been carried out.
Done = Collection[tuple[str, str]]


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
            sentences, ``verified`` for whether that was part of the run, and ``stages``.
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
    return [*asides, f"{count} done{' and verified' if reading['verified'] else ''}; {looked}"]
