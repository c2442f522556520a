# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The attributes of the collection's modules. Private to the collection."""

from __future__ import annotations

_ATTRIBUTES = r"""
attributes:
  check_mode:
    description: Can run in C(check_mode) and tell truthfully what would change, without changing anything.
    support: full
  idempotent:
    description: When run a second time with the same options and nothing changed meanwhile, reports no change.
    support: full
  diff_mode:
    description: Returns what changed, or in C(check_mode) what would change, per field in diff format.
"""


class ModuleDocFragment:
    """Of modules that change something, and of those that only read. A module states only how it deviates."""

    DOCUMENTATION: str = _ATTRIBUTES + "    support: full\n"
    READS: str = _ATTRIBUTES + "    support: none\n    details: Changes nothing.\n"
