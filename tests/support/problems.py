# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a document, whether it contradicts itself or finds no place in an empty pod."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.degraded import undamaged
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError, Problem


def problems_of(document: Any) -> list[Problem]:
    """Empty for one that is good."""
    try:
        place(undamaged(parse_declaration(document)), {})
    except DeclarationError as error:
        return error.found
    return []
