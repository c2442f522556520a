# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for playbooks: where the vPODs lie, and what every device should be."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.degraded import undamaged, unmade_clusters
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place, unknown_places
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.keepers import keepers
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.schema import DeclarationError


def desired_of(declaration: Any, allocations: Any, guess: bool = False) -> Any:
    """What every device should be, given the declaration and what is allocated now, or where vPODs may lie."""
    agents = {host: {name: fields["agents"] for name, fields in names.items()} for host, names in allocations.items()}
    try:
        parsed = parse_declaration(declaration)
        if guess:
            return desired(parsed, place(undamaged(parsed), agents))
        problems = unknown_places(parsed, agents)
        if problems:
            raise DeclarationError(problems)
        return desired(parsed, place(parsed, agents))
    except DeclarationError as error:
        raise AnsibleFilterError("; ".join(error.problems)) from None


def problems_of(declaration: Any) -> list[str]:
    """Everything that is wrong with a declaration, one sentence each; empty for a good one."""
    try:
        parsed = parse_declaration(declaration)
        place(undamaged(parsed), {})
    except DeclarationError as error:
        return error.problems
    return []


def unmade_clusters_of(declaration: Any, hosts: Any, names: Any) -> list[str]:
    """Which clusters cannot be made because of IPU-Machines that are excluded; ``names`` are those of controllers."""
    read = {
        str(name): hosts[name].get("preflight_controller") for name in names if "preflight_allocations" in hosts[name]
    }
    agents = {name: answer.get("agents") or {} for name, answer in read.items() if answer}
    return unmade_clusters(parse_declaration(declaration), agents)


def keepers_of_hosts(declaration: Any, hosts: Any) -> Any:
    """Where the locks of the pods are that a run on these hosts may change."""
    try:
        return keepers(parse_declaration(declaration), list(hosts))
    except DeclarationError as error:
        raise AnsibleFilterError("; ".join(error.problems)) from None


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "desired": desired_of,
            "keepers": keepers_of_hosts,
            "problems": problems_of,
            "unmade_clusters": unmade_clusters_of,
        }
