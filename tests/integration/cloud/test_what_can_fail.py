# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real services fail, one after the other and in the middle of a run, and other clients see what is declared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ipu.pod.plugins.module_utils._cloud import apply as applying
from ansible_collections.ipu.pod.plugins.module_utils._cloud.client import connect
from ansible_collections.ipu.pod.plugins.module_utils._cloud.engine import Engine, with_checksums
from ansible_collections.ipu.pod.plugins.module_utils._cloud.look import look_at_cloud
from ansible_collections.ipu.pod.plugins.module_utils._cloud.planner import plan
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import (
    DeviceError,
    Outcome,
    Refused,
    converge,
    one_by_one,
)
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.clouds import desired_clouds
from tests.integration.cloud.conftest import INVENTORY
from tests.integration.conftest import Pod
from tests.support.playbook_run import JSON_OUTPUT, read_run, run_playbook
from tests.support.simulated_pod import STATE

Options = dict[str, Any]
CLOUD = "cloud001"
UNITS = {
    "Keystone": "keystone",
    "Placement": "placement-api",
    "Nova": "nova-api",
    "Neutron": "neutron-server",
    "Glance": "glance-api",
    "Cinder": "cinder-api",
}
PORTS = {"Keystone": 5000, "Placement": 8778, "Nova": 8774, "Neutron": 9696, "Glance": 9292, "Cinder": 8776}
ADDRESS = "10.3.1.210"


def declared(**bob: Any) -> Options:
    """What the cloud shall have; by keyword, more of what bob has there."""
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["vpods"]["bob"]["cloud"].update(bob)
    only = {key: value for key, value in document.items() if key not in ("plugin", "sim")}
    return dict(with_checksums(desired_clouds(parse_declaration(only))[CLOUD]))


def with_a_machine(**bob: Any) -> Options:
    key = (STATE / "id_ed25519.pub").read_text().strip()
    return declared(machines="kept", image="poplar", key=key, volumes={"data": 1}, **bob)


def run(desired: Options, entry: str = CLOUD, before: Callable[[Step], None] = lambda _step: None) -> Outcome:
    """A run of the cloud that may interrupt bob; ``before`` is called before each step."""
    engine = Engine(connect(entry), desired, ["bob"], wait_timeout=120)

    def carry_out(step: Step) -> None:
        before(step)
        engine.carry_out(step)

    return converge(engine.read, engine.plan, one_by_one(carry_out), check_mode=False)


def test_other_clients_see_what_is_declared(pod: Pod, tmp_path: Path) -> None:
    """By the modules of openstack.cloud, which share nothing with ours."""
    asked = {
        "project": ("project_info", {"name": "alice"}),
        "network": ("networks_info", {"name": "vpod-alice-rnic"}),
        "subnet": ("subnets_info", {"name": "vpod-alice-rnic"}),
        "group": ("security_group_info", {"name": "vpod-alice"}),
        "flavor": ("compute_flavor_info", {"name": "vpod-alice-16"}),
        # In check mode it says whether it would change something.
        "quota": ("quota", {"name": "alice", "instances": 4, "cores": 8, "ram": 4096, "volumes": 4, "gigabytes": 20}),
        "other quota": ("quota", {"name": "alice", "instances": 5}),
    }
    tasks = [
        {"name": name, f"openstack.cloud.{module}": {"cloud": CLOUD, **options}, "check_mode": "quota" in module}
        for name, (module, options) in asked.items()
    ]
    play = [{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}]
    (tmp_path / "play.yml").write_text(yaml.safe_dump(play))
    interpreter = {"ANSIBLE_PYTHON_INTERPRETER": str(pod.programs / "python")}
    done = read_run("openstack.cloud", run_playbook(tmp_path / "play.yml", **JSON_OUTPUT, **interpreter))
    assert (done.code, done.messages) == (0, "")
    seen = {task["task"]["name"]: task["hosts"]["localhost"] for task in done.document["plays"][0]["tasks"]}
    (project,) = seen["project"]["projects"]
    assert (project["is_enabled"], sorted(project["tags"])) == (True, ["ipu.pod", "ipu.pod:vpod=alice"])
    (network,) = seen["network"]["networks"]
    assert (network["provider_physical_network"], network["provider_segmentation_id"]) == ("rnic", 101)
    assert (network["mtu"], network["is_port_security_enabled"]) == (9000, False)
    (subnet,) = seen["subnet"]["subnets"]
    assert (subnet["cidr"], subnet["is_dhcp_enabled"], subnet["gateway_ip"]) == ("10.5.0.0/16", False, None)
    assert subnet["allocation_pools"] == [{"start": "10.5.1.192", "end": "10.5.1.223"}]
    (group,) = seen["group"]["security_groups"]
    assert group["project_id"] == project["id"]
    (rule,) = (each for each in group["security_group_rules"] if each["direction"] == "ingress")
    assert (rule["protocol"], rule["port_range_min"], rule["port_range_max"]) == ("tcp", 22, 22)
    assert rule["remote_ip_prefix"] == "10.6.0.0/24"
    (flavor,) = seen["flavor"]["flavors"]
    assert (flavor["vcpus"], flavor["ram"], flavor["disk"], flavor["is_public"]) == (1, 512, 4, False)
    assert flavor["extra_specs"] == {"trait:CUSTOM_IPU_POD_ALICE": "required"}
    assert [seen[name]["changed"] for name in ("quota", "other quota")] == [False, True]


def inventory_of(folder: Path, document: Any) -> Path:
    """A folder with this pods.yml and the connections to the devices."""
    folder.mkdir(exist_ok=True)
    (folder / "pods.yml").write_text(yaml.safe_dump(document))
    (folder / "group_vars").symlink_to(INVENTORY / "group_vars")
    return folder


def test_what_is_gathered_of_a_cloud_keeps_it(pod: Pod, tmp_path: Path) -> None:
    known = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    vpods = known.pop("vpods")
    place = tmp_path / "gathered"
    begin = inventory_of(tmp_path / "known", known)
    run = pod.playbook("gather", "-e", f"gather_directory={place}", inventory=begin)
    assert (run.code, run.messages) == (0, "")
    document = yaml.safe_load((place / "pods.yml").read_text())
    gathered = document["vpods"]
    for name, words in vpods.items():
        # As whom one logs in to an image, no cloud says.
        del words["cloud"]["login"]
        assert {key: gathered[name][key] for key in ("vlan", "poplar_servers", "cloud")} == {
            key: words[key] for key in ("vlan", "poplar_servers", "cloud")
        }
    done = pod.playbook("openstack", "--check", inventory=inventory_of(tmp_path / "mine", document))
    assert (done.code, done.messages, done.changes) == (0, "", [])


def test_what_the_cloud_cannot_hold_is_refused(operator: Any) -> None:
    theirs = operator.network.create_network(
        name="theirs",
        project_id=operator.identity.find_project("alice").id,
        provider_network_type="vlan",
        provider_physical_network="rnic",
        provider_segmentation_id=150,
    )
    look = look_at_cloud(connect(CLOUD))
    operator.network.delete_network(theirs)
    vlan = declared()
    vlan["networks"] = [{**each, "vlan": 150} if each["vpod"] == "bob" else each for each in vlan["networks"]]
    quota = {"instances": 0, "cores": 8, "ram": 4096, "volumes": 4, "gigabytes": 20}
    for desired, said in (
        (vlan, "network vpod-bob-rnic: VLAN 150 of physical network rnic is taken by network theirs of project alice"),
        (
            declared(machine={"vcpus": 4096, "memory": 512, "disk": 4}),
            "flavor vpod-bob-16: it needs 4096 CPUs, and fits on no hypervisor of vPOD bob: pod001-poplar4 has ",
        ),
        (
            with_a_machine(quota=quota),
            "quota bob: instances is 0, 0 are in use, and what the run is to make needs 1; declare a larger quota",
        ),
    ):
        with pytest.raises(Refused) as refused:
            plan(desired, look)
        assert said in str(refused.value)


@pytest.mark.parametrize("service", UNITS)
def test_each_service_that_is_down_is_named_and_found_again(pod: Pod, service: str) -> None:
    # Not gently: uWSGI would wait for clients who keep their connections.
    pod.inside(CLOUD, f"systemctl kill --signal=KILL {UNITS[service]} && systemctl stop {UNITS[service]}")
    with pytest.raises(DeviceError) as error:
        look_at_cloud(connect(CLOUD))
    pod.inside(CLOUD, f"systemctl start {UNITS[service]}")
    pod.inside(CLOUD, f"timeout 120 await-http http://{ADDRESS}:{PORTS[service]}/")
    said = str(error.value)
    assert said.startswith(f"cloud cloud001: {service} does not answer when asked to ")
    assert said.count("cloud cloud001: ") == 1
    assert look_at_cloud(connect(CLOUD))["services"] == sorted(UNITS)


def test_a_run_says_in_one_sentence_which_service_is_down(pod: Pod) -> None:
    pod.inside(CLOUD, f"systemctl stop {UNITS['Placement']}")
    done = pod.playbook("openstack")
    pod.inside(CLOUD, f"systemctl start {UNITS['Placement']}")
    assert done.code != 0
    assert done.changes == []
    assert "cloud001: Placement does not answer when asked to " in done.messages


def test_a_machine_that_somebody_deletes_while_it_is_made_is_made_by_the_next_run(
    operator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    desired, deleted = with_a_machine(), []

    def delete(_seconds: float) -> None:
        if not deleted:
            (server,) = operator.compute.servers(all_projects=True, name="bob-1")
            operator.compute.delete_server(server.id, force=True)
            deleted.append(server.id)

    def watch(step: Step) -> None:
        # The run sleeps when it waits for the machine.
        if step.kind == "server":
            monkeypatch.setattr(applying.time, "sleep", delete)

    outcome = run(desired, before=watch)
    monkeypatch.undo()
    # Which of its waits it was in, for the machine or for its volume, is up to Nova.
    assert re.search(r"\bserver bob-1\b", str(outcome.failure))
    assert run(desired).failure is None
    (server,) = operator.compute.servers(all_projects=True, name="bob-1")
    assert (server.status, server.id not in deleted) == ("ACTIVE", True)
    assert [volume.name for volume in operator.block_storage.volumes(all_projects=True)] == ["bob-1-data"]
    assert run(desired).steps == []


@pytest.fixture(name="second_operator")
def _second_operator(operator: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Another operator, whose entry has the same name; the tests take the account away."""
    identity = operator.identity
    user = identity.create_user(name="second", password="for a moment", domain_id="default")
    project, role = identity.find_project("admin"), identity.find_role("admin")
    identity.assign_project_role_to_user(project, user, role)
    clouds = yaml.safe_load((STATE / "clouds.yaml").read_text())
    clouds["clouds"][CLOUD]["auth"].update(username="second", password="for a moment")
    (tmp_path / "clouds.yaml").write_text(json.dumps(clouds))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    yield user
    identity.delete_user(user)


def test_credentials_that_end_during_a_run_are_said_and_the_next_run_goes_on(
    operator: Any, second_operator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    desired = deepcopy(declared())

    def end(step: Step) -> None:
        if step.kind == "port":
            operator.identity.update_user(second_operator, is_enabled=False)

    outcome = run(desired, before=end)
    assert "Keystone answered 401 when asked to " in str(outcome.failure)
    assert "the credentials are wrong or have ended" in str(outcome.failure)
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(STATE / "clouds.yaml"))
    assert run(desired).failure is None
    assert run(desired).steps == []
    assert list(operator.compute.servers(all_projects=True)) == []
