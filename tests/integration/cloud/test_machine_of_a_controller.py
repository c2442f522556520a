# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A vPOD gets a machine for its own V-IPU controller, alone on the tenants' network and on that of management."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.cloud.conftest import INVENTORY, connected
from tests.integration.cloud.test_tenants_of_a_cloud import Guest
from tests.integration.cloud.test_without_a_restart import runs
from tests.integration.conftest import Pod
from tests.support.simulated_pod import STATE

VPOD, HOST, NODE = "carol", "carol-controller", "compute001"
MANAGEMENT, CONTROL = "10.3.1.220", "10.6.1.220"
# The TCP ports of a dedicated controller by the vPOD's VLAN, which is 103.
USERS, ADMINISTRATORS = 10412, 10413
# An address among those of tenants' machines, and a Poplar server of the vPOD.
CLIENT, SERVER = "10.6.1.250", "pod001-poplar4"
AGENT = ("10.2.1.1", 8080)
CONNECT = """
import socket, sys
source, address, port = sys.argv[1:]
connection = socket.socket()
connection.settimeout(3)
connection.bind((source, 0))
try:
    connection.connect((address, int(port)))
    print("open")
except TimeoutError:
    print("dropped")
except ConnectionRefusedError:
    print("refused")
"""


def document(**carol: Any) -> dict[str, Any]:
    """The pods.yml of the pod, with a vPOD whose controller has a machine."""
    found: dict[str, Any] = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    found["clouds"]["cloud001"]["controllers"][HOST] = CONTROL
    key = (STATE / "id_ed25519.pub").read_text().strip()
    own = {"image": "poplar", "key": key, "clients": ["10.6.1.0/24"], "machine": {"vcpus": 1, "memory": 512, "disk": 4}}
    found["vpods"][VPOD] = {
        "cluster": "c001",
        "ipus": 4,
        "vlan": 103,
        "users": [VPOD],
        "poplar_servers": [SERVER],
        "controller": "dedicated",
        "controller_address": MANAGEMENT,
        "cloud": {"name": "cloud001", "controller": own, "machine": {"vcpus": 1, "memory": 512, "disk": 4}},
        **carol,
    }
    return found


def inventory(folder: Path, found: dict[str, Any]) -> Path:
    (folder / "pods.yml").write_text(yaml.safe_dump(found))
    (folder / "group_vars").symlink_to(INVENTORY / "group_vars")
    (folder / "host_vars").mkdir()
    # As machines of a cloud are reached, whose host keys say nothing.
    login = yaml.safe_load((INVENTORY / "group_vars" / "ipu_pod_machines.yml").read_text())
    (folder / "host_vars" / f"{HOST}.yml").write_text(
        yaml.safe_dump({**login, "ansible_user": "debian", "ansible_become": True})
    )
    return folder


@pytest.fixture(scope="module", name="there")
def _there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return inventory(tmp_path_factory.mktemp("there"), document())


@pytest.fixture(scope="module", name="gone")
def _gone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return inventory(tmp_path_factory.mktemp("gone"), document(state="absent"))


@pytest.fixture(scope="module", name="machine")
def _machine(pod: Pod, there: Path) -> Guest:
    """The machine as openstack.yml makes it, once its operator can log in."""
    assert runs(pod, "openstack", inventory=there)
    guest = Guest(MANAGEMENT)
    guest.wait_for_login()
    return guest


@pytest.fixture(scope="module", name="client")
def _client(pod: Pod) -> Iterator[str]:
    """A host with an address among those of tenants' machines."""
    pod.inside("ctrl001", f"ip address add {CLIENT}/16 dev control0")
    yield "ctrl001"
    pod.inside("ctrl001", f"ip address del {CLIENT}/16 dev control0")


def from_there(pod: Pod, host: str, source: str, address: str, port: int) -> str:
    return pod.inside(host, f"python3 -c '{CONNECT}' {source} {address} {port}").strip()


def from_here(source: str, address: str, port: int) -> str:
    done = subprocess.run(
        ["python3", "-c", CONNECT, source, address, str(port)], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_it_is_in_a_project_of_its_own_on_a_compute_node(machine: Guest, operator: Any) -> None:
    assert machine
    (server,) = operator.compute.servers(all_projects=True, name=HOST)
    project = operator.identity.find_project(HOST)
    assert (server.status, server.project_id, server.hypervisor_hostname) == ("ACTIVE", project.id, NODE)
    roles = operator.identity.role_assignments(scope_project_id=project.id)
    assert [each.user["id"] for each in roles] == [operator.current_user_id]


def test_a_second_run_changes_nothing(machine: Guest, pod: Pod, there: Path) -> None:
    assert machine
    assert runs(pod, "openstack", inventory=there) == []


def test_it_reaches_the_agents_and_passes_nothing_on(machine: Guest) -> None:
    address, port = AGENT
    assert machine.said(f"exec 3<>/dev/tcp/{address}/{port} && echo open") == "open\n"
    assert machine.said("cat /proc/sys/net/ipv4/ip_forward") == "0\n"


def test_on_the_tenants_network_it_takes_users_and_operators_alone(machine: Guest, pod: Pod, client: str) -> None:
    """What is refused was let in; nothing listens there yet."""
    assert machine
    node = pod.sim["control"]["control_node"]
    assert {port: from_here(node, CONTROL, port) for port in (22, USERS, ADMINISTRATORS)} == {
        22: "open",
        USERS: "dropped",
        ADMINISTRATORS: "dropped",
    }
    assert {port: from_there(pod, client, CLIENT, CONTROL, port) for port in (22, USERS, ADMINISTRATORS)} == {
        22: "dropped",
        USERS: "refused",
        ADMINISTRATORS: "dropped",
    }


def test_on_the_management_network_it_takes_the_servers_of_the_vpod_and_the_control_node_alone(
    machine: Guest, pod: Pod
) -> None:
    assert machine
    servers = pod.sim["poplar_servers"]
    own, other = servers[SERVER]["management"], servers["pod001-poplar1"]["management"]
    assert from_here("10.3.1.254", MANAGEMENT, USERS) == "dropped"
    assert from_there(pod, SERVER, own, MANAGEMENT, USERS) == "refused"
    assert from_there(pod, SERVER, own, MANAGEMENT, 22) == "dropped"
    assert from_there(pod, "pod001-poplar1", other, MANAGEMENT, USERS) == "dropped"


def test_a_tenant_sees_neither_it_nor_the_management_network(machine: Guest) -> None:
    assert machine
    bob = connected("cloud001-bob")
    assert HOST not in [each.name for each in bob.compute.servers()]
    assert "management" not in [each.name for each in bob.network.networks()]


def test_it_is_not_interrupted_unless_somebody_says_so(machine: Guest, pod: Pod, gone: Path) -> None:
    assert machine
    refused = pod.playbook("openstack", inventory=gone)
    assert refused.code != 0
    assert f"that interrupts machine {HOST}" in refused.messages
    assert "vpods_interrupt" in refused.messages


def test_it_goes_with_its_vpod_and_nothing_of_it_stays(machine: Guest, pod: Pod, gone: Path, operator: Any) -> None:
    assert machine
    assert runs(pod, "openstack", "-e", json.dumps({"vpods_interrupt": [VPOD]}), inventory=gone)
    assert list(operator.compute.servers(all_projects=True, name=HOST)) == []
    assert [operator.identity.find_project(name) for name in (HOST, VPOD)] == [None, None]
    assert runs(pod, "openstack", inventory=gone) == []
    assert runs(pod, "site", inventory=INVENTORY) == []
