# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of ``ipu.pod.cloud_state`` as a state: by kind and name, with the ports and keys of servers. Pure."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

from .._plan.steps import Fields, State
from .entities import (
    ACTIVE,
    ADMIN_ROLE,
    DECLARED,
    FLAVOR,
    IMAGE,
    KEY,
    KINDS,
    MEMBER,
    MEMBER_ROLE,
    NETWORK,
    NORMAL,
    OF_COMPUTE,
    OF_STORAGE,
    PORT,
    PROJECT,
    QUOTA,
    SECURITY_GROUP,
    SERVER,
    SUBNET,
    TRAIT,
    VOLUME,
    Desired,
    Look,
    Thing,
    fields_in,
    is_of_controller,
    key_name,
    member_name,
    plural,
    port_name,
    things,
)

QUOTAS = (*OF_COMPUTE, *OF_STORAGE)
DEFAULT_DOMAIN = "Default"


def vpods_of(desired: Desired) -> set[str]:
    """The vPODs that the options are about: what is marked with them and not wanted goes."""
    named = {thing["vpod"] for kind in DECLARED for thing in things(desired, kind) if thing.get("vpod")}
    return named | set(absent_vpods(desired))


def absent_vpods(desired: Desired) -> list[str]:
    """The vPODs of which nothing is to stay."""
    return list(desired.get("absent_vpods") or [])


def members_of(desired: Desired, look: Look) -> list[Thing]:
    """The declared role assignments, and the operator's own in projects where the run makes volumes and servers."""
    declared = things(desired, MEMBER)
    operator = look["operator"]["user"]
    taken = {(each["project"], each["user"]) for each in declared}
    projects = dict.fromkeys(
        (each["project"], each["vpod"]) for kind in (VOLUME, SERVER) for each in things(desired, kind)
    )
    return declared + [
        {
            "project": project,
            "user": operator,
            "role": ADMIN_ROLE if is_of_controller(vpod) else MEMBER_ROLE,
            "vpod": vpod,
        }
        for project, vpod in projects
        if (project, operator) not in taken and project != look["operator"]["project"]
    ]


def wanted(desired: Desired, look: Look) -> State:
    """The wanted fields of everything; a field that is left out is the cloud's choice or stays what it is."""
    servers = things(desired, SERVER)
    return {
        PROJECT: {each["name"]: _project(each) for each in things(desired, PROJECT)},
        MEMBER: {
            member_name(each["user"], each["role"], each["project"]): fields_in(each, "project", "user", "role")
            for each in members_of(desired, look)
        },
        QUOTA: {each["project"]: fields_in(each, *QUOTAS) for each in things(desired, QUOTA)},
        NETWORK: {each["name"]: _network(each) for each in things(desired, NETWORK)},
        SUBNET: {
            each["name"]: {
                **fields_in(each, "vpod", "network", "cidr"),
                "pools": sorted(each.get("pools") or []),
                "tagged": True,
            }
            for each in things(desired, SUBNET)
        },
        SECURITY_GROUP: {
            each["name"]: {
                **fields_in(each, "vpod", "project"),
                "rules": in_order(each.get("rules") or []),
                "tagged": True,
            }
            for each in things(desired, SECURITY_GROUP)
        },
        FLAVOR: {each["name"]: _flavor(each) for each in things(desired, FLAVOR)},
        TRAIT: {each["name"]: {"hypervisors": sorted(each["hypervisors"])} for each in things(desired, TRAIT)},
        IMAGE: {each["name"]: fields_in(each, "disk_format", "sha512") for each in things(desired, IMAGE)},
        KEY: {key_name(each["vpod"], each["key"]): {"vpod": each["vpod"]} for each in servers if each.get("key")},
        PORT: {name: port for each in servers for name, port in _ports(each)},
        VOLUME: {each["name"]: fields_in(each, "vpod", "project", "size") for each in things(desired, VOLUME)},
        SERVER: {each["name"]: _server(each) for each in servers},
    }


def doubles(desired: Desired) -> list[str]:
    """One sentence for everything that is declared twice."""
    found = []
    for kind in DECLARED:
        names = [_declared_name(kind, each) for each in things(desired, kind)]
        found += [
            f"{plural(kind)}: {name} is declared twice; keep one"
            for name in sorted({name for name in names if names.count(name) > 1})
        ]
    ports = [name for each in things(desired, SERVER) for name, _port in _ports(each)]
    return found + [
        f"servers: two ports would be called {name}; give a machine one port on each network"
        for name in sorted({name for name in ports if ports.count(name) > 1})
    ]


def in_order(rules: Iterable[Mapping[str, Any]]) -> list[Fields]:
    """The rules of a security group, of which the order says nothing, in one order."""
    plain = [{field: str(rule[field]) for field in ("protocol", "port", "remote")} for rule in rules]
    return sorted(plain, key=lambda rule: tuple(rule.values()))


def as_texts(extra_specs: Mapping[str, Any]) -> Fields:
    """Extra specs as Nova has them."""
    return {name: str(value) for name, value in sorted(extra_specs.items())}


def kinds() -> State:
    """A state without anything."""
    return {kind: {} for kind in KINDS}


def _declared_name(kind: str, thing: Thing) -> str:
    if kind == MEMBER:
        return member_name(thing["user"], thing["role"], thing["project"])
    return str(thing["project"] if kind == QUOTA else thing["name"])


def _project(thing: Thing) -> Fields:
    return {"domain": thing.get("domain") or DEFAULT_DOMAIN, **fields_in(thing, "description", "vpod")}


def _network(thing: Thing) -> Fields:
    shared = [thing["project"]] if thing.get("project") else []
    return {**fields_in(thing, "vpod", "physical_network", "vlan", "mtu"), "projects": shared, "tagged": True}


def _flavor(thing: Thing) -> Fields:
    return {
        **fields_in(thing, "vpod", "vcpus", "ram", "disk"),
        "extra_specs": as_texts(thing.get("extra_specs") or {}),
        "projects": [thing["project"]],
    }


def _ports(server: Thing) -> Iterable[tuple[str, Fields]]:
    for port in server.get("ports") or []:
        fields = {**fields_in(server, "vpod", "project"), **fields_in(port, "network", "address")}
        yield (
            port_name(server["name"], port["network"]),
            {
                **fields,
                "security_groups": sorted(port.get("security_groups") or []),
                "vnic_type": port.get("vnic_type") or NORMAL,
                "tagged": True,
            },
        )


def _server(thing: Thing) -> Fields:
    key = thing.get("key")
    return {
        **fields_in(thing, "vpod", "project", "flavor", "image"),
        "key": key_name(thing["vpod"], key) if key else "",
        "ports": sorted(name for name, _port in _ports(thing)),
        "volumes": sorted(thing.get("volumes") or []),
        "status": ACTIVE,
    }
