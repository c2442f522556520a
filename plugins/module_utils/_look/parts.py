# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a look: each is read by itself, and one that fails says why in one line."""

from __future__ import annotations

from typing import Any, Callable, Dict

from .._plan.converge import DeviceError, Refused

# A message is one line, and of a length that can be read.
_LONGEST = 1000

Part = Dict[str, Any]


def answer_of(read: Callable[[], Part]) -> Part:
    """What was read; ``message`` alone where it could not be read."""
    try:
        return read()
    except (Refused, DeviceError, OSError, ValueError) as error:
        return {"message": line_of(error)}


def line_of(error: Exception) -> str:
    """What went wrong, in one line."""
    return " ".join(str(error).split())[:_LONGEST]
