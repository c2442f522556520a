# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for capacity.yml: what is free, what fits, and what people read of it."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.capacity import capacity
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.schema import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._review.capacity_table import capacity_table_of


def capacity_of(declaration: Any, allocations: Any, ipus: Any = 0, cluster: str = "") -> dict[str, Any]:
    """What is free in the clusters, and whether so many IPUs fit."""
    agents = {host: {name: fields["agents"] for name, fields in names.items()} for host, names in allocations.items()}
    # An extra variable is a text.
    if not str(ipus).isdecimal():
        raise AnsibleFilterError(f"ipus: {ipus!r} is no number of IPUs; give one such as 32")
    try:
        return capacity(parse_declaration(declaration), agents, int(ipus), cluster)
    except DeclarationError as error:
        raise AnsibleFilterError("; ".join(error.problems)) from None


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"capacity": capacity_of, "capacity_table": capacity_table_of}
