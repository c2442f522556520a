# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that compares a backup of a V-IPU controller's storage with the storage and the agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.plugin_utils._controller_storage import (
    NotStorage,
    differences,
    partitions_held,
    storage_from,
)


def storage_differences(backup: str, now: str, exporters: Mapping[str, str], metric: str) -> list[str]:
    """Return what a restore of ``backup`` would change, as sentences."""
    held = {str(agent): partitions_held(str(text), metric) for agent, text in exporters.items()}
    try:
        return differences(storage_from(backup, "the backup"), _readable(now), held)
    except NotStorage as error:
        raise AnsibleFilterError(str(error)) from None


def _readable(now: str) -> dict[str, Any]:
    """The storage as it is; a damaged one, which may be why somebody restores, is an empty one."""
    try:
        return storage_from(now, "the storage")
    except NotStorage:
        return {}


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"storage_differences": storage_differences}
