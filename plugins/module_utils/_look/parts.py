# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a look. Each is read independently; one that fails gives a message of one line."""

from __future__ import annotations

from typing import Any, Callable, Dict

from .._plan.converge import DeviceError, Refused

# A message is one line, and of a length that can be read.
_LONGEST = 1000

Part = Dict[str, Any]


def answer_of(read: Callable[[], Part]) -> Part:
    """Return what ``read`` returns, or only ``message`` if it fails."""
    try:
        return read()
    except (Refused, DeviceError, OSError, ValueError) as error:
        return {"message": line_of(error)}


def line_of(error: Exception) -> str:
    """Return an error as one line."""
    return " ".join(str(error).split())[:_LONGEST]
