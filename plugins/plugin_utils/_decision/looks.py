# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The looks of a run: one for each device, also for those that did not answer. Pure.

A look is plain data: ``host``, ``outcome``, ``message`` (one line with a remedy, empty where it has answered),
``settings`` (the variables of the collection's roles for it, by name), ``explicit`` (names of variables that the
command line gives) and ``parts``. A part that could not be read has ``message`` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

ANSWERED = "answered"
REFUSED = "refused"
TIMED_OUT = "timed out"
FAILED = "failed"
# The inventory does not say how.
NOT_ASKED = "not asked"

Look = Mapping[str, Any]
Part = Mapping[str, Any]


def answered(look: Look | None) -> bool:
    """Whether a device was read at all."""
    return look is not None and look["outcome"] == ANSWERED


def part(look: Look | None, name: str) -> Part | None:
    """Return one part of a look; None if it was not read."""
    found: Part | None = (look or {}).get("parts", {}).get(name)
    return None if found is None or found.keys() == {"message"} else found


def missing(look: Look, name: str) -> str:
    """Why a part is missing, in one line."""
    return str(look["parts"].get(name, {}).get("message", "")) or look["message"] or "it was not read"


def read(look: Look | None, name: str) -> Part:
    """One part of a look; refused if it was not read."""
    found = part(look, name)
    if found is None:
        raise Refused(missing(look, name) if look else "it was not looked at")
    return found
