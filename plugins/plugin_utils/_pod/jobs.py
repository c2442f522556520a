# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""V-IPU entities that Slurm's prolog makes for a job: undeclared, and removed with the job. Pure."""

from __future__ import annotations

import re

# V-IPU has no labels, so a name is all that tells.
NAMES = {"allocation": r"c[0-9]+", "partition": r"(p|slurm_)[0-9]+", "user": r"j[0-9]+"}
NAMED = "named as Slurm names what it makes for a job"


def is_of_a_job(kind: str, name: str) -> bool:
    """Whether an entity is called as Slurm calls what it makes for a job."""
    return kind in NAMES and re.fullmatch(NAMES[kind], name) is not None
