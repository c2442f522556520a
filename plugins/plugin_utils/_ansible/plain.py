# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what Ansible hands over to plain data: no templates, no tags, no marks of where a value comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """The value as ``dict``, ``list``, ``str``, ``bool``, ``int``, ``float`` or None."""
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, str):
        # A text of Ansible's own would give itself again by str().
        return str.__str__(value)
    kind = next((kind for kind in (bool, int, float) if isinstance(value, kind)), None)
    return kind(value) if kind else value
