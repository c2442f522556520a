# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resources that are there and belong to somebody else."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._drift.not_ours import (
    not_ours_on_controllers,
    not_ours_on_switches,
)


def test_what_tenants_and_slurm_made_is_listed() -> None:
    desired: dict[str, Any] = {
        "ctrl001": {
            **{kinds: [] for kinds in ("agents", "clusters", "allocations", "users")},
            "partitions": [{"name": "train"}],
        }
    }
    held = {
        "agents": {},
        "partitions": {"train": {}, "p4711": {"allocation": "c4711"}, "mine": {"allocation": "alice"}},
        "allocations": {"c4711": {}},
        "users": {"root": {"admin": True}},
    }
    found = not_ours_on_controllers(desired, {"ctrl001": held})
    assert {each["name"]: (each["kind"], each["owner"]) for each in found} == {
        "c4711": ("allocation", "named as Slurm names what it makes for a job"),
        "root": ("user", "an administrator, pods.yml does not declare them"),
        "p4711": ("partition", "named as Slurm names what it makes for a job"),
        "mine": ("partition", "a tenant of allocation alice, pods.yml does not declare it"),
    }


def test_vlans_and_ports_of_others_are_listed() -> None:
    desired = {
        "vlans": [{"vlan_id": 101}],
        "ports": [{"name": "Ethernet1/1", "owner": "external"}, {"name": "Ethernet9/1", "owner": "vpod alice"}],
    }
    gathered = {
        "vlans": [
            {"vlan_id": 1, "name": "default"},
            {"vlan_id": 101, "name": "vpod-alice"},
            {"vlan_id": 7, "name": "lab"},
        ],
        "ports": [
            {"name": "Ethernet1/1", "description": "uplink", "mode": "trunk"},
            {"name": "Ethernet2/1", "description": "", "mode": "access", "vlan": 1},
            {"name": "Ethernet3/1", "description": "", "mode": "access", "vlan": 7},
            {"name": "Ethernet4/1", "owner": "external", "description": "routed"},
            {"name": "Ethernet9/1", "description": "pod001-ipum1 RNIC", "vlan": 101},
        ],
    }
    found = not_ours_on_switches({"pod001-tor": desired}, {"pod001-tor": gathered})
    assert {(each["kind"], each["name"]): each["owner"] for each in found} == {
        ("vlan", "7"): "somebody who calls it lab, pods.yml does not declare it",
        ("port", "Ethernet1/1"): "external, as pods.yml says, described as 'uplink'",
        ("port", "Ethernet3/1"): "somebody who configured it, pods.yml does not declare it",
        ("port", "Ethernet4/1"): "somebody who made it what this collection does not configure, described as 'routed'",
    }
