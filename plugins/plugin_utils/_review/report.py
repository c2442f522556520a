# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run says of itself: a line for each stage and device that does something, and one at the end. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .table import table_of
from .wording import counted
from .words import line_of


def stage_lines(stages: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]], stage: str, host: str) -> list[str]:
    """What was done on a device in a stage; ``stages`` maps stages to devices to their steps."""
    steps = stages.get(stage, {}).get(host, ())
    return [line_of(host, steps)] if steps else []


def report_lines(document: Mapping[str, Any], reading: Mapping[str, Any], seconds: int, is_foretold: bool) -> list[str]:
    """The end of a run; one that only foretells shows the plan.

    Args:
        document: the plan.
        reading: ``looked_at`` with the devices that have answered, ``left_out`` and ``degraded``.
        seconds: how long the run has taken.
        is_foretold: whether nothing was to be changed.
    """
    looked = f"{counted(len(reading['looked_at']), 'device')} looked at in {seconds} s"
    asides = [*reading["left_out"], *(f"degraded: {sentence}" for sentence in reading["degraded"])]
    steps = document["steps"]
    if not steps:
        return [*asides, f"nothing changed; {looked}"]
    if is_foretold:
        return [*table_of(document), *asides, f"nothing was changed; {looked}"]
    devices = {step["device"] for step in steps}
    done = f"{counted(len(steps), 'step')} on {counted(len(devices), 'device')}"
    return [*asides, f"{done} done and verified; {looked}"]
