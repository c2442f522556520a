# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the hypervisors of vPODs can hold their machines, by what Placement says of them. Pure."""

from __future__ import annotations

from typing import Any, Collection, Dict, Iterator, Mapping

from .._plan.steps import Fields, State
from .entities import FLAVOR, SERVER, TRAIT, Desired, Look, Thing, things
from .found import Found

# What Placement calls what a flavor needs, and how a person says it.
CPUS, PINNED_CPUS, MEMORY, DISK = "VCPU", "PCPU", "MEMORY_MB", "DISK_GB"
_WORDS = {CPUS: "{} CPUs", PINNED_CPUS: "{} dedicated CPUs", MEMORY: "{} MiB of memory", DISK: "{} GiB of disk"}
_DEDICATED = ("hw:cpu_policy", "dedicated")

# Resource to how much of it.
Amounts = Dict[str, int]


def flavors_too_large(desired: Desired, look: Look, wanted: State) -> Iterator[str]:
    """One sentence for each flavor that needs more than each hypervisor has that its vPOD may use, were it empty."""
    for name, fields in wanted[FLAVOR].items():
        needs = _needs(fields)
        known = [each for each in _hypervisors_of(desired, look, fields["vpod"]) if each.get("resources")]
        lacking = {each["name"]: _lacking(needs, _amounts(each, "largest")) for each in known}
        if known and all(lacking.values()):
            nearest = min(known, key=lambda each: len(lacking[each["name"]]))
            lacks = lacking[nearest["name"]]
            yield (
                f"flavor {name}: it needs {_said(lacks, needs)}, and fits on no hypervisor of vPOD "
                f"{fields['vpod']}: {nearest['name']} has {_said(lacks, _amounts(nearest, 'largest'))}; make the "
                "machine smaller, or have Nova offer more there"
            )


def machines_without_room(
    desired: Desired, look: Look, wanted: State, found: Found, making: Collection[str], going: Collection[str]
) -> Iterator[str]:
    """One sentence for each vPOD whose hypervisors cannot hold the machines that are to be made there.

    Args:
        making: the names of the servers that are to be made.
        going: the names of those that go before that.
    """
    free = _free(look, found, going)
    of_vpods: dict[str, list[Amounts]] = {}
    for name in making:
        flavor = wanted[FLAVOR].get(wanted[SERVER][name]["flavor"])
        if flavor is not None:
            of_vpods.setdefault(wanted[SERVER][name]["vpod"], []).append(_needs(flavor))
    for vpod, machines in of_vpods.items():
        hosts = [each["name"] for each in _hypervisors_of(desired, look, vpod)]
        if not hosts or not all(name in free for name in hosts):
            continue
        placed = sum(_place(needs, hosts, free) for needs in machines)
        if placed < len(machines):
            yield (
                f"servers of vPOD {vpod}: {', '.join(hosts)} has room for {placed} of the "
                f"{len(machines)} that are to be made, with {_said(machines[0], machines[0])} each; declare fewer or "
                "smaller machines, or have somebody make room"
            )


def _hypervisors_of(desired: Desired, look: Look, vpod: str) -> list[Thing]:
    named = {name for each in things(desired, TRAIT) if each["vpod"] == vpod for name in each["hypervisors"]}
    return [each for each in look["hypervisors"] if each["name"] in named]


def _free(look: Look, found: Found, going: Collection[str]) -> dict[str, Amounts]:
    """Hypervisor to what is free there once some servers are gone; without those that Placement does not know."""
    free = {each["name"]: _amounts(each, "free") for each in look["hypervisors"] if each.get("resources")}
    flavors = {each["name"]: each for each in things(look, FLAVOR)}
    for name in going:
        server = found.things[SERVER, name]
        flavor, here = flavors.get(server["flavor"]), free.get(server.get("hypervisor", ""))
        if flavor is not None and here is not None:
            for resource, amount in _needs(flavor).items():
                here[resource] = here.get(resource, 0) + amount
    return free


def _place(needs: Amounts, hosts: list[str], free: dict[str, Amounts]) -> bool:
    """Take room for a machine on the first hypervisor that has it."""
    for host in hosts:
        if not _lacking(needs, free[host]):
            free[host] = {name: amount - needs.get(name, 0) for name, amount in free[host].items()}
            return True
    return False


def _needs(flavor: Fields) -> Amounts:
    name, value = _DEDICATED
    cpus = PINNED_CPUS if flavor["extra_specs"].get(name) == value else CPUS
    return {cpus: flavor["vcpus"], MEMORY: flavor["ram"], DISK: flavor["disk"]}


def _amounts(hypervisor: Mapping[str, Any], which: str) -> Amounts:
    return {name: resource[which] for name, resource in hypervisor["resources"].items()}


def _lacking(needs: Amounts, there: Amounts) -> list[str]:
    """The resources of which there is not enough. Where a disk is elsewhere, a hypervisor has none of its own."""
    return [name for name, amount in needs.items() if amount > there.get(name, amount if name == DISK else 0)]


def _said(names: Collection[str], amounts: Amounts) -> str:
    return " and ".join(_WORDS[name].format(amounts.get(name, 0)) for name in names)
