# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions of V-IPU entities with each other, with agents, and with VLANs of switches. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from .gathered_rack import Fields, Finding, Rack

UP = "up"


def entity_findings(rack: Rack, controllers: Mapping[str, Fields], without: Collection[str] = ()) -> Iterator[Finding]:
    """What is wrong with agents, allocations, partitions and users, some of whom are to be ``without`` allocations."""
    for host, held in controllers.items():
        yield from _agents(rack, host, held)
        yield from _allocations(rack, host, held)
        yield from _orphans(host, held, without)


def _agents(rack: Rack, host: str, held: Fields) -> Iterator[Finding]:
    clustered = {agent for cluster in held.get("clusters", {}).values() for agent in cluster["agents"]}
    for name, agent in held.get("agents", {}).items():
        machine = rack.machine_of(name, agent)
        if name not in clustered:
            yield Finding(
                machine,
                f"agent {name} is registered at {host}, but no cluster of {host} has it",
                f"Make a cluster with it, or remove it: vipu-admin remove agent {name}.",
            )
        if agent["status"].lower() != UP:
            yield Finding(
                machine,
                f"agent {name} is {agent['status']}, says {host}",
                f"Look at the IPU-Machine at {agent['host']}; what lies on it does not run.",
            )
        elif agent["version"] and held.get("release") and agent["version"] != held["release"]:
            yield Finding(
                machine,
                f"agent {name} is of release {agent['version']}, but the controller {host} of {held['release']}",
                "Bring both to one release.",
            )


def _allocations(rack: Rack, host: str, held: Fields) -> Iterator[Finding]:
    agents = held.get("agents", {})
    for name, allocation in held.get("allocations", {}).items():
        if allocation["cluster"] not in held.get("clusters", {}):
            yield Finding(
                host,
                f"allocation {name} lies in cluster {allocation['cluster']}, which {host} does not have",
                f"Remove it: vipu-admin remove allocation {name}.",
            )
        vlans: dict[int, list[str]] = {}
        for agent in allocation["agents"]:
            device = rack.devices.get(rack.machine_of(agent, agents.get(agent, {})))
            port = rack.first_port(device) if device else None
            if device and port and port.untagged is not None:
                vlans.setdefault(port.untagged, []).append(f"{port.name} ({device.name})")
        if len(vlans) > 1:
            usual, *others = sorted(vlans, key=lambda vlan: -len(vlans[vlan]))
            strays = "; ".join(f"{', '.join(vlans[vlan])} in VLAN {vlan}" for vlan in others)
            yield Finding(
                host,
                f"allocation {name} of {host} lies across VLANs: {strays}; all else in VLAN {usual}",
                f"Put those ports into VLAN {usual}.",
            )


def _orphans(host: str, held: Fields, without: Collection[str]) -> Iterator[Finding]:
    allocations = held.get("allocations", {})
    for name, partition in held.get("partitions", {}).items():
        if partition["allocation"] not in allocations:
            where = f"allocation {partition['allocation']}" if partition["allocation"] else "no allocation"
            known = "which is not there" if partition["allocation"] else "so that it is nobody's"
            yield Finding(
                host,
                f"partition {name} of {host} lies in {where}, {known}",
                f"Ask who uses it, then remove it: vipu-admin remove partition {name}.",
            )
    for name, user in held.get("users", {}).items():
        lost = [each for each in user["allocations"] if each not in allocations]
        if user["admin"] or (not lost and (user["allocations"] or name in without)):
            continue
        what = f"may use {', '.join(lost)}, of which there is no allocation" if lost else "may use no allocation"
        yield Finding(
            host,
            f"user {name} of {host} {what}",
            f"Grant an allocation to them, or remove them: vipu-admin remove user {name}.",
        )
