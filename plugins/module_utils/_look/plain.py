# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a device's client returns to plain data, as JSON has it. Pure."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Mapping


def plain(value: Any) -> Any:
    """The value with lists for tuples, sorted lists for sets, and mappings by field name for dataclasses.

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
