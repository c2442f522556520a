# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine of a dedicated V-IPU controller: what it is made of, who reaches it, and when it comes and goes."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import kept, plan
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.clouds import desired_clouds
from tests.support.in_memory.cloud import InMemoryCloud, server
from tests.support.in_memory.cloud_of_alice import refusal
from tests.support.in_memory.cloud_of_controller import CLOUD, HOST, cloud_before, document

MARK = "alice:controller"
TRAIT = "CUSTOM_IPU_POD_ALICE_CONTROLLER_"


def options(given: dict[str, Any]) -> dict[str, Any]:
    return desired_clouds(parse_declaration(given))[CLOUD]


def of_controller(given: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [each for each in options(given)[kind] if each.get("vpod") == MARK]


def brief(steps: list[Step]) -> list[str]:
    return [f"{step.action} {step.kind} {step.name}" for step in steps]


def with_all() -> InMemoryCloud:
    cloud = cloud_before()
    for step in plan(options(document()), cloud.look):
        cloud.carry_out(step)
    return cloud


def test_it_is_in_a_project_of_its_own_on_compute_nodes_that_have_the_management_network() -> None:
    assert [each["name"] for each in of_controller(document(), "projects")] == [HOST]
    [trait] = of_controller(document(), "traits")
    [flavor] = of_controller(document(), "flavors")
    assert trait["name"].startswith(TRAIT)
    assert trait["hypervisors"] == ["compute001"]
    assert flavor["extra_specs"] == {f"trait:{trait['name']}": "required"}
    assert of_controller(document(), "members") == []


def test_its_ports_have_the_declared_addresses_and_groups_of_their_own() -> None:
    [machine] = of_controller(document(), "servers")
    assert [(each["network"], each["address"], each["security_groups"]) for each in machine["ports"]] == [
        ("control", "10.6.1.220", [HOST]),
        ("management", "10.1.3.220", [f"{HOST}-management"]),
    ]


def test_each_port_lets_in_ssh_of_operators_and_the_port_for_users_of_those_who_have_the_vpod() -> None:
    groups = {each["name"]: each["rules"] for each in of_controller(document(), "security_groups")}
    # The TCP port for users of a vPOD with VLAN 101.
    users = 10404
    assert {name: [(rule["port"], rule["remote"]) for rule in rules] for name, rules in groups.items()} == {
        HOST: [(22, "10.6.0.0/24"), (users, "10.6.1.0/24")],
        f"{HOST}-management": [(22, "10.1.3.1/32"), (users, "10.1.3.103/32")],
    }


def test_the_operator_makes_it_with_a_role_that_sees_the_management_network() -> None:
    found = brief(plan(options(document()), cloud_before().look))
    assert f"create member admin as admin in {HOST}" in found
    assert found[-1] == f"create server {HOST}"


def test_a_second_run_has_nothing_to_do() -> None:
    assert plan(options(document()), with_all().look) == []


def test_it_stays_when_all_else_of_an_absent_vpod_goes_first() -> None:
    given = document(state="absent")
    first = {**options(given), "absent_vpods": ["alice"]}
    cloud = with_all()
    for step in plan(first, cloud.look, ["alice"]):
        cloud.carry_out(step)
    assert [each["name"] for each in cloud.look["servers"] if each["vpod"]] == [HOST]
    assert "remove server alice-controller" in brief(plan(options(given), cloud.look, ["alice"]))


def test_nothing_is_left_of_it_when_it_goes_with_its_vpod() -> None:
    given, cloud = document(state="absent"), with_all()
    for step in plan(options(given), cloud.look, ["alice"]):
        cloud.carry_out(step)
    assert cloud.look == cloud_before().look
    assert kept(options(given), cloud.look) == []


def test_who_leaves_it_out_removes_it_where_the_vpod_may_be_interrupted() -> None:
    given = document()
    del given["vpods"]["alice"]["cloud"]["controller"]
    found = brief(plan(options(given), with_all().look, ["alice"]))
    assert found[0] == f"remove server {HOST}"
    assert {each.rpartition(" ")[2].startswith((HOST, "vpod-alice-controller", TRAIT, "controller-")) for each in found}


def test_a_tenant_cannot_make_a_machine_that_counts_as_the_controllers() -> None:
    cloud = with_all()
    project = next(each for each in cloud.look["projects"] if each["name"] == "alice")
    cloud.look["servers"].append(server(HOST, project["id"], "alice", MARK, id="theirs"))
    assert plan(options(document()), cloud.look) == []
    gone = brief(plan(options(document(state="absent")), cloud.look, ["alice"]))
    assert [each for each in gone if each.startswith("remove server")] == [f"remove server {HOST}"]


def test_it_is_never_made_again_since_its_storage_is_on_it() -> None:
    given = document()
    given["vpods"]["alice"]["cloud"]["controller"]["key"] = "ssh-ed25519 BBBB another"
    said = refusal(options(given), with_all().look, ("alice",))
    assert said.startswith("server alice-controller: key is ")
    assert said.endswith("no run makes it again; declare what it has, or make vPOD alice absent first")


def test_one_that_never_ran_is_made_again() -> None:
    cloud = with_all()
    [machine] = [each for each in cloud.look["servers"] if each["name"] == HOST]
    machine.update(status="ERROR", launched=False)
    assert brief(plan(options(document()), cloud.look)) == [f"remove server {HOST}", f"create server {HOST}"]
