# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception for everything that a person can put right."""

from __future__ import annotations


class FloorError(Exception):
    """One sentence for a person: what is wrong, where, and what would be right."""
