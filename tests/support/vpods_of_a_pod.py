# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod with vPODs as it is and as it shall be, for the tests of what becomes of them."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import Tenancy, tenancy_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration

ALICE = {"cluster": "c", "ipus": 16, "vlan": 101, "poplar_servers": ["p-poplar1"], "users": ["alice"]}
BOB = {"cluster": "c", "ipus": 8, "vlan": 102, "poplar_servers": ["p-poplar2"], "users": ["bob"]}

# Its users have no allocation; Slurm's jobs have.
JOBS = {
    "cluster": "c",
    "ipus": 16,
    "vlan": 110,
    "poplar_servers": ["p-poplar3"],
    "users": ["ops"],
    "allocation": "jobs",
    "ipu_machines": [f"p-ipum{number}" for number in range(13, 17)],
}


def machines(first: int, last: int) -> list[str]:
    return [f"p-ipum{number}" for number in range(first, last + 1)]


def document(vpods: dict[str, Any], **pod: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64", "poplar_servers": 4, "vlans": {"quarantine": 999}, **pod}},
        "controllers": {"v": {"address": "10.1.3.200", "mode": "secure"}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": vpods,
    }


def held(partitions: dict[str, str] | None = None, users: Any = None, **allocations: list[str]) -> dict[str, Any]:
    """A controller's contents: partition to its allocation, user to allocations, allocation to its machines."""
    granted = {name: [name] for name in allocations} if users is None else users
    return {
        "v": {
            "allocations": {name: {"agents": agents} for name, agents in allocations.items()},
            "users": {name: {"allocations": names} for name, names in granted.items()},
            "partitions": {
                name: {"allocation": allocation, "status": "ACTIVE"} for name, allocation in (partitions or {}).items()
            },
        }
    }


def seen(**ports: tuple[int, str]) -> dict[str, Any]:
    """A switch's state: port number to its VLAN and that one's name."""
    vlans = dict(ports.values())
    return {
        "p-tor": {
            "vlans": [{"vlan_id": vlan, "name": name} for vlan, name in vlans.items()],
            "ports": [
                {"name": f"Ethernet{port[1:]}/1", "mode": "access", "vlan": vlan} for port, (vlan, _) in ports.items()
            ],
            "qos": {"dscp_to_traffic_class": {}, "profiles": []},
        }
    }


def planned(
    vpods: dict[str, Any], there: Any, on_switch: Any = None, only: Any = None, allowed: Any = (), **pod: Any
) -> Tenancy:
    return tenancy_of(parse_declaration(document(vpods, **pod)), there, looks_of(on_switch or {}), only, allowed)


def looks_of(switches: dict[str, Any]) -> dict[str, Any]:
    """Looks at switches in which these ports and VLANs were read."""
    return {name: {"outcome": "answered", "parts": {"info": info}} for name, info in switches.items()}
