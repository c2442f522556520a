# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One vPOD with one machine, the cloud that has it, and what a refusal says."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import plan
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from tests.support.in_memory.cloud import InMemoryCloud, bare_look

MINE = {"vpod": "alice", "project": "alice"}


def options(**more: Any) -> dict[str, Any]:
    """What vPOD alice has, with a machine that the operator keeps; lists given by name replace those."""
    return {
        "projects": [{"name": "alice", "domain": "Default", "description": "of vPOD alice", "vpod": "alice"}],
        "members": [{**MINE, "user": "ann", "role": "member"}],
        "quotas": [{**MINE, "instances": 4}],
        "networks": [{**MINE, "name": "vpod-alice-rnic", "physical_network": "rnic", "vlan": 201, "mtu": 1500}],
        "subnets": [
            {
                "name": "vpod-alice-rnic",
                "vpod": "alice",
                "network": "vpod-alice-rnic",
                "cidr": "10.5.0.0/16",
                "pools": ["10.5.1.192-10.5.1.223"],
            }
        ],
        "security_groups": [
            {**MINE, "name": "vpod-alice", "rules": [{"protocol": "tcp", "port": 22, "remote": "0.0.0.0/0"}]}
        ],
        "flavors": [{**MINE, "name": "vpod-alice-16", "vcpus": 4, "ram": 8192, "disk": 20, "extra_specs": {}}],
        "traits": [{"name": "CUSTOM_IPU_POD_ALICE", "vpod": "alice", "hypervisors": ["pod001-poplar3"]}],
        "images": [{"name": "poplar", "disk_format": "qcow2", "sha512": "aa"}],
        "volumes": [{**MINE, "name": "alice-1-data", "size": 10}],
        "servers": [machine()],
        **more,
    }


def machine(**more: Any) -> dict[str, Any]:
    ports = [
        {"network": "control", "address": None, "security_groups": ["vpod-alice"]},
        {"network": "vpod-alice-rnic", "address": "10.5.1.192", "security_groups": []},
    ]
    fields = {"flavor": "vpod-alice-16", "image": "poplar", "key": "ssh-ed25519 AAAA", "volumes": ["alice-1-data"]}
    return {**MINE, "name": "alice-1", "ports": ports, **fields, **more}


def only(**lists: Any) -> dict[str, Any]:
    """Options with nothing but these lists."""
    return {each: [] for each in options()} | lists


def with_alice() -> InMemoryCloud:
    """A cloud that has all of vPOD alice."""
    cloud = InMemoryCloud(bare_look())
    for step in plan(options(), cloud.look):
        cloud.carry_out(step)
    return cloud


def refusal(desired: dict[str, Any], look: dict[str, Any], allowed: tuple[str, ...] = ()) -> str:
    with pytest.raises(Refused) as refused:
        plan(desired, look, allowed)
    return str(refused.value)
