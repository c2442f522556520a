# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which steps a plan for a cloud has, in which order, what it refuses, and whose things it never touches."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._cloud.entities import trait_name
from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import kept, plan, without_what_goes
from tests.support.in_memory.cloud import bare_look, image, network, port, server
from tests.support.in_memory.cloud_of_alice import MINE, machine, only, options, refusal, with_alice


def summary(desired: dict[str, Any], look: dict[str, Any], allowed: tuple[str, ...] = ()) -> list[str]:
    return [f"{step.action} {step.kind} {step.name}" for step in plan(desired, look, allowed)]


def test_a_vpod_comes_up_from_parents_to_children() -> None:
    found = summary(options(), bare_look())
    key = next(each for each in found if " key " in each)
    assert found == [
        "create project alice",
        "create member ann as member in alice",
        "create member admin as member in alice",
        "create quota alice",
        "create network vpod-alice-rnic",
        "create subnet vpod-alice-rnic",
        "create security_group vpod-alice",
        "create flavor vpod-alice-16",
        "create trait CUSTOM_IPU_POD_ALICE",
        "create image poplar",
        key,
        "create port alice-1-control",
        "create port alice-1-vpod-alice-rnic",
        "create volume alice-1-data",
        "create server alice-1",
    ]


def test_a_second_run_has_nothing_to_do() -> None:
    assert plan(options(), with_alice().look) == []


@pytest.mark.parametrize("first", [True, False])
def test_a_second_port_that_neutron_made_for_a_killed_run_goes(first: bool) -> None:
    look = with_alice().look
    used = next(each for each in look["ports"] if each["name"] == "alice-1-control")
    spare = {**used, "id": "spare", "device_id": "", "device_owner": "", "addresses": ["10.6.1.78"]}
    look["ports"].insert(0 if first else len(look["ports"]), spare)
    assert summary(options(), look) == ["remove port alice-1-control (spare)"]


def test_an_absent_vpod_goes_from_children_to_parents_and_its_volume_keeps_its_project() -> None:
    look = with_alice().look
    found = summary({"absent_vpods": ["alice"]}, look, ("alice",))
    assert [each for each in found if " key " not in each] == [
        "remove server alice-1",
        "remove port alice-1-control",
        "remove port alice-1-vpod-alice-rnic",
        "remove trait CUSTOM_IPU_POD_ALICE",
        "remove flavor vpod-alice-16",
        "remove security_group vpod-alice",
        "remove subnet vpod-alice-rnic",
        "remove network vpod-alice-rnic",
    ]
    assert kept({"absent_vpods": ["alice"]}, look) == [
        "project alice: no vPOD has it any more, and it is kept for volume alice-1-data; remove that, and run again"
    ]


def test_an_empty_project_goes_with_its_vpod() -> None:
    cloud = with_alice()
    cloud.look["volumes"] = []
    assert summary({"absent_vpods": ["alice"]}, cloud.look, ("alice",))[-1] == "remove project alice"


def test_a_security_group_stays_with_the_machine_of_a_tenant_that_uses_it() -> None:
    cloud = with_alice()
    group = next(each["id"] for each in cloud.look["security_groups"])
    own = port("own", "p-alice", None, "n-control", "control", "s-own", ["10.6.1.8"])
    cloud.look["ports"].append({**own, "group_ids": [group]})
    assert not any("security_group" in each for each in summary({"absent_vpods": ["alice"]}, cloud.look, ("alice",)))
    assert "security_group vpod-alice: no vPOD has it any more, and it is kept for port own" in str(
        kept({"absent_vpods": ["alice"]}, cloud.look)
    )


def test_a_machine_goes_only_where_its_vpod_may_be_interrupted() -> None:
    assert refusal({"absent_vpods": ["alice"]}, with_alice().look, ("bob",)) == (
        "server alice-1: vPOD alice is absent; that interrupts machine alice-1; say with allow_interruption (in a run, "
        "vpods_interrupt) that vPOD alice may be interrupted; port alice-1-control: vPOD alice is absent; that "
        "interrupts machine alice-1; say with allow_interruption (in a run, vpods_interrupt) that vPOD alice may be "
        "interrupted; port alice-1-vpod-alice-rnic: vPOD alice is absent; that interrupts machine alice-1; say with "
        "allow_interruption (in a run, vpods_interrupt) that vPOD alice may be interrupted"
    )


def test_a_network_takes_no_machine_of_a_tenant_off_itself_unless_that_is_allowed() -> None:
    cloud = with_alice()
    rnic = cloud.named("network", "vpod-alice-rnic")
    cloud.look["servers"] = [server("own", "p-alice", "alice", None)]
    cloud.look["ports"] = [port("own", "p-alice", None, rnic["id"], rnic["name"], "s-own", ["10.5.1.200"])]
    assert "but machine own of project alice is on it; say with allow_interruption" in refusal(
        {"absent_vpods": ["alice"]}, cloud.look
    )
    found = summary({"absent_vpods": ["alice"]}, cloud.look, ("alice",))
    assert "remove port own" in found
    assert not any("server" in each for each in found)


def test_what_bears_no_mark_is_refused_by_name_and_never_taken_over() -> None:
    look = bare_look()
    look["networks"].append(network("vpod-alice-rnic", "p-admin", None, vlan=150))
    look["images"].append(image("poplar", marked=False, sha512="aa"))
    said = refusal(options(), look)
    assert "network vpod-alice-rnic: one of this name is there that bears no mark of a vPOD, and is not touched" in said
    assert "mark it with ipu.pod:vpod=alice" in said
    assert "image poplar: one of this name is there that was not uploaded from here" in said


def test_a_network_of_a_tenant_with_the_same_name_or_mark_is_nobodys_business() -> None:
    cloud = with_alice()
    cloud.look["networks"].append(network("vpod-alice-rnic", "p-zoe", "alice", id="n-zoe", vlan=None))
    assert plan(options(), cloud.look) == []
    assert "n-zoe" in {
        each["id"]
        for each in without_what_goes(
            {"absent_vpods": ["alice"]}, cloud.look, plan({"absent_vpods": ["alice"]}, cloud.look, ("alice",))
        )["networks"]
    }


def test_an_image_or_a_network_that_a_tenant_has_named_is_none_for_others() -> None:
    look = bare_look()
    look["images"].append(image("theirs", marked=False, project_id="p-zoe", visibility="private", sha512="ee"))
    look["networks"].append(network("theirs", "p-zoe", None, vlan=None))
    ports = [{"network": "theirs", "address": None, "security_groups": []}]
    said = refusal(options(servers=[machine(image="theirs", ports=ports)]), look)
    assert "Glance has no image theirs" in said
    assert "Neutron has no network theirs" in said
    look["networks"][-1]["shared"] = True
    assert "Neutron has no network" not in refusal(options(servers=[machine(image="theirs", ports=ports)]), look)


def test_a_mark_that_a_tenant_sets_in_their_own_project_is_not_believed() -> None:
    cloud = with_alice()
    cloud.look["servers"].append(server("mine", "p-zoe", "zoe", "alice"))
    assert plan(options(), cloud.look) == []
    assert not any("mine" in each for each in summary({"absent_vpods": ["alice"]}, cloud.look, ("alice",)))


def test_a_vlan_that_another_network_has_is_refused_with_its_owner() -> None:
    look = bare_look()
    look["networks"].append(network("theirs", "p-zoe", None, vlan=201))
    assert refusal(options(), look) == (
        "network vpod-alice-rnic: VLAN 201 of physical network rnic is taken by network theirs of project zoe; choose "
        "another VLAN for the vPOD, or remove that network"
    )


def test_the_vlan_of_a_network_that_goes_in_the_same_run_is_free() -> None:
    cloud = with_alice()
    bob = {"name": "vpod-bob-rnic", "vpod": "bob", "project": "bob", "physical_network": "rnic", "vlan": 201}
    desired = only(
        projects=[{"name": "bob", "domain": "Default", "vpod": "bob"}],
        networks=[{**bob, "mtu": 1500}],
        absent_vpods=["alice"],
    )
    assert "create network vpod-bob-rnic" in summary(desired, cloud.look, ("alice",))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"users": []}, "user ann: Keystone has no such user in domain Default; create the user, or correct the users"),
        ({"roles": []}, "role member: Keystone has no such role; create it, or name one of none"),
        ({"vlan_ranges": {"rnic": [[100, 199]]}}, "VLAN 201 is outside of what Neutron has for physical network rnic"),
        ({"hypervisors": []}, "trait CUSTOM_IPU_POD_ALICE: Nova has no hypervisor pod001-poplar3; it has none"),
        ({"networks": []}, "port alice-1-control: Neutron has no network control"),
    ],
)
def test_what_the_cloud_lacks_is_refused_before_anything_is_touched(change: dict[str, Any], sentence: str) -> None:
    assert sentence in refusal(options(), {**bare_look(), **change})


@pytest.mark.parametrize(
    ("desired", "sentence"),
    [
        (options(servers=[machine(image="nothing")]), "server alice-1: Glance has no image nothing"),
        (options(servers=[machine(flavor="nothing")]), "server alice-1: Nova has no flavor nothing"),
        (options(servers=[machine(volumes=["other"])]), "server alice-1: there is no volume other"),
        (options(projects=[]), "there is no project alice; declare it in projects"),
        (options(networks=options()["networks"] * 2), "networks: vpod-alice-rnic is declared twice; keep one"),
        (options(servers=[machine(ports=machine()["ports"][:1] * 2)]), "two ports would be called alice-1-control"),
    ],
)
def test_what_the_options_lack_is_refused(desired: dict[str, Any], sentence: str) -> None:
    assert sentence in refusal(desired, bare_look())


def test_a_flavor_of_another_size_is_made_again_only_when_no_machine_is_made_of_it() -> None:
    cloud = with_alice()
    larger = options(flavors=[{**options()["flavors"][0], "vcpus": 8}])
    assert "that interrupts machine alice-1" in refusal(larger, cloud.look)
    assert summary(larger, cloud.look, ("alice",)) == [
        "remove server alice-1",
        "remove flavor vpod-alice-16",
        "create flavor vpod-alice-16",
        "create server alice-1",
    ]
    cloud.look["servers"].append(server("own", "p-alice", "alice", None, flavor="vpod-alice-16"))
    assert "but machines were made of it: own of project alice" in refusal(larger, cloud.look, ("alice",))


def test_a_machine_that_never_ran_is_made_again_and_one_that_did_only_when_that_is_allowed() -> None:
    cloud = with_alice()
    machine_there = cloud.named("server", "alice-1")
    machine_there.update(status="ERROR", launched=False, fault="No valid host was found")
    [removal, creation] = plan(options(), cloud.look)
    assert removal.reason == "it is in ERROR (No valid host was found), and is made again"
    assert creation.action == "create"
    machine_there["launched"] = True
    assert "that interrupts machine alice-1" in refusal(options(), cloud.look)


def test_a_machine_that_its_tenant_has_switched_off_stays_so() -> None:
    cloud = with_alice()
    cloud.named("server", "alice-1")["status"] = "SHUTOFF"
    assert plan(options(), cloud.look) == []


def test_a_volume_grows_where_it_is_attached_to_nothing_and_never_shrinks() -> None:
    cloud = with_alice()
    look, larger = cloud.look, [{**MINE, "name": "alice-1-data", "size": 20}]
    assert "it is attached, and not every Cinder makes such a volume larger" in refusal(options(volumes=larger), look)
    cloud.named("volume", "alice-1-data")["servers"] = []
    assert summary(options(volumes=larger, servers=[machine(volumes=[])]), look) == ["update volume alice-1-data"]
    assert "Cinder makes no volume smaller" in refusal(
        options(volumes=[{**MINE, "name": "alice-1-data", "size": 5}]), look
    )


def test_a_volume_is_taken_out_of_a_running_machine_only_when_that_is_allowed() -> None:
    without = options(servers=[machine(volumes=[])])
    assert "that interrupts machine alice-1" in refusal(without, with_alice().look)
    assert summary(without, with_alice().look, ("alice",)) == ["update server alice-1"]


def test_an_image_with_other_data_replaces_the_old_one_and_its_machines_stay() -> None:
    cloud = with_alice()
    other = options(images=[{"name": "poplar", "disk_format": "qcow2", "sha512": "bb"}])
    assert summary(other, cloud.look) == ["update image poplar"]
    for step in plan(other, cloud.look):
        cloud.carry_out(step)
    assert plan(other, cloud.look) == []


def test_members_who_are_not_declared_any_more_lose_their_role_and_the_operator_keeps_theirs() -> None:
    assert summary(options(members=[]), with_alice().look) == ["remove member ann as member in alice"]


def test_vpods_that_are_not_mentioned_are_left_alone() -> None:
    assert plan(only(), with_alice().look) == []


def test_traits_of_vpods_with_names_alike_differ() -> None:
    names = [trait_name(vpod) for vpod in ("a-b", "a_b", "A-b", "a.b")]
    assert names[0] == "CUSTOM_IPU_POD_A_B"
    assert len(set(names)) == len(names)


def test_a_machine_whose_port_is_of_another_kind_is_made_again_only_when_that_is_allowed() -> None:
    ports = [{**port, "vnic_type": "direct"} for port in machine()["ports"]]
    by_functions = options(servers=[machine(ports=[machine()["ports"][0], ports[1]])])
    assert "its port alice-1-vpod-alice-rnic is made again; that interrupts machine alice-1" in refusal(
        by_functions, with_alice().look
    )
    cloud = with_alice()
    assert summary(by_functions, cloud.look, ("alice",)) == [
        "remove server alice-1",
        "remove port alice-1-vpod-alice-rnic",
        "create port alice-1-vpod-alice-rnic",
        "create server alice-1",
    ]
    for step in plan(by_functions, cloud.look, ("alice",)):
        cloud.carry_out(step)
    assert plan(by_functions, cloud.look) == []


def test_a_port_that_nova_has_not_let_go_of_is_made_again_with_its_machine() -> None:
    cloud = with_alice()
    cloud.look["servers"] = [each for each in cloud.look["servers"] if each["name"] != "alice-1"]
    assert summary(options(), cloud.look) == [
        "remove port alice-1-control",
        "remove port alice-1-vpod-alice-rnic",
        "create port alice-1-control",
        "create port alice-1-vpod-alice-rnic",
        "create server alice-1",
    ]
