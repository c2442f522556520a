# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The vPODs of a run: placement, teardown and bring-up, and the running work that they would end. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._desired.desired import desired
from .._desired.tenant_vlans import without_former_vlans
from .._placement.placement import Placement, place, unknown_places
from .._pod.devices import TOR, cluster_agents, devices_of
from .._pod.kinds import DeclarationError
from .._pod.model import Declaration
from .._pod.wording import meant, some
from .._vpods.changes import VpodChange, leaving_first, vpod_changes
from .._vpods.interruptions import Interruption, interruptions, refusals
from .._vpods.scope import Desired, of_vpods, only_declared
from .._vpods.strays import left_by, strays, vpods_reaching
from .._vpods.teardown import Held, bring_up, converged_servers, teardown
from .controller_steps import allocates_by_agents
from .looks import Look, part

Allocations = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Tenancy:
    """The vPODs of a run, and what every device should be for them."""

    declaration: Declaration  # what is wanted, without vPODs that the run leaves aside
    allocations: Allocations  # controller host to vPOD to the IPU-Machines that it has now
    placement: Placement  # vPOD to the IPU-Machines that it is to have
    changes: Mapping[str, VpodChange]  # vPOD to what becomes of it
    impact: Sequence[Interruption]  # what somebody may feel
    held: Held  # what the controllers hold
    teardown: Desired  # what the devices concerned should be before the vPODs come up
    converged: Sequence[str]  # the Poplar servers that need nothing more after that
    wanted: Desired  # what every device should be in the end
    bring_up: Desired  # what is left of that after the teardown
    owned: Mapping[str, Any]  # all that is ours on the ToR switches, also what the run leaves aside
    # The IPU-Machines of which a controller chooses, as it cannot be told where new allocations are to lie.
    choosable: frozenset[str]


def tenancy_of(
    declaration: Declaration,
    controllers: Held,
    looks: Mapping[str, Look],
    only: Sequence[str] | None = None,
    allowed: Collection[str] = (),
) -> Tenancy:
    """Return placement, teardown, bring-up and impact of the vPODs.

    ``controllers`` maps hosts to what the V-IPU controllers there hold, without those that were not read. The run is
    about the vPODs of ``only`` (None: all), and may interrupt those of ``allowed``. Raises :class:`DeclarationError` if
    a vPOD is not known or finds no place, or where one lies cannot be known.
    """
    allocations: Allocations = {
        host: {name: fields["agents"] for name, fields in (names.get("allocations") or {}).items()}
        for host, names in controllers.items()
    }
    if only is not None:
        known(declaration, only)
        there = {name for names in allocations.values() for name in names}
        declaration = only_declared(declaration, only, there)
    problems = unknown_places(declaration, allocations)
    if problems:
        raise DeclarationError(problems)
    placement = place(declaration, allocations, allowed)
    changes = vpod_changes(declaration, allocations, placement)
    seen = switches_seen(looks)
    reached = vpods_reaching(declaration, seen)
    astray = strays(declaration, placement, reached)
    wanted = desired(declaration, placement, astray)
    owned = without_former_vlans(declaration, wanted["tor_switches"], _with_saved_vlans(seen, looks))
    wanted["tor_switches"] = owned
    for options in wanted["clouds"].values():
        options["allow_interruption"] = sorted(allowed)
    if only is not None:
        changes = {name: change for name, change in changes.items() if name in only}
        wanted = of_vpods(wanted, declaration, changes, left_by(declaration, placement, astray, only))
    choosable = _choosable(declaration, changes, looks)
    first = leaving_first(changes, allocations, reached, astray, choosable)
    torn_down = teardown(declaration, changes, placement, wanted, controllers, seen, first)
    return Tenancy(
        declaration=declaration,
        allocations=allocations,
        placement=placement,
        changes=changes,
        impact=interruptions(declaration, changes, wanted, controllers, seen),
        held=controllers,
        teardown=torn_down,
        converged=converged_servers(wanted, torn_down),
        wanted=wanted,
        bring_up=bring_up(wanted, torn_down),
        owned=owned,
        choosable=choosable,
    )


def _choosable(
    declaration: Declaration, changes: Mapping[str, VpodChange], looks: Mapping[str, Look]
) -> frozenset[str]:
    made = [declaration.vpods[name] for name, change in changes.items() if change.makes_allocation]
    clusters = {
        vpod.cluster
        for vpod in made
        for look in [looks.get(declaration.controller_of(vpod).host_name)]
        if part(look, "controllers") and not allocates_by_agents(look)
    }
    return frozenset(name for cluster in clusters for name in cluster_agents(declaration, cluster))


def refused_interruptions(tenancy: Tenancy, looks: Mapping[str, Look], allowed: Collection[str]) -> list[str]:
    """Whose running work the run would end although nobody allowed it, one sentence each."""
    used = {host: each["in_use"] for host, look in looks.items() for each in [part(look, "use")] if each is not None}
    return [f"it would end what runs: {each}" for each in refusals(tenancy.impact, used, allowed)]


def switches_seen(looks: Mapping[str, Look]) -> dict[str, Any]:
    """Switch to what was read of its ports and VLANs."""
    return {host: info for host, look in looks.items() for info in [part(look, "info")] if info and "ports" in info}


def _with_saved_vlans(seen: Mapping[str, Any], looks: Mapping[str, Look]) -> dict[str, Any]:
    """The switches with the VLANs that a reload would bring back, too."""
    saved = {host: (part(looks[host], "startup_config") or {}).get("vlans", []) for host in seen}
    return {host: {**info, "vlans": [*info["vlans"], *saved[host]]} for host, info in seen.items()}


def known(declaration: Declaration, names: Sequence[str]) -> None:
    """See to it that vPODs are declared; raises :class:`DeclarationError` if one is not."""
    declared = [*declaration.vpods, *declaration.absent]
    for name in names:
        if name not in declared:
            which = f"{meant(name, declared)}, which has {some(declared)}"
            raise DeclarationError([f"vpods_only: {name!r} is no vPOD of pods.yml{which}"])


def hosts_of(declaration: Declaration, names: Sequence[str]) -> list[str]:
    """The devices that a run on some vPODs looks at: servers, controllers, switches of their clusters, and clouds."""
    known(declaration, names)
    vpods, devices = {**declaration.absent, **declaration.vpods}, devices_of(declaration).values()
    found: dict[str, None] = {}
    for name in names:
        controllers = (declaration.controller_of(vpods[name]).host_name, declaration.dedicated_host(vpods[name]))
        found.update(dict.fromkeys((*vpods[name].poplar_servers, *controllers)))
        pods = declaration.clusters[vpods[name].cluster].pods
        found.update({each.name: None for each in devices if each.kind == TOR and each.pod in pods})
        found.update({cloud: None for cloud in declaration.clouds if vpods[name] in declaration.vpods_in(cloud)})
    return list(found)
