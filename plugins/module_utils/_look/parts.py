# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a look, as plain data: each is read by itself, and one that fails says why in one line."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Callable, Dict, Mapping

from .._plan.converge import DeviceError, Refused
from .._text.line import one_line

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
    return one_line(str(error), _LONGEST)


def plain(value: Any) -> Any:
    """A value as JSON has it, with lists for tuples, sorted lists for sets, and mappings by field name for dataclasses.

    A mapping keeps its order: a DSCP map has its own, and people read it in reasons.
    """
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
