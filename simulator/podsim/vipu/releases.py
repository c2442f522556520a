# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The differences between the V-IPU releases that can be simulated."""

from __future__ import annotations

LATEST = "1.18.0"


def has_allocation_by_agents(release: str) -> bool:
    """Whether `create allocation --agents` exists. Assumed, to have something that an older release lacks."""
    return _numbers(release) >= (1, 18)


def check_release(release: str) -> str:
    """The release, if it looks like one. Raises ValueError."""
    _numbers(release)
    return release


def _numbers(release: str) -> tuple[int, ...]:
    numbers = tuple(int(part) for part in release.split("."))
    if len(numbers) != 3:
        raise ValueError(f"'{release}' is not a release such as {LATEST}")
    return numbers
