# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The exceptions for a person: what can be put right, and what this host cannot have at all."""

from __future__ import annotations


class FloorError(Exception):
    """One sentence for a person: what is wrong, where, and what would be right."""


class Unavailable(FloorError):
    """One sentence for a person: what nobody can install on this host, and why."""
