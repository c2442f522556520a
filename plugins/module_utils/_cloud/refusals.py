# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused before anything in a cloud is touched, one sentence each. Pure."""

from __future__ import annotations

from typing import Collection, Iterator

from .._plan.steps import State
from .entities import (
    FLAVOR,
    IMAGE,
    NETWORK,
    PORT,
    PROJECT,
    SECURITY_GROUP,
    SERVER,
    TRAIT,
    VOLUME,
    Desired,
    Look,
    things,
)
from .found import Entity, Found
from .quotas import exceeded, too_small
from .room import flavors_too_large, machines_without_room
from .wanted import DEFAULT_DOMAIN, doubles, members_of

# A reference of a kind: its field and the kind that it names.
_REFERENCES = {PORT: (("security_groups", SECURITY_GROUP),), SERVER: (("volumes", VOLUME),)}


def refusals(desired: Desired, look: Look, wanted: State, found: Found, goes: Collection[Entity]) -> list[str]:
    """Everything that is wrong with some options in this cloud; ``goes`` is what goes first, perhaps to come again."""
    gone = {kind: [name for other, name in goes if other == kind] for kind in (NETWORK, SERVER)}
    making = {kind: _made(kind, wanted, found, goes) for kind in (VOLUME, SERVER)}
    going = {found.things[NETWORK, name]["id"] for name in gone[NETWORK]}
    return [
        *doubles(desired),
        *found.taken,
        *_users(desired, look),
        *_projects(wanted, found),
        *_vlans(look, wanted, found, going),
        *_hypervisors(look, wanted),
        *_machines(wanted, found),
        *flavors_too_large(desired, look, wanted),
        *machines_without_room(desired, look, wanted, found, making[SERVER], gone[SERVER]),
        *too_small(look, wanted, found),
        *exceeded(look, wanted, found, making, gone[SERVER]),
    ]


def _made(kind: str, wanted: State, found: Found, goes: Collection[Entity]) -> list[str]:
    """The names of what is to be made, or made again."""
    return [name for name in wanted[kind] if name not in found.state[kind] or (kind, name) in goes]


def _users(desired: Desired, look: Look) -> Iterator[str]:
    domains = {each["name"]: each.get("domain") or DEFAULT_DOMAIN for each in things(desired, PROJECT)}
    users = {(each["name"], each["domain"]) for each in look["users"]}
    roles = {each["name"] for each in look["roles"]}
    for member in members_of(desired, look):
        domain = domains.get(member["project"], DEFAULT_DOMAIN)
        is_operator = member["user"] == look["operator"]["user"]
        if not is_operator and (member["user"], domain) not in users:
            yield (
                f"user {member['user']}: Keystone has no such user in domain {domain}; create the user, or correct the "
                f"users of vPOD {member['vpod']}"
            )
        if member["role"] not in roles:
            yield f"role {member['role']}: Keystone has no such role; create it, or name one of {_listed(roles)}"


def _projects(wanted: State, found: Found) -> Iterator[str]:
    named = {
        fields["project"]: (kind, name)
        for kind in (SECURITY_GROUP, VOLUME, SERVER)
        for name, fields in wanted[kind].items()
    }
    named.update(
        {
            project: (kind, name)
            for kind in (NETWORK, FLAVOR)
            for name, fields in wanted[kind].items()
            for project in fields["projects"]
        }
    )
    for project, (kind, name) in named.items():
        if project not in wanted[PROJECT] and project not in found.projects:
            yield f"{kind} {name}: there is no project {project}; declare it in projects, or correct its name"


def _vlans(look: Look, wanted: State, found: Found, going: Collection[str]) -> Iterator[str]:
    ours = {thing["id"] for (kind, name), thing in found.things.items() if kind == NETWORK and name in wanted[NETWORK]}
    for name, fields in wanted[NETWORK].items():
        physical, vlan = fields["physical_network"], fields["vlan"]
        ranges = (look.get("vlan_ranges") or {}).get(physical)
        if ranges is not None and not any(first <= vlan <= last for first, last in ranges):
            listed = ", ".join(f"{first}-{last}" for first, last in ranges)
            yield (
                f"network {name}: VLAN {vlan} is outside of what Neutron has for physical network {physical}, {listed}"
                "; choose another VLAN for the vPOD, or widen network_vlan_ranges"
            )
        for other in things(look, NETWORK):
            same = (other["physical_network"], other["vlan"]) == (physical, vlan)
            if same and other["id"] not in ours and other["id"] not in going:
                yield (
                    f"network {name}: VLAN {vlan} of physical network {physical} is taken by network {other['name']} "
                    f"of project {other['project']}; choose another VLAN for the vPOD, or remove that network"
                )


def _hypervisors(look: Look, wanted: State) -> Iterator[str]:
    names = {each["name"] for each in look["hypervisors"]}
    for name, fields in wanted[TRAIT].items():
        for missing in sorted(set(fields["hypervisors"]) - names):
            yield (
                f"trait {name}: Nova has no hypervisor {missing}; it has {_listed(names)}; start nova-compute there, "
                "or correct the vPOD's poplar_servers"
            )


def _machines(wanted: State, found: Found) -> Iterator[str]:
    images, flavors, networks = (
        {each["name"] for each in found.of_all(kind)} | set(wanted[kind]) for kind in (IMAGE, FLAVOR, NETWORK)
    )
    for name, fields in wanted[SERVER].items():
        if fields["image"] not in images:
            yield f"server {name}: Glance has no image {fields['image']}; upload it, or declare its file in images"
        if fields["flavor"] not in flavors:
            yield f"server {name}: Nova has no flavor {fields['flavor']}; declare it in flavors"
    for name, fields in wanted[PORT].items():
        if fields["network"] not in networks:
            yield f"port {name}: Neutron has no network {fields['network']}; correct its name, or create it"
    for kind, references in _REFERENCES.items():
        for name, fields in wanted[kind].items():
            for field, other in references:
                for missing in sorted(set(fields[field]) - set(wanted[other])):
                    yield f"{kind} {name}: there is no {other} {missing}; declare it in {other}s"


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"
