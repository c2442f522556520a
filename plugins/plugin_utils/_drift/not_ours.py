# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Undeclared things of tenants, Slurm or others on the devices. They are no drift. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.settings import PORT_DEFAULTS
from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import port_name
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS, PARTITION, USER, plural

from .._pod.model import OF_A_JOB, is_of_a_job
from .._pod.switches import EXTERNAL

Listed = dict[str, str]

# Every switch has it.
DEFAULT_VLAN = 1


def not_ours_on_controllers(desired: Mapping[str, Any], held: Mapping[str, Mapping[str, Any]]) -> list[Listed]:
    """Entities that pods.yml does not declare; ``held`` maps controller hosts to what vipu_info returned."""
    ours = {(host, kind): {each["name"] for each in desired[host][plural(kind)]} for host in held for kind in KINDS}
    return [
        {"device": host, "kind": kind, "name": name, "owner": _owner_of_entity(kind, name, fields)}
        for host, entities in held.items()
        for kind in KINDS
        for name, fields in (entities.get(plural(kind)) or {}).items()
        if name not in ours[host, kind]
    ]


def _owner_of_entity(kind: str, name: str, fields: Mapping[str, Any]) -> str:
    if is_of_a_job(kind, name):
        return OF_A_JOB
    if kind == PARTITION:
        return f"a tenant of allocation {fields.get('allocation') or '(none)'}, pods.yml does not declare it"
    if kind == USER and fields.get("admin"):
        return "an administrator, pods.yml does not declare them"
    return "somebody who made it on the controller, pods.yml does not declare it"


def not_ours_on_switches(desired: Mapping[str, Any], gathered: Mapping[str, Mapping[str, Any]]) -> list[Listed]:
    """VLANs and ports that pods.yml leaves to others; ``gathered`` is what tor_switch returned as such."""
    return [entry for switch, found in gathered.items() for entry in _on_switch(switch, desired[switch], found)]


def _on_switch(switch: str, desired: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[Listed]:
    vlans = {each["vlan_id"] for each in desired["vlans"]}
    ports = {port_name(each["name"]): each for each in desired["ports"]}
    for vlan in found["vlans"]:
        if vlan["vlan_id"] not in vlans and vlan["vlan_id"] != DEFAULT_VLAN:
            owner = f"somebody who calls it {vlan.get('name') or 'nothing'}, pods.yml does not declare it"
            yield {"device": switch, "kind": "vlan", "name": str(vlan["vlan_id"]), "owner": owner}
    for port in found["ports"]:
        owner = _owner_of_port(port, ports.get(port_name(port["name"])))
        if owner:
            yield {"device": switch, "kind": "port", "name": port["name"], "owner": owner}


def _owner_of_port(port: Mapping[str, Any], declared: Mapping[str, Any] | None) -> str:
    """Whose a port is; empty for ours, and for one that nobody has configured."""
    described = f", described as {port['description']!r}" if port.get("description") else ""
    if declared is not None:
        return f"external, as pods.yml says{described}" if declared.get("owner") == EXTERNAL else ""
    if port.get("owner") == EXTERNAL:
        return f"somebody who made it what this collection does not configure{described}"
    differs = any(port.get(field, default) != default for field, default in PORT_DEFAULTS.items())
    return f"somebody who configured it, pods.yml does not declare it{described}" if differs else ""
