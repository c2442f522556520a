# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A declared thing that does not work, although it is configured as declared. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One such thing of a device. No step puts it right: the remedy is for a person."""

    kind: str  # as of a step
    name: str
    finding: str  # what is wrong
    remedy: str  # what a person is to do
