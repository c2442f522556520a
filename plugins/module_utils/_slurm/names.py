# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's way to write many names in one word. Pure."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Sequence

# A number that begins with 0 could not be written back as it was.
_NUMBER = re.compile(r"[1-9][0-9]*$")


def folded(names: Sequence[str]) -> str:
    """Names in Slurm's short form, where those that differ only in a number at their end are one."""
    numbers: dict[str, list[int]] = {}
    for name in names:
        stem = _NUMBER.sub("", name)
        digits = name[len(stem) :]
        numbers.setdefault(stem, []).extend(int(digits) for digits in [digits] if digits)
    return ",".join(_bracketed(stem, sorted(found)) for stem, found in numbers.items())


def _bracketed(stem: str, numbers: Sequence[int]) -> str:
    if len(numbers) < 2:
        return stem + "".join(map(str, numbers))
    runs = [list(run) for _offset, run in groupby(numbers, key=lambda each: each - numbers.index(each))]
    return f"{stem}[{','.join(str(run[0]) if len(run) == 1 else f'{run[0]}-{run[-1]}' for run in runs)}]"
