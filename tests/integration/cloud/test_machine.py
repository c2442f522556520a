# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine that a tenant alone has made from podsim's image: a shell, the RNIC network and a volume in it."""

from __future__ import annotations

import errno
import shlex
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cloud.conftest import connected
from tests.support.checkout import PROGRAMS
from tests.support.simulated_pod import STATE, podsim

VLAN, RNIC_MTU = 102, 9000
ADDRESS, IPU_MACHINE, IPU_MACHINE_PORT = "10.5.1.224", "10.5.1.2", "Ethernet10/1"
# An echo request with its headers fills a frame of the full MTU.
PING = f"ping -q -c 3 -i 0.2 -W 5 -M do -s {RNIC_MTU - 28} {IPU_MACHINE}"
SSH_PORT = 22
# Emulated processors are slow.
PATIENCE = 400
# Longer than a host asks for a neighbour's address in vain.
DROPPED_SECONDS = 10


@dataclass(frozen=True)
class Machine:
    """A running one.

    Args:
        identity: of the server.
        host: the hypervisor that Nova has chosen.
        address: in the control network.
        rnic_mac: of its port in the RNIC network.
        key: the file of its owner's key.
    """

    identity: str
    host: str
    address: str
    rnic_mac: str
    key: Path

    def inside(self, command: str) -> str:
        """The output of a command of its owner, who logs in from the control node."""
        return subprocess.run(self._ssh(command), capture_output=True, text=True, check=True).stdout

    def wait_for_login(self) -> None:
        """Wait until its owner has a shell and cloud-init has done all that it does."""
        until = 'until "$@"; do sleep 1; done'
        login = ["timeout", str(PATIENCE), "sh", "-c", until, "sh", *self._ssh("cloud-init status --wait")]
        assert "status: done" in subprocess.run(login, capture_output=True, text=True, check=False).stdout

    def lets_in(self) -> bool:
        """Whether TCP reaches it from the control node, as soon as it has booted: until then it answers no ARP."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection((self.address, SSH_PORT), DROPPED_SECONDS).close()
            except TimeoutError:
                return False
            except ConnectionRefusedError:
                return True
            except OSError as error:
                if error.errno != errno.EHOSTUNREACH or time.monotonic() > deadline:
                    raise
            else:
                return True

    def _ssh(self, command: str) -> list[str]:
        options = {
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": "/dev/null",
            "LogLevel": "ERROR",
            "ConnectTimeout": "10",
            "ControlPath": self.key.parent / "ssh",
            "ControlMaster": "auto",
            "ControlPersist": str(PATIENCE),
        }
        settings = [f"-o{name}={value}" for name, value in options.items()]
        return ["ssh", *settings, "-i", str(self.key), f"debian@{self.address}", command]


@pytest.fixture(scope="module", name="project")
def _project(operator: Any) -> Any:
    """What the operator gives a tenant: a project with the RNIC network, a flavor and an image for all."""
    podsim("prerequisites", "--install", "--clouds", may_be_unavailable=True)
    identity = operator.identity
    project = identity.create_project(name="bob", domain_id="default")
    identity.assign_project_role_to_user(project, identity.find_user("bob"), identity.find_role("member"))
    network = operator.network.create_network(
        name="rnic-bob",
        project_id=project.id,
        is_port_security_enabled=False,
        provider_network_type="vlan",
        provider_physical_network="rnic",
        provider_segmentation_id=VLAN,
    )
    operator.network.create_subnet(
        name="rnic-bob",
        network_id=network.id,
        project_id=project.id,
        ip_version=4,
        cidr="10.5.0.0/16",
        gateway_ip=None,
        is_dhcp_enabled=False,
        allocation_pools=[{"start": ADDRESS, "end": "10.5.1.254"}],
    )
    operator.compute.create_flavor(name="guest", ram=512, vcpus=1, disk=3)
    made = subprocess.run([f"{PROGRAMS}/podsim", "guest-image"], stdout=subprocess.PIPE, text=True, check=True)
    disk = {"disk_format": "qcow2", "container_format": "bare"}
    image = operator.create_image("guest", filename=made.stdout.strip(), **disk, wait=True)
    operator.image.update_image(image.id, visibility="public")
    return project


@pytest.fixture(scope="module", name="tenant")
def _tenant(project: Any) -> Any:
    assert project
    return connected("cloud001-bob")


@pytest.fixture(scope="module", name="machine")
def _machine(operator: Any, tenant: Any, fresh_pod: Any, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    key = tmp_path_factory.mktemp("owner") / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    tenant.compute.create_keypair(name="bob", public_key=key.with_suffix(".pub").read_text())
    rnic, control = (
        tenant.network.create_port(name=name, network_id=tenant.network.find_network(network).id)
        for name, network in (("rnic", "rnic-bob"), ("control", "control"))
    )
    server = tenant.compute.create_server(
        name="bob-1",
        key_name="bob",
        image_id=tenant.image.find_image("guest").id,
        flavor_id=tenant.compute.find_flavor("guest").id,
        networks=[{"port": control.id}, {"port": rnic.id}],
    )
    tenant.compute.wait_for_server(server, wait=PATIENCE)
    host = operator.compute.get_server(server.id).compute_host
    # What a run of site.yml would have done.
    fresh_pod.inside(host, f"ip link set rnic0 up mtu {RNIC_MTU}")
    fresh_pod.switch(
        *("configure", f"vlan {VLAN}", f"interface {IPU_MACHINE_PORT}", f"switchport access vlan {VLAN}"),
        *(f"interface {port_of(fresh_pod, host)}", "switchport mode trunk", f"switchport trunk allowed vlan 1,{VLAN}"),
    )
    address = control.fixed_ips[0]["ip_address"]
    return Machine(server.id, host, address, rnic.mac_address, key)


def port_of(pod: Any, server: str) -> str:
    """The port of the ToR switch that a server's RNIC is cabled to."""
    return str(pod.sim["poplar_servers"][server]["rnics"]["rnic0"]["cable"].split()[1])


def let_in(tenant: Any, remote: str) -> None:
    """A rule of the tenant for SSH."""
    [group] = tenant.network.security_groups(name="default", project_id=tenant.current_project_id)
    ports = {"port_range_min": SSH_PORT, "port_range_max": SSH_PORT}
    tenant.network.create_security_group_rule(
        security_group_id=group.id, direction="ingress", protocol="tcp", **ports, remote_ip_prefix=remote
    )


def test_nobody_reaches_it_unless_its_owner_says_so(tenant: Any, machine: Machine) -> None:
    assert not machine.lets_in()
    let_in(tenant, "10.6.0.1/32")
    machine.wait_for_login()
    assert machine.inside("hostname") == "bob-1\n"


def test_a_rule_lets_in_whom_it_names_alone(tenant: Any, machine: Machine, fresh_pod: Any) -> None:
    greeting = f"busybox nc -w {DROPPED_SECONDS} {machine.address} {SSH_PORT} </dev/null"
    assert fresh_pod.inside("ctrl001", f"{greeting} || true") == ""
    ping = ["ping", "-c", "1", "-W", "2", machine.address]
    assert subprocess.run(ping, capture_output=True, check=False).returncode == 1
    let_in(tenant, "10.6.0.200/32")
    until = f"until {greeting} | grep SSH; do sleep 1; done"
    assert "SSH-2.0" in fresh_pod.inside("ctrl001", f"timeout {PATIENCE} sh -c {shlex.quote(until)}")


def test_full_frames_reach_an_ipu_machine_over_the_rnic_network(machine: Machine, fresh_pod: Any) -> None:
    assert " 0% packet loss" in machine.inside(PING)
    rows = [row.split() for row in fresh_pod.switch("show mac address-table")[-1]["output"].splitlines()]
    digits = machine.rnic_mac.replace(":", "")
    port = port_of(fresh_pod, machine.host).replace("Ethernet", "Et")
    assert [str(VLAN), f"{digits[:4]}.{digits[4:8]}.{digits[8:]}", "DYNAMIC", port] in rows


def test_a_volume_is_a_disk_that_it_sees_as_it_runs(tenant: Any, machine: Machine) -> None:
    volume = tenant.create_volume(1, name="data", wait=True, timeout=PATIENCE)
    server = tenant.compute.get_server(machine.identity)
    tenant.attach_volume(server, volume, wait=True, timeout=PATIENCE)
    present = "until [ -b /dev/vdb ]; do sleep 0.1; done"
    machine.inside(f"timeout {PATIENCE} sh -c {shlex.quote(present)}; echo kept | sudo tee /dev/vdb; sync")
    tenant.detach_volume(server, volume, wait=True, timeout=PATIENCE)
    machine.inside("[ ! -e /dev/vdb ]")
    file = STATE / "clouds" / "cloud001" / "volumes" / f"volume-{volume.id}"
    with file.open("rb") as content:
        assert content.read(5) == b"kept\n"


def test_it_is_gone_with_all_that_it_had_but_its_volume(tenant: Any, machine: Machine, fresh_pod: Any) -> None:
    tenant.delete_server(machine.identity, wait=True, timeout=PATIENCE)
    assert fresh_pod.inside(machine.host, "virsh list --all --name").strip() == ""
    assert "tap" not in fresh_pod.inside(machine.host, "ovs-vsctl list-ports br-int")
    assert tenant.get_volume("data").status == "available"
