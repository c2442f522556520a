# Copyright (c) The ipu.pod authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core for the life of vPODs: what becomes of each, what that takes, and why it is refused."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS, plural
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.tenant_vlans import without_former_vlans
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place, unknown_places
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration, Vpod
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.schema import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._vpods.changes import vpod_changes
from ansible_collections.ipu.pod.plugins.plugin_utils._vpods.devices import of_vpods, only_declared
from ansible_collections.ipu.pod.plugins.plugin_utils._vpods.interruptions import (
    Interruption,
    interruptions,
    refusals,
    strays,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._vpods.lowering import lowering, raised, settled_servers


def vpod_plan(declaration: Any, held: Any, seen: Any, only: Any = None, told: Any = ()) -> dict[str, Any]:
    """What becomes of the vPODs, and what every device concerned should be, before and after they come up."""
    allocations = {host: _agents(names.get("allocations") or {}) for host, names in held.items()}
    try:
        parsed = parse_declaration(declaration)
        if only is not None:
            _known(parsed, "vpods_only", only)
            parsed = only_declared(parsed, only, {name for names in allocations.values() for name in names})
        problems = unknown_places(parsed, allocations)
        if problems:
            raise DeclarationError(problems)
        placement = place(parsed, allocations, told)
    except DeclarationError as error:
        raise AnsibleFilterError("; ".join(error.problems)) from None
    changes = vpod_changes(parsed, allocations, placement)
    wanted = desired(parsed, placement)
    wanted["tor_switches"] = without_former_vlans(parsed, wanted["tor_switches"], seen)
    if only is not None:
        changes = {name: change for name, change in changes.items() if name in only}
        wanted = of_vpods(wanted, parsed, changes, strays(parsed, placement, wanted, seen, only))
    lowered = lowering(parsed, changes, placement, wanted, held, seen)
    return {
        "changes": {
            name: {**asdict(change), "words": str(change), "goes_down": change.goes_down}
            for name, change in changes.items()
        },
        "interruptions": [asdict(one) for one in interruptions(parsed, changes, wanted, held, seen)],
        "lowering": lowered,
        "settled": settled_servers(wanted, lowered),
        "wanted": wanted,
        "desired": raised(wanted, lowered),
    }


def vpod_hosts(declaration: Any, names: Any) -> list[str]:
    """The Poplar servers and the controllers of some vPODs."""
    parsed = parse_declaration(declaration)
    vpods = {**parsed.absent, **parsed.vpods}
    try:
        _known(parsed, "vpods_only", names)
    except DeclarationError as error:
        raise AnsibleFilterError("; ".join(error.problems)) from None
    hosts = [host for name in names for host in (*vpods[name].poplar_servers, _controller(parsed, vpods[name]))]
    return list(dict.fromkeys(hosts))


def held_by(hosts: Any, groups: Any) -> dict[str, Any]:
    """What the preflight has read of the V-IPU controllers; None for what it could not read."""
    return {
        str(name): {
            "allocations": hosts[name]["preflight_allocations"],
            **hosts[name]["preflight_tenants"],
            "dedicated": _dedicated(hosts[name].get("preflight_dedicated")),
        }
        for name in groups["vipu_controllers"]
        if "preflight_allocations" in hosts[name]
    }


def _dedicated(answers: Any) -> dict[str, Any] | None:
    """vPOD to what its dedicated controller holds; None for one that does not say, or where nobody has asked."""
    if answers is None:
        return None
    return {name: answer and {plural(kind): answer[plural(kind)] for kind in KINDS} for name, answer in answers.items()}


def seen_switches(hosts: Any, groups: Any) -> dict[str, Any]:
    """What the preflight has read of the ToR switches; those that it did not read are missing."""
    answers = {str(name): hosts[name].get("preflight_switch") or {} for name in groups["tor_switches"]}
    return {name: answer for name, answer in answers.items() if "ports" in answer}


def vpod_refusals(felt: Any, uses: Any, told: Any) -> list[str]:
    """Why a run must not go on, one sentence for each vPOD whose work it would end."""
    return refusals([Interruption(**one) for one in felt], uses, told)


def _agents(allocations: Any) -> dict[str, Any]:
    return {name: fields["agents"] for name, fields in allocations.items()}


def _controller(parsed: Declaration, vpod: Vpod) -> str:
    return parsed.controller_of(vpod).host_name


def _known(parsed: Declaration, variable: str, names: Any) -> None:
    declared = [*parsed.vpods, *parsed.absent]
    for name in names:
        if name not in declared:
            raise DeclarationError([f"{variable}: {name!r} is no vPOD of pods.yml, which has {', '.join(declared)}"])


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "held": held_by,
            "seen_switches": seen_switches,
            "vpod_hosts": vpod_hosts,
            "vpod_plan": vpod_plan,
            "vpod_refusals": vpod_refusals,
        }
