# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a vPOD's machines in a cloud need of its V-IPU controller follows from pods.yml alone."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.cloud_machines import cloud_vpods

VPOD: dict[str, Any] = {"cluster": "c001", "ipus": 16, "users": ["ann"]}


def found(name: str | None = None, controllers: dict[str, str] | None = None, **alice: Any) -> list[dict[str, Any]]:
    """The vPODs that have something in the cloud."""
    machine = {"vcpus": 1, "memory": 512, "disk": 4}
    cloud = {"name": "cloud001", "login": "debian", "users": ["ann"], "project": "research", "machine": machine}
    document = {
        "schema": 1,
        "pods": {
            "pod001": {
                "model": "bow-pod64",
                "lrack": 1,
                "addressing": "multi-rack",
                "poplar_servers": 4,
                "hypervisors": ["pod001-poplar3", "pod001-poplar4"],
                "virtual_functions": 0,
                "rnic": {"vlan": 100, "mtu": 9000},
            }
        },
        "controllers": {"ctrl001": {"address": "10.3.1.200", "mode": "secure"}},
        "clusters": {"c001": {"controller": "ctrl001", "pods": ["pod001"]}},
        "clouds": {
            "cloud001": {
                "physical_network": "rnic",
                "control_network": "control",
                "control_sources": ["10.6.0.0/16"],
                "controllers": {"ctrl001": "10.6.0.200"} if controllers is None else controllers,
            }
        },
        "vpods": {
            "alice": {
                **VPOD,
                "vlan": 101,
                "poplar_servers": ["pod001-poplar3", "pod001-poplar4"],
                "partitions": {"train": {"ipus": 16}},
                "cloud": {**cloud, "image": "poplar"},
                **alice,
            },
            "bob": {**VPOD, "vlan": 102},
        },
    }
    return cloud_vpods(parse_declaration(document), name)


def test_a_machine_has_the_controllers_address_in_the_cloud_and_belongs_to_the_images_user() -> None:
    [alice] = found("alice")
    assert alice["controller"] == "ctrl001"
    assert alice["settings"] == {
        "vpod_vipu": {
            "controller": "ctrl001",
            "dedicated": None,
            "admin_port": 8091,
            "api_host": "10.6.0.200",
            "api_port": 8090,
            "user": "ann",
        },
        "vpod_ipuof": "environment",
        # Of two hypervisors, on either of which it may land.
        "vpod_partitions": [{"name": "train", "api_host": "10.6.0.200", "api_port": 8090, "gcd": 0}],
        "vpod_owner": "debian",
        "vpod_group": "debian",
    }


def test_without_an_address_there_it_is_the_managements() -> None:
    [alice] = found(controllers={})
    assert alice["settings"]["vpod_vipu"]["api_host"] == "10.3.1.200"


def test_partitions_of_deleted_machines_are_looked_for_in_its_project() -> None:
    [alice] = found()
    assert alice["partitions"] == {
        "name": "alice",
        "cloud": "cloud001",
        "project": "research",
        "domain": "Default",
        "declared": ["train"],
        "admin_port": 8091,
        "vipu_config": "",
    }


def test_a_dedicated_controller_has_an_administrator_of_its_own() -> None:
    [alice] = found(controller="dedicated")
    assert alice["settings"]["vpod_vipu"]["dedicated"] == "alice"
    assert alice["partitions"]["vipu_config"] == "/etc/vipu/vipu-admin-alice.hcl"


def test_a_dedicated_controller_with_a_host_of_its_own_is_found_there() -> None:
    own = {"controller": "dedicated", "controller_address": "10.3.1.220"}
    [alice] = found(controllers={"alice-controller": "10.6.1.220"}, **own)
    assert alice["controller"] == alice["settings"]["vpod_vipu"]["controller"] == "alice-controller"
    assert alice["settings"]["vpod_vipu"]["api_host"] == "10.6.1.220"
    [alice] = found(controllers={}, **own)
    assert alice["settings"]["vpod_vipu"]["api_host"] == "10.3.1.220"


def test_a_vpod_that_is_not_there_or_not_in_a_cloud_is_refused() -> None:
    with pytest.raises(Refused, match=r"^vpod 'zoe' is not in pods\.yml, which has: alice, bob$"):
        found("zoe")
    sentence = r"^vpod 'bob' has nothing in a cloud; give it a cloud in pods\.yml, and run openstack\.yml$"
    with pytest.raises(Refused, match=sentence):
        found("bob")
