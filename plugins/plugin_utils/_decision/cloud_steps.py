# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a cloud, and its faults, from its look: what cloud_state in check mode would say. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import plan, without_what_goes
from ansible_collections.ipu.pod.plugins.module_utils._cloud.wanted import wanted
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step

from .._desired.clouds import OF_VPODS
from .looks import Look, Part, read

Options = Mapping[str, Any]

PART = "cloud"


def cloud_steps(options: Options, look: Look, down: Options | None = None) -> list[Step]:
    """Return the steps of a cloud; ``down`` are the options of what is removed there before.

    Refused if it cannot be made so, or a machine would be interrupted whose vPOD is not allowed to be.
    """
    there = read(look, PART)
    if down is not None and down is not options:
        there = without_what_goes(down, there, _steps(down, there))
    return _steps(options, there)


def cloud_names(options: Options, look: Look) -> dict[str, list[str]]:
    """Kind to the names of all that is declared of a cloud."""
    there = read(look, PART)
    return {kind: list(names) for kind, names in wanted(declared(options, there), there).items() if names}


def leaving(options: Options) -> dict[str, Any]:
    """The options of a cloud that only take away what vPODs have that are to go."""
    return {**options, **{kind: [] for kind in (*OF_VPODS, "images")}}


def _steps(options: Options, there: Part) -> list[Step]:
    steps: list[Step] = plan(declared(options, there), there, options["allow_interruption"])
    return steps


def declared(options: Options, there: Part) -> Options:
    """The options without what only a run says, and with the checksums of the images' files."""
    images = [{**image, "sha512": there["files"][image["name"]]} for image in options["images"]]
    return {**{name: value for name, value in options.items() if name != "allow_interruption"}, "images": images}
