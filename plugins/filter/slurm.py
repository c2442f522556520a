# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for the role slurm."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_files.vipu_config import administrator


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"slurm_administrator": administrator}
