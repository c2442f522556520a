# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a cloud in service to what pods.yml says of it; what it has no words for, or bears no mark, is a finding."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import plan
from ansible_collections.ipu.pod.plugins.plugin_utils._adoption.clouds import adopted_clouds
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.clouds import desired_clouds
from tests.support.in_memory.cloud import FLOOR, InMemoryCloud, bare_look, network, server
from tests.support.in_memory.cloud_of_controller import CONTROLLER_MACHINE, cloud_before
from tests.support.in_memory.cloud_of_controller import document as document_with_controller

Document = dict[str, Any]
CLOUD = "cloud001"
KEY = "ssh-ed25519 AAAA ann"


def document(share: Document | None) -> Document:
    alice = {"cluster": "c001", "ipus": 16, "vlan": 101, "poplar_servers": ["pod001-poplar3"]}
    return {
        **deepcopy(FLOOR),
        "clouds": {
            CLOUD: {"physical_network": "rnic", "control_network": "control", "control_sources": ["10.6.0.0/16"]}
        },
        "vpods": {"alice": {**alice, **({"cloud": {"name": CLOUD, **share}} if share is not None else {})}},
    }


def steps(given: Document, cloud: InMemoryCloud) -> list[Any]:
    return plan(desired_clouds(parse_declaration(given))[CLOUD], cloud.look)


def cloud_with(share: Document) -> InMemoryCloud:
    """A cloud in which a run has made a share."""
    cloud = InMemoryCloud(bare_look())
    cloud.look["hypervisors"][0]["resources"]["PCPU"] = {"largest": 64, "free": 64}
    for step in steps(document(share), cloud):
        cloud.carry_out(step)
    for key in cloud.look["keys"]:
        key["public_key"] = KEY
    return cloud


QUOTA = {"instances": 10, "cores": 20}
MACHINE = {"vcpus": 8, "memory": 4096, "disk": 1, "dedicated_cpus": True, "huge_pages": True, "numa_nodes": 2}


@pytest.mark.parametrize(
    "share",
    [
        {},
        {"users": ["ann", "ben"]},
        {"users": ["ann"], "role": "reader"},
        {"project": "theirs", "quota": {**QUOTA, "instances": 3}},
        {"ipus_per_machine": 4, "machine": MACHINE},
        {"storage": {"vlan": 301, "subnet": "10.30.1.0/24"}},
        {"storage": {"vlan": 301, "subnet": "10.30.1.0/24", "physical_network": "other"}},
        {"machines": "kept", "image": "debian", "key": KEY, "ipus_per_machine": 8, "volumes": {"data": 10, "tmp": 1}},
    ],
)
def test_what_a_vpod_has_becomes_the_entry_that_keeps_it(share: Document) -> None:
    cloud = cloud_with(share)
    found = adopted_clouds(document(None), {CLOUD: cloud.look})
    assert found.findings == []
    assert found.document["vpods"]["alice"]["cloud"] == {"name": CLOUD, "quota": QUOTA, **share}
    assert steps(found.document, cloud) == []


def test_gathered_again_it_is_the_same_and_what_had_been_said_wrongly_is_replaced() -> None:
    cloud = cloud_with({"users": ["ann"]})
    once = adopted_clouds(document({"users": ["zoe"], "project": "zoe"}), {CLOUD: cloud.look}).document
    assert once["vpods"]["alice"]["cloud"]["users"] == ["ann"]
    assert adopted_clouds(once, {CLOUD: cloud.look}).document == once


def test_of_a_cloud_that_was_not_read_all_that_was_said_is_kept() -> None:
    given = document({"users": ["ann"]})
    assert adopted_clouds(given, {}).document == given


def test_a_vpod_of_which_nobody_knows_the_hypervisors_is_on_those_with_its_trait() -> None:
    given = document(None)
    del given["vpods"]["alice"]["poplar_servers"]
    found = adopted_clouds(given, {CLOUD: cloud_with({}).look})
    assert found.findings == []
    assert found.document["vpods"]["alice"]["poplar_servers"] == ["pod001-poplar3"]


def sentences(cloud: InMemoryCloud, given: Document | None = None) -> list[str]:
    found = adopted_clouds(given or document(None), {CLOUD: cloud.look})
    return [f"{each.device}: {each.finding}. {each.remedy}" for each in found.findings]


def test_what_is_missing_is_said_and_the_entry_keeps_the_rest() -> None:
    cloud = cloud_with({})
    cloud.look["flavors"] = []
    assert sentences(cloud) == ["cloud001: vPOD alice has no flavor vpod-alice-16. A run makes what is missing."]
    assert "cloud" in adopted_clouds(document(None), {CLOUD: cloud.look}).document["vpods"]["alice"]


def test_what_pods_yml_has_no_words_for_is_said_and_left_out() -> None:
    cloud = cloud_with({})
    cloud.named("flavor", "vpod-alice-16")["extra_specs"]["hw:cpu_threads"] = "2"
    (said,) = sentences(cloud)
    assert said.startswith(
        "cloud001: what vPOD alice has is not in pods.yml, which has no words for it, and would change flavor "
        "vpod-alice-16: extra_specs is "
    )
    assert "cloud" not in adopted_clouds(document(None), {CLOUD: cloud.look}).document["vpods"]["alice"]


def test_another_role_is_said_and_stays() -> None:
    cloud = cloud_with({"users": ["ann"]})
    cloud.look["members"].append({**cloud.look["members"][0], "role": "reader", "user": "ben", "user_id": "u-ben"})
    assert sentences(cloud) == [
        "cloud001: ben has role reader in project alice, and pods.yml has one, member. Runs leave it so."
    ]
    found = adopted_clouds(document(None), {CLOUD: cloud.look})
    assert found.document["vpods"]["alice"]["cloud"]["users"] == ["ann"]
    assert steps(found.document, cloud) == []


def test_what_would_interrupt_somebody_is_said_and_left_out() -> None:
    cloud = cloud_with({"machines": "kept", "image": "debian", "key": KEY})
    cloud.look["servers"].append(server("alice-9", cloud.named("project", "alice")["id"], "alice", "alice"))
    (said,) = sentences(cloud)
    assert said.startswith("cloud001: what vPOD alice has is not in pods.yml: server alice-9: ")


def test_names_that_pods_yml_does_not_take_are_said_and_left_out() -> None:
    cloud = cloud_with({})
    cloud.named("project", "alice")["name"] = "{{ lookup('pipe', 'id') }}"
    (said,) = sentences(cloud)
    assert "is not a name of 1 to 255 characters" in said


def test_marks_of_a_vpod_that_no_controller_has_are_said() -> None:
    cloud = cloud_with({})
    given = document(None)
    given["vpods"] = {}
    (said,) = sentences(cloud, given)
    assert said == (
        "cloud001: cloud001 has things that are marked as vPOD alice's, and no V-IPU controller has its allocation. "
        "Declare the vPOD, with state absent if it is to go."
    )


def by_hand() -> InMemoryCloud:
    """What a run makes, without marks and with other names."""
    cloud = cloud_with({})
    for kind in ("project", "network", "subnet", "security_group", "flavor"):
        for each in cloud.look[f"{kind}s"]:
            if each["vpod"]:
                each.update(vpod=None, tagged=False)
    cloud.named("network", "vpod-alice-rnic").update(name="fabric-101", id="n1")
    cloud.look["subnets"][0].update(name="fabric-101", id="s1", network_id="n1", network="fabric-101")
    cloud.look["quotas"] = []
    return cloud


def test_what_bears_no_mark_is_said_with_the_commands_that_adopt_it() -> None:
    cloud = by_hand()
    (said,) = sentences(cloud)
    tags = "--tag ipu.pod --tag ipu.pod:vpod=alice"
    project, group, flavor = (
        cloud.named(kind, name)["id"]
        for kind, name in (("project", "alice"), ("security_group", "vpod-alice"), ("flavor", "vpod-alice-16"))
    )
    what, _, commands = said.partition(" gather again: ")
    assert what == (
        "cloud001: network fabric-101 has VLAN 101 of vPOD alice, and bears no mark of a vPOD. If it is the vPOD's, "
        "give it and what belongs to it the mark, and"
    )
    assert commands.split("; ") == [
        f"openstack project set {tags} {project}",
        f"openstack network set --name vpod-alice-rnic {tags} n1",
        f"openstack subnet set --name vpod-alice-rnic {tags} s1",
        f"openstack --os-compute-api-version 2.55 flavor set --description ipu.pod:vpod=alice {flavor}",
        f"openstack security group set {tags} {group}",
    ]
    assert "cloud" not in adopted_clouds(document(None), {CLOUD: cloud.look}).document["vpods"]["alice"]


def test_a_command_has_what_the_cloud_calls_a_thing_as_one_word() -> None:
    cloud = by_hand()
    cloud.named("project", "alice")["id"] = "p; reboot"
    (said,) = sentences(cloud)
    assert "openstack project set --tag ipu.pod --tag ipu.pod:vpod=alice 'p; reboot'; openstack network set" in said


def test_after_the_commands_the_entry_keeps_what_was_made_by_hand() -> None:
    cloud = by_hand()
    for kind, name in (
        ("project", "alice"),
        ("network", "fabric-101"),
        ("subnet", "fabric-101"),
        ("security_group", "vpod-alice"),
        ("flavor", "vpod-alice-16"),
    ):
        thing = cloud.named(kind, name)
        thing.update(vpod="alice", tagged=True, name=name.replace("fabric-101", "vpod-alice-rnic"))
    cloud.look["subnets"][0]["network"] = "vpod-alice-rnic"
    found = adopted_clouds(document(None), {CLOUD: cloud.look})
    assert found.findings == []
    assert steps(found.document, cloud) == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"project_id": "p-zoe", "project": "zoe"},
            "It is of project zoe, and OpenStack cannot give it to another; have",
        ),
        ({"projects": []}, "It is shared with no project, and a vPOD's with one; share it with one alone"),
        ({"projects": ["ann", "zoe"]}, "It is shared with ann, zoe, and a vPOD's with one; share it with one alone"),
    ],
)
def test_a_network_that_cannot_become_a_vpods_is_said(fields: dict[str, Any], said: str) -> None:
    cloud = InMemoryCloud(deepcopy(bare_look()))
    cloud.look["networks"].append({**network("theirs", "p-admin", None, vlan=101), **fields})
    (sentence,) = sentences(cloud)
    assert sentence.startswith(
        f"cloud001: network theirs has VLAN 101 of vPOD alice, and bears no mark of a vPOD. {said}"
    )


def test_the_machine_of_a_controller_becomes_its_entry() -> None:
    given, cloud = document_with_controller(), cloud_before()
    machine = {"vcpus": 2, "memory": 2048}
    given["vpods"]["alice"]["cloud"]["controller"]["machine"] = machine
    for step in steps(given, cloud):
        cloud.carry_out(step)
    for key in cloud.look["keys"]:
        key["public_key"] = CONTROLLER_MACHINE["key"]
    del given["vpods"]["alice"]["cloud"]
    found = adopted_clouds(given, {CLOUD: cloud.look})
    assert found.findings == []
    assert found.document["vpods"]["alice"]["cloud"]["controller"] == {**CONTROLLER_MACHINE, "machine": machine}
    assert steps(found.document, cloud) == []
