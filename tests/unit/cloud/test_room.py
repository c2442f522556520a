# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that no hypervisor can hold, or of which there are too many, are refused before anything is touched."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import plan
from tests.support.in_memory.cloud import bare_look, hypervisor, server
from tests.support.in_memory.cloud_of_alice import machine, options, refusal, with_alice

LARGE = {"VCPU": 64, "MEMORY_MB": 512000}


def look_with(*hypervisors: dict[str, Any]) -> dict[str, Any]:
    return {**bare_look(), "hypervisors": list(hypervisors)}


def flavor(**more: Any) -> list[dict[str, Any]]:
    return [{**options()["flavors"][0], **more}]


@pytest.mark.parametrize(
    ("resources", "said"),
    [
        ({"VCPU": 2}, "it needs 4 CPUs, and fits on no hypervisor of vPOD alice: pod001-poplar3 has 2 CPUs"),
        ({"MEMORY_MB": 4096}, "it needs 8192 MiB of memory, and fits on no hypervisor of vPOD alice: pod001-poplar3"),
        (
            {"DISK_GB": 10},
            "it needs 20 GiB of disk, and fits on no hypervisor of vPOD alice: pod001-poplar3 has 10 GiB",
        ),
        (
            {"VCPU": 2, "MEMORY_MB": 4096},
            "it needs 4 CPUs and 8192 MiB of memory, and fits on no hypervisor of vPOD alice: pod001-poplar3 has 2 CPUs"
            " and 4096 MiB of memory; make the machine smaller, or have Nova offer more there",
        ),
    ],
)
def test_a_flavor_that_no_hypervisor_can_hold_is_refused(resources: dict[str, int], said: str) -> None:
    look = look_with(hypervisor("pod001-poplar3", **{**LARGE, **resources}), hypervisor("pod001-poplar4", **LARGE))
    assert f"flavor vpod-alice-16: {said}" in refusal(options(), look)


def test_dedicated_cpus_are_those_that_nova_has_set_aside() -> None:
    pinned = options(flavors=flavor(extra_specs={"hw:cpu_policy": "dedicated"}))
    said = "it needs 4 dedicated CPUs, and fits on no hypervisor of vPOD alice: pod001-poplar3 has 0 dedicated CPUs"
    assert said in refusal(pinned, look_with(hypervisor("pod001-poplar3", **LARGE)))
    assert plan(pinned, look_with(hypervisor("pod001-poplar3", **LARGE, PCPU=8)))


def test_a_hypervisor_of_which_placement_says_nothing_may_hold_anything() -> None:
    assert plan(options(), look_with(hypervisor("pod001-poplar3")))


def machines(number: int) -> list[dict[str, Any]]:
    names = [f"alice-{index + 1}" for index in range(number)]
    ports = [{"network": "control", "address": None, "security_groups": []}]
    return [machine(name=name, ports=ports, volumes=[]) for name in names]


def test_machines_for_which_there_is_no_room_together_are_refused() -> None:
    look = look_with(hypervisor("pod001-poplar3", VCPU=9, MEMORY_MB=512000), hypervisor("pod001-poplar4", **LARGE))
    assert plan(options(servers=machines(2)), look)
    assert refusal(options(servers=machines(3)), look) == (
        "servers of vPOD alice: pod001-poplar3 has room for 2 of the 3 that are to be made, with 4 CPUs and 8192 MiB "
        "of memory and 20 GiB of disk each; declare fewer or smaller machines, or have somebody make room"
    )


def test_what_others_have_taken_is_no_room() -> None:
    full = hypervisor("pod001-poplar3", **LARGE)
    full["resources"]["VCPU"]["free"] = 3
    assert "pod001-poplar3 has room for 0 of the 1" in refusal(options(), look_with(full))


def test_a_machine_that_is_made_again_has_the_room_that_it_leaves() -> None:
    look = with_alice().look
    look["servers"][-1]["hypervisor"] = "pod001-poplar3"
    look["hypervisors"][0]["resources"]["VCPU"]["free"] = 4
    assert plan(options(flavors=flavor(vcpus=8)), look, ("alice",))
    assert "has room for 0 of the 1" in refusal(options(flavors=flavor(vcpus=9)), look, ("alice",))


def test_machines_that_are_there_need_no_more_room() -> None:
    look = with_alice().look
    look["hypervisors"][0]["resources"]["VCPU"]["free"] = 0
    assert plan(options(), look) == []


def test_two_vpods_do_not_get_the_same_room() -> None:
    mine = {"vpod": "bob", "project": "bob"}
    both = options(
        projects=[*options()["projects"], {"name": "bob", "domain": "Default", "vpod": "bob"}],
        flavors=[*flavor(), {**flavor()[0], **mine, "name": "vpod-bob-16"}],
        traits=[*options()["traits"], {**options()["traits"][0], "name": "CUSTOM_IPU_POD_BOB", "vpod": "bob"}],
        servers=[*machines(1), machine(**mine, name="bob-1", flavor="vpod-bob-16", ports=[], volumes=[])],
    )
    look = look_with(hypervisor("pod001-poplar3", VCPU=7, MEMORY_MB=512000))
    assert refusal(both, look).startswith("servers of vPOD bob: pod001-poplar3 has room for 0 of the 1")


@pytest.mark.parametrize(
    ("quota", "said"),
    [
        ({"instances": 1}, "instances is 1, 1 are in use, and what the run is to make needs 1; declare a larger quota"),
        ({"cores": 11}, "cores is 11, 8 are in use, and what the run is to make needs 4"),
        ({"volumes": 0}, "volumes is 0, 0 are in use, and what the run is to make needs 1"),
        ({"gigabytes": 9}, "gigabytes is 9, 0 are in use, and what the run is to make needs 10"),
    ],
)
def test_machines_that_exceed_the_quota_are_refused(quota: dict[str, int], said: str) -> None:
    look = bare_look()
    look["projects"].append({"id": "p-alice", "name": "alice", "domain": "Default", "vpod": "alice"})
    look["quotas"] = [{"id": "p-alice", "project": "alice", "project_id": "p-alice", "instances": 4, **quota}]
    look["flavors"] = [{"id": "f", "name": "large", "vcpus": 8, "ram": 8, "disk": 8, "vpod": None, "extra_specs": {}}]
    look["servers"].append(server("hers", "p-alice", "alice", None, flavor="large"))
    assert f"quota alice: {said}" in refusal(options(quotas=[]), look)


def test_the_quota_of_a_new_project_is_that_of_all_new_ones() -> None:
    look = {**bare_look(), "default_quota": {"cores": 3}}
    assert refusal(options(quotas=[]), look).startswith("quota alice: cores is 3, 0 are in use, and what the run is to")
    assert plan(options(quotas=[{"project": "alice", "vpod": "alice", "cores": 4}]), look)


def test_without_a_limit_there_is_always_enough() -> None:
    assert plan(options(quotas=[{"project": "alice", "vpod": "alice", "instances": -1}]), bare_look())
