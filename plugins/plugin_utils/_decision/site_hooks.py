# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The site's own task files, which a run includes before and after its stages. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from .._inventory.stages import STAGES
from .._pod.wording import meant

# Once in a run, around all stages.
CHANGES = "changes"
MOMENTS = tuple(
    f"{when}_{what}" for what in (CHANGES, *(stage.name for stage in STAGES)) for when in ("before", "after")
)
SUFFIX = ".yml"


def hooks_of(folder: str, names: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The task files of a folder, by the moment at which they run, and why its other files are refused.

    Args:
        folder: its path.
        names: the names of its files; what does not end in ``.yml`` is none of ours.
    """
    moments = [name.removesuffix(SUFFIX) for name in sorted(names) if name.endswith(SUFFIX)]
    refusals = [
        f"site_hooks: {folder}/{moment}{SUFFIX} would never run{meant(moment, MOMENTS)}; name it before_ or after_ "
        f"and {CHANGES} or a stage: {', '.join(stage.name for stage in STAGES)}"
        for moment in moments
        if moment not in MOMENTS
    ]
    return {moment: f"{folder}/{moment}{SUFFIX}" for moment in moments if moment in MOMENTS}, refusals
