# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The attributes of the collection's modules. Private to the collection."""

from __future__ import annotations


class ModuleDocFragment:
    """Each module only states how far it supports an attribute."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and tell truthfully what would change, without changing anything.
  diff_mode:
    description: Returns what changed, or in C(check_mode) what would change, per field in diff format.
  idempotent:
    description: When run a second time with the same options and nothing changed meanwhile, reports no change.
"""
