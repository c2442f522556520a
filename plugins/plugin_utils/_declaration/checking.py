# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file as it was read, checked: every problem with its place, in the order of the lines, and each once. Pure."""

from __future__ import annotations

from .._desired.degraded import undamaged
from .._placement.placement import place
from .._pod.kinds import DeclarationError, Problem
from .._pod.model import Declaration
from .declaration import parse_declaration
from .positions import in_order, located
from .reading import Source, for_plugin


def checked(source: Source) -> Declaration:
    """What a pods.yml declares.

    Raises :class:`DeclarationError` with everything that is wrong with it, and that can be said without any device.
    """
    problems: list[Problem] = for_plugin(source.document)
    try:
        declaration = parse_declaration(source.document)
    except DeclarationError as error:
        problems += [each for each in error.found if not problems or each.path != "plugin"]
    if problems or source.slips:
        # What follows from a slip is said once.
        slipped = {each.path for each in source.slips}
        others = [each for each in problems if each.path not in slipped]
        raise DeclarationError(in_order([*source.slips, *located(others, source.text, source.file)]))
    return declaration


def unplaced(declaration: Declaration, source: Source) -> list[Problem]:
    """What finds no place even in an empty pod, but for pins, which may be where a vPOD is already."""
    try:
        place(undamaged(declaration), {})
    except DeclarationError as error:
        found = [each for each in error.found if not each.path.endswith(".ipu_machines")]
        return in_order(located(found, source.text, source.file))
    return []
