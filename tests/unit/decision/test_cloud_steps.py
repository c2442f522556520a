# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clouds in a decision: what vPODs get there, whom that affects, and what is wrong with hypervisors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.cloud_steps import startable
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision, Request, decide
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.stage_members import changing, members
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import hosts_of
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import (
    document_of,
    drift_view,
    plan_view,
    vpods_view,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory import stages
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration
from tests.support.in_memory.cloud import server
from tests.support.in_memory.pod import CONTROLLER, pod

CLOUD = "cloud001"
HYPERVISOR = {
    "name": "p-poplar3",
    "vcpus": 64,
    "ram": 262144,
    "state": "up",
    "status": "enabled",
    "agents": [{"binary": "neutron-openvswitch-agent", "alive": True, "mappings": {"rnic": "br-rnic"}}],
}
SHARE = {"name": CLOUD}
ALICE = {"cluster": "c", "ipus": 16, "vlan": 101, "poplar_servers": ["p-poplar3"], "cloud": SHARE}
BOB = {**ALICE, "vlan": 102}
ALICE_HAS = {f"p-ipum{number}" for number in (1, 2, 3, 4)}
# What alice gets before she has any machines.
FRAME = [
    ("project", "alice"),
    ("network", "vpod-alice-rnic"),
    ("subnet", "vpod-alice-rnic"),
    ("security_group", "vpod-alice"),
    ("flavor", "vpod-alice-16"),
    ("trait", "CUSTOM_IPU_POD_ALICE"),
]


def declared(images: Any = None, functions: int = 0, more: Any = None, **vpods: Any) -> Declaration:
    rnic = {"interface": "rnic0", "vlan": 100}
    fields = {"rnic": rnic, "hypervisors": ["p-poplar3"], "virtual_functions": functions}
    return parse_declaration(
        {
            "schema": 1,
            "pods": {"p": {"model": "bow-pod64", "poplar_servers": 3, **fields}},
            "controllers": {CONTROLLER: {"address": "10.1.3.200", "mode": "insecure"}},
            "clusters": {"c": {"controller": CONTROLLER, "pods": ["p"]}},
            "clouds": {
                CLOUD: {
                    "physical_network": "rnic",
                    "control_network": "control",
                    "control_sources": ["10.6.0.0/16"],
                    "images": images or {},
                    **(more or {}),
                }
            },
            "vpods": vpods,
        }
    )


HOST = "alice-controller"
MANAGED = {"network": "management", "sources": ["10.1.3.1/32"], "hypervisors": ["compute001"]}
CONTROLLED = {
    **ALICE,
    "controller": "dedicated",
    "controller_address": "10.1.3.220",
    "cloud": {
        **SHARE,
        "controller": {"image": "debian", "key": "ssh-ed25519 AAAA", "clients": ["10.6.1.0/24"]},
    },
}


def look(**there: Any) -> dict[str, Any]:
    """A cloud in which nobody has anything."""
    operator = {"user": "admin", "user_id": "u0", "project": "admin", "project_id": "p0"}
    cloud = {
        "operator": operator,
        "users": [],
        "roles": [{"name": "member"}],
        "hypervisors": [HYPERVISOR],
        "files": {"poplar": "aa"},
        "networks": [{"id": "n0", "name": "control", "vpod": None, "project": "admin", "project_id": "p0"}],
        **there,
    }
    cloud["networks"] = [
        {"physical_network": None, "vlan": None, "mtu": 1500, "projects": [], **each} for each in cloud["networks"]
    ]
    return {"host": CLOUD, "outcome": "answered", "message": "", "settings": {}, "parts": {"cloud": cloud}}


def decided(declaration: Declaration, cloud: dict[str, Any] | None = None, **words: Any) -> Decision:
    looks = {**pod().looks(), CLOUD: cloud or look()}
    return decide(declaration, looks, Request(**{"hosts": list(looks), **words}))


def in_cloud(decision: Decision) -> list[tuple[str, str]]:
    """Kind and name of each step of the cloud."""
    return [(step["kind"], step["name"]) for step in decision.plan.steps if step["device"] == CLOUD]


def test_a_vpod_gets_its_frame_in_the_last_stage() -> None:
    found = decided(declared(alice=ALICE))
    assert found.refusals == []
    assert sorted(in_cloud(found)) == sorted(FRAME)
    assert {step["stage"] for step in found.plan.steps if step["device"] == CLOUD} == {stages.CLOUDS}
    assert found.plan.steps[-1]["device"] == CLOUD
    assert set(found.plan.compared[CLOUD]["network"]) == {"vpod-alice-rnic"}


def test_a_pod_without_clouds_has_no_step_there() -> None:
    found = decided(declared(alice={key: value for key, value in ALICE.items() if key != "cloud"}))
    assert in_cloud(found) == []


def test_only_the_playbook_of_that_part_changes_clouds() -> None:
    assert in_cloud(decided(declared(alice=ALICE), parts=["clouds"])) != []
    assert in_cloud(decided(declared(alice=ALICE), parts=["switches", "vpods"])) == []
    assert in_cloud(decided(declared(alice=ALICE), hosts=["p-tor", CONTROLLER])) == []


def test_a_run_on_one_vpod_makes_nothing_for_another() -> None:
    both = declared(alice=ALICE, bob=BOB)
    assert sorted(in_cloud(decided(both, only=("alice",)))) == sorted(FRAME)
    assert CLOUD in hosts_of(both, ["alice"])


def test_a_run_on_a_vpod_without_cloud_does_not_look_at_any() -> None:
    bare = {**BOB, "poplar_servers": ["p-poplar1"]}
    del bare["cloud"]
    assert CLOUD not in hosts_of(declared(alice=ALICE, bob=bare), ["bob"])


def test_a_cloud_that_does_not_answer_is_refused_unless_the_limit_leaves_it_out() -> None:
    silent = {**look(), "outcome": "timed out", "message": "Keystone does not answer; start it", "parts": {}}
    assert "cloud001: Keystone does not answer; start it" in decided(declared(alice=ALICE), silent).refusals
    assert decided(declared(alice=ALICE), silent, hosts=["p-tor", CONTROLLER]).refusals == []


NETWORK = {
    "id": "n1",
    "name": "vpod-alice-rnic",
    "vpod": "alice",
    "project": "admin",
    "project_id": "p0",
    "physical_network": "rnic",
    "vlan": 101,
}


def test_what_a_vpod_had_that_is_to_go_is_removed_first_of_all() -> None:
    gone = declared(alice={**ALICE, "state": "absent"})
    found = decided(gone, look(networks=[NETWORK]))
    (step,) = [step for step in found.plan.steps if step["device"] == CLOUD]
    assert (step["action"], step["kind"], step["name"]) == ("remove", "network", "vpod-alice-rnic")
    assert (step["stage"], step["phase"]) == (stages.CLOUDS_DOWN, 0)
    assert found.plan.options[stages.CLOUDS_DOWN][CLOUD]["absent_vpods"] == ["alice"]
    assert stages.CLOUDS not in found.plan.options


def test_what_goes_first_is_not_in_the_way_of_what_comes() -> None:
    """Bob gets the VLAN that alice's network still has."""
    found = decided(declared(alice={**ALICE, "state": "absent"}, bob={**BOB, "vlan": 101}), look(networks=[NETWORK]))
    assert found.refusals == []
    assert ("network", "vpod-bob-rnic") in in_cloud(found)


def test_a_project_that_holds_something_stays_and_is_a_finding() -> None:
    project = {"id": "p1", "name": "alice", "domain": "Default", "vpod": "alice", "description": "vPOD alice"}
    volume = {
        "id": "v1",
        "name": "data",
        "project": "alice",
        "project_id": "p1",
        "vpod": None,
        "servers": [],
        "size": 1,
    }
    found = decided(declared(alice={**ALICE, "state": "absent"}), look(projects=[project], volumes=[volume]))
    assert in_cloud(found) == []
    (finding,) = [each for each in found.findings if each["device"] == CLOUD]
    assert finding["finding"].startswith("project alice is no vPOD's any more and has volume data")
    assert finding["remedy"] == "remove that, and run again"


@pytest.mark.parametrize(("sha512", "steps"), [("aa", []), ("bb", [("image", "poplar")])])
def test_an_image_is_compared_by_the_checksum_of_its_file(sha512: str, steps: list[tuple[str, str]]) -> None:
    there = {
        "id": "i1",
        "name": "poplar",
        "project_id": "p0",
        "visibility": "public",
        "hidden": False,
        "marked": True,
        "disk_format": "qcow2",
        "sha512": sha512,
    }
    found = decided(declared({"poplar": {"file": "/srv/poplar.qcow2"}}), look(images=[there]))
    assert found.refusals == []
    assert list(dict.fromkeys(in_cloud(found))) == steps


def test_what_belongs_to_nobody_here_is_refused_in_one_sentence() -> None:
    found = decided(declared(alice=ALICE), look(networks=[{**NETWORK, "vpod": None}]))
    (refusal,) = found.refusals
    assert refusal.startswith("cloud001: ")
    assert "vpod-alice-rnic" in refusal


def test_steps_say_which_vpod_they_affect_and_where_it_stands() -> None:
    declaration = declared(alice=ALICE, bob=BOB)
    found = decided(declaration)
    document = document_of(found, {CLOUD: look()}, declaration, "2026-11-21T15:00:00Z", "tester")
    affected = {
        (each["kind"], each["name"]): each["affected"]["vpods"] for each in document["steps"] if each["device"] == CLOUD
    }
    assert {affected[each] == ["alice"] for each in FRAME} == {True}
    page = plan_view(document, declaration, found.tenancy.placement if found.tenancy else {}).files["plan.html"]
    assert "vpod-alice-rnic" in page
    drift = drift_view(document, found.plan.compared, [], "2026-11-21").files["drift.md"]
    assert "vpod-alice-rnic" in drift
    table = vpods_view(document, declaration, None).lines
    assert [line.split()[-1] for line in table if line.startswith(("vPOD", "alice"))] == ["cloud", "yet"]


def test_the_run_may_interrupt_whom_somebody_has_allowed() -> None:
    found = decided(declared(alice=ALICE), allowed=("alice",))
    assert found.plan.options[stages.CLOUDS][CLOUD]["allow_interruption"] == ["alice"]


def test_a_machine_too_many_goes_only_where_its_vpod_may_be_interrupted() -> None:
    machine = server("alice-2", "p1", "alice", "alice")
    project = {"id": "p1", "name": "alice", "domain": "Default", "vpod": "alice", "description": "vPOD alice"}
    there = look(projects=[project], servers=[machine])
    found = decided(declared(alice=ALICE), there)
    (refusal,) = found.refusals
    assert "alice-2" in refusal
    assert "vpods_interrupt" in refusal
    assert ("server", "alice-2") in in_cloud(decided(declared(alice=ALICE), there, allowed=("alice",)))


def test_a_cloud_is_a_member_of_its_stages_and_not_of_the_verification() -> None:
    declaration = declared(alice=ALICE)
    looks = {**pod().looks(), CLOUD: look()}
    request = Request(hosts=[CLOUD])
    found = members(decide(declaration, looks, request), declaration, looks, request, verifies_all=False)
    assert [(each["host"], each["groups"]) for each in found] == [(CLOUD, ["ipu_pod_stage_clouds"])]
    assert changing(found) == [CLOUD]


def test_user_data_are_of_vpods_of_which_a_machine_is_to_be_made() -> None:
    share = {"machines": "kept", "key": "ssh-ed25519 AAAA", "image": "debian"}
    declaration = declared(alice=ALICE, bob={**BOB, "cloud": {**BOB["cloud"], **share}})
    debian = {"name": "debian", "project_id": "p0", "visibility": "public", "hidden": False}
    looks = {**pod().looks(), CLOUD: look(images=[debian])}
    request = Request(hosts=[CLOUD])
    [found] = members(decide(declaration, looks, request), declaration, looks, request, verifies_all=False)
    assert found["options"][stages.CLOUDS]["user_data"] == [{"vpod": "bob", "controller": CONTROLLER}]


@pytest.mark.parametrize(
    ("hypervisor", "finding"),
    [
        ({"state": "down"}, ["nova-compute on p-poplar3 is down"]),
        ({"status": "disabled"}, ["nova-compute on p-poplar3 is disabled"]),
        ({"agents": []}, ["Neutron has no agent for Open vSwitch on p-poplar3 that is alive"]),
        (
            {"agents": [{**HYPERVISOR["agents"][0], "alive": False}]},  # type: ignore[index]
            ["Neutron has no agent for Open vSwitch on p-poplar3 that is alive"],
        ),
        (
            {"agents": [{**HYPERVISOR["agents"][0], "mappings": {"other": "br-ex"}}]},  # type: ignore[index]
            ["no Neutron agent for Open vSwitch on p-poplar3 knows physical network rnic"],
        ),
        ({}, []),
    ],
)
def test_what_is_wrong_with_a_hypervisor_is_a_finding(hypervisor: dict[str, Any], finding: Sequence[str]) -> None:
    found = decided(declared(alice=ALICE), look(hypervisors=[{**HYPERVISOR, **hypervisor}]))
    assert [each["finding"] for each in found.findings if each["device"] == CLOUD] == finding


SRIOV = {"binary": "neutron-sriov-nic-agent", "alive": True, "mappings": {"rnic": ["rnic0"]}}


@pytest.mark.parametrize(
    ("agents", "finding"),
    [
        ([SRIOV], []),
        (
            HYPERVISOR["agents"],
            ["Neutron has no agent for SR-IOV on p-poplar3 that is alive: start neutron-sriov-nic-agent"],
        ),
        ([{**SRIOV, "alive": False}], ["Neutron has no agent for SR-IOV on p-poplar3 that is alive: start neutron-sr"]),
        (
            [{**SRIOV, "mappings": {"other": ["rnic0"]}}],
            [
                "no Neutron agent for SR-IOV on p-poplar3 knows physical network rnic: map it there, in "
                "physical_device_mappings, as rnic:rnic0"
            ],
        ),
        (
            [{**SRIOV, "mappings": {"rnic": ["eth1", "eth2"]}}],
            [
                "Neutron on p-poplar3 has eth1, eth2 for physical network rnic, and the RNIC is rnic0: correct "
                "physical_device_mappings there: rnic:rnic0"
            ],
        ),
    ],
)
def test_where_machines_get_virtual_functions_the_sriov_agent_has_to_map_the_rnic(
    agents: list[dict[str, Any]], finding: Sequence[str]
) -> None:
    found = decided(declared(functions=8, alice=ALICE), look(hypervisors=[{**HYPERVISOR, "agents": agents}]))
    said = [f"{each['finding']}: {each['remedy']}" for each in found.findings if each["device"] == CLOUD]
    assert len(said) == len(finding)
    assert all(each.startswith(start) for each, start in zip(said, finding, strict=True))


def with_controller(**alice: Any) -> Declaration:
    more = {"management": MANAGED, "controllers": {HOST: "10.6.1.220"}}
    return declared(more=more, alice={**CONTROLLED, **alice})


def look_for_controller(**there: Any) -> dict[str, Any]:
    """A cloud that can have the machine of a controller; what is ``there`` of servers and projects is in it."""
    networks = [{"id": f"n-{name}", "name": name, "vpod": None} for name in ("control", "management")]
    return look(
        hypervisors=[HYPERVISOR, {**HYPERVISOR, "name": "compute001", "agents": []}],
        networks=[{**each, "project": "admin", "project_id": "p0"} for each in networks],
        images=[{"name": "debian", "project_id": "p0", "visibility": "public", "hidden": False}],
        roles=[{"name": "member"}, {"name": "admin"}],
        **there,
    )


def test_a_controller_without_its_machine_is_refused_with_the_playbook_that_makes_it() -> None:
    looks = {**pod().looks(), CLOUD: look_for_controller()}
    found = decide(with_controller(), looks, Request(hosts=[*looks, HOST]))
    assert found.refusals == [f"{HOST}: its machine is not there yet; run openstack.yml, which makes it in cloud001"]


def test_openstack_yml_makes_it_before_it_can_be_looked_at() -> None:
    looks = {**pod().looks(), CLOUD: look_for_controller()}
    found = decide(with_controller(), looks, Request(hosts=[*looks, HOST], parts=["clouds"]))
    assert found.refusals == []
    assert ("server", HOST) in in_cloud(found)


def test_its_machine_goes_in_the_last_stage_when_what_needs_it_is_gone() -> None:
    marked = {"vpod": "alice:controller", "domain": "Default", "description": ""}
    there = look_for_controller(
        projects=[{**marked, "id": "p1", "name": HOST}], servers=[server(HOST, "p1", HOST, "alice:controller")]
    )
    found = decided(with_controller(state="absent"), there, allowed=("alice",))
    assert [(step["stage"], step["kind"]) for step in found.plan.steps if step["device"] == CLOUD] == [
        (stages.CLOUDS, "server"),
        (stages.CLOUDS, "project"),
    ]


def test_a_controller_whose_machine_went_with_its_vpod_is_not_missed() -> None:
    looks = {**pod().looks(), CLOUD: look_for_controller()}
    found = decide(with_controller(state="absent"), looks, Request(hosts=[*looks, HOST]))
    assert (found.refusals, in_cloud(found)) == ([], [])


def test_a_machine_that_is_kept_waits_for_that_of_its_controller() -> None:
    def started(cloud: dict[str, Any]) -> list[str]:
        return [each["name"] for each in startable({"servers": wanted}, cloud)["servers"]]

    wanted = [
        {"name": HOST, "project": HOST, "vpod": "alice:controller"},
        *({"name": name, "project": "alice", "vpod": "alice"} for name in ("alice-1", "alice-2")),
    ]
    project = {"id": "p1", "name": HOST, "vpod": "alice:controller"}
    machine, kept = server(HOST, "p1", HOST, "alice:controller"), server("alice-1", "p2", "alice", "alice")
    assert started(look_for_controller(projects=[project])) == [HOST]
    assert started(look_for_controller(projects=[project], servers=[kept])) == [HOST, "alice-1"]
    half_made = {**machine, "status": "ERROR", "launched": False}
    assert started(look_for_controller(projects=[project], servers=[half_made])) == [HOST]
    assert started(look_for_controller(projects=[project], servers=[machine])) == [HOST, "alice-1", "alice-2"]
