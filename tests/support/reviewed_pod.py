# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A declared pod and plans of it, for what shows them."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._plan_page.rack import rack_of

# What everybody can write into the description of a port or into a file's name.
HOSTILE = "<script>alert('1')</script>\"&|@all{{ 7*7 }}"


def declared(pods: int = 1) -> dict[str, Any]:
    """Racks with two vPODs each, where the IPU-Machines from 9 on are free."""
    names = [f"pod{number:03}" for number in range(1, pods + 1)]
    return {
        "schema": 1,
        "pods": {
            name: {
                "model": "bow-pod64",
                "lrack": number,
                "addressing": "multi-rack",
                "poplar_servers": 2,
                "rnic": {"vlan": 99},
                "vlans": {"storage": 300},
                "tor": {"ports": {"Et33": {"role": "storage"}}},
                "management_switch": {"address": f"10.9.{number}.1"},
            }
            for number, name in enumerate(names, 1)
        },
        "controllers": {"ctrl001": {"address": "10.3.250.1"}},
        "clusters": {f"c-{name}": {"controller": "ctrl001", "pods": [name]} for name in names},
        "vpods": {
            vpod + name: {
                "cluster": f"c-{name}",
                "ipus": 16,
                "vlan": vlan,
                "poplar_servers": [f"{name}-poplar{server}"],
                "partitions": {f"{vpod}{name}-train": {"ipus": 16}},
            }
            for number, name in enumerate(names)
            for vpod, vlan, server in (("alice-", 101 + 2 * number, 1), ("bob-", 102 + 2 * number, 2))
        },
    }


def rack(pods: int = 1) -> dict[str, Any]:
    """What stands in them."""
    declaration = parse_declaration(declared(pods))
    return rack_of(declaration, place(declaration, {}))


def step(number: int, device: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    """A step of a plan document that changes one field, unless told otherwise."""
    return {
        "number": number,
        "device": device,
        "layer": "switch",
        "action": "update",
        "kind": kind,
        "name": name,
        "from": {"vlan": 1},
        "to": {"vlan": 101},
        "reason": "vlan is 1, wanted 101",
        "risk": "none",
        "affected": {"vpods": [], "partitions": []},
        "observed": {"vlan": 1},
        **fields,
    }


def finding(device: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    """A finding of a plan document."""
    return {
        "device": device,
        "layer": "switch",
        "kind": kind,
        "name": name,
        "finding": f"{kind} {name} does not work",
        "remedy": "mend it",
        "affected": {"vpods": [], "partitions": []},
        **fields,
    }


def plan(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A plan document."""
    return {
        "schema": 2,
        "made": "2026-11-21T15:00:00Z",
        "by": "alice@control1",
        "pods": ["pod001"],
        "steps": list(steps),
        "unseen": [],
        "findings": [],
        "not_ours": [],
        "fingerprint": "sha256:0123",
        **fields,
    }
