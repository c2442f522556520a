# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A vPOD whose dedicated V-IPU controller has a machine in a cloud, and the cloud before that."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tests.support.in_memory.cloud import FLOOR, InMemoryCloud, bare_look, hypervisor, network

CLOUD, HOST = "cloud001", "alice-controller"
CONTROLLER_MACHINE = {"image": "debian", "key": "ssh-ed25519 AAAA operator", "clients": ["10.6.1.0/24"]}
MANAGEMENT = {"network": "management", "sources": ["10.1.3.1/32"], "hypervisors": ["compute001"]}


def document(**vpod: Any) -> dict[str, Any]:
    """A pods.yml; fields of vPOD alice given by name replace those here."""
    alice = {
        "cluster": "c001",
        "ipus": 16,
        "vlan": 101,
        "users": ["alice"],
        "controller": "dedicated",
        "controller_address": "10.1.3.220",
        "poplar_servers": ["pod001-poplar3"],
        "cloud": {"name": CLOUD, "controller": dict(CONTROLLER_MACHINE)},
    }
    return {
        **deepcopy(FLOOR),
        "clouds": {
            CLOUD: {
                "physical_network": "rnic",
                "control_network": "control",
                "control_sources": ["10.6.0.0/24"],
                "controllers": {HOST: "10.6.1.220"},
                "management": dict(MANAGEMENT),
            }
        },
        "vpods": {"alice": {key: value for key, value in {**alice, **vpod}.items() if value is not None}},
    }


def cloud_before() -> InMemoryCloud:
    """A cloud with a compute node on which the operator's management network is, and nothing of a vPOD."""
    look = bare_look()
    look["hypervisors"].append(hypervisor("compute001", VCPU=16, MEMORY_MB=64000))
    look["networks"].append(network("management", "p-admin", None, physical_network=None, vlan=None))
    return InMemoryCloud(look)
