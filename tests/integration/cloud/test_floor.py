# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated cloud by itself, as a person uses it with OpenStack's own client: its frames cross the ToR switch."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address
from typing import Any

import pytest

from tests.integration.cloud.conftest import connected
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.simulated_pod import STATE, podsim

HYPERVISOR, PORT, IPU_MACHINE_PORT = "pod001-poplar3", "Ethernet29/1", "Ethernet9/1"
ADDRESS, MAC, IPU_MACHINE = "10.5.1.192", "fa:16:3e:00:01:01", "10.5.1.1"
VLAN, RNIC_MTU = 101, 9000
PATIENCE = 120
# The switch's end of the hypervisor's cable.
LINK = "pst1e29-1"


def until(condition: Callable[[], Any], failure: str) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, failure
        time.sleep(0.2)
    return found


def states() -> dict[str, str]:
    """The state of each machine, as `podsim status` has it."""
    said = subprocess.run([f"{PROGRAMS}/podsim", "status"], cwd=ROOT, capture_output=True, text=True, check=False)
    rows = (line.split("  ") for line in said.stdout.splitlines()[1:])
    return {cells[0]: cells[2] for cells in ([cell.strip() for cell in row if cell] for row in rows)}


@pytest.fixture(scope="module", name="operator")
def _operator(fresh_pod: Any) -> Any:
    """The cloud as its operator, before any playbook."""
    assert fresh_pod
    return connected("cloud001")


@pytest.fixture(scope="module", name="project")
def _project(operator: Any) -> Iterator[Any]:
    project = operator.identity.create_project(name="alice", domain_id="default")
    user, role = operator.identity.find_user("alice"), operator.identity.find_role("member")
    operator.identity.assign_project_role_to_user(project, user, role)
    yield project
    operator.identity.delete_project(project)


@pytest.fixture(scope="module", name="tenant")
def _tenant(project: Any) -> Any:
    assert project
    return connected("cloud001-alice")


@pytest.fixture(scope="module", name="network")
def _network(operator: Any, project: Any) -> Any:
    network = operator.network.create_network(
        name="rnic-alice",
        project_id=project.id,
        is_port_security_enabled=False,
        provider_network_type="vlan",
        provider_physical_network="rnic",
        provider_segmentation_id=VLAN,
    )
    pools = [{"start": ADDRESS, "end": "10.5.1.223"}]
    operator.network.create_subnet(
        name="rnic-alice",
        network_id=network.id,
        project_id=project.id,
        ip_version=4,
        cidr="10.5.0.0/16",
        gateway_ip=None,
        is_dhcp_enabled=False,
        allocation_pools=pools,
    )
    return network


@pytest.fixture(scope="module", name="server")
def _server(
    operator: Any, tenant: Any, network: Any, fresh_pod: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    flavor = operator.compute.create_flavor(name="small", ram=128, vcpus=1, disk=1)
    empty = tmp_path_factory.mktemp("image") / "empty.raw"
    empty.write_bytes(bytes(2**20))
    image = operator.create_image("empty", filename=str(empty), disk_format="raw", container_format="bare", wait=True)
    operator.image.update_image(image.id, visibility="public")
    rnic = operator.network.create_port(
        name="rnic",
        network_id=network.id,
        project_id=network.project_id,
        mac_address=MAC,
        fixed_ips=[{"ip_address": ADDRESS}],
    )
    control = tenant.network.create_port(name="control", network_id=tenant.network.find_network("control").id)
    # Only an operator chooses the hypervisor.
    identity = operator.identity
    role, administrator = identity.find_role("admin"), identity.find_user("admin")
    identity.assign_project_role_to_user(network.project_id, administrator, role)
    server = operator.connect_as_project("alice").compute.create_server(
        name="machine",
        image_id=image.id,
        flavor_id=flavor.id,
        networks=[{"port": rnic.id}, {"port": control.id}],
        availability_zone=f"nova:{HYPERVISOR}",
    )
    yield tenant.compute.wait_for_server(server, wait=PATIENCE)
    operator.compute.delete_flavor(flavor)
    operator.image.delete_image(image)
    fresh_pod.switch(
        *("configure", f"interface {PORT}", "no switchport mode", "no switchport trunk allowed vlan"),
        *(f"interface {IPU_MACHINE_PORT}", "no switchport access vlan", f"no vlan {VLAN}"),
    )


def tap_of(tenant: Any, pod: Any, port: str) -> tuple[str, dict[str, Any]]:
    """The interface of a machine's port in Open vSwitch, and what is known of it there."""
    identity = tenant.network.find_port(port).id
    name = f"tap{identity[:11]}"
    listed = pod.inside(HYPERVISOR, f"ovs-vsctl --format=json --data=json list interface {name}")
    table = json.loads(listed)
    return name, dict(zip(table["headings"], table["data"][0], strict=True))


def test_nova_and_neutron_know_all_hypervisors(operator: Any) -> None:
    hypervisors = {each.name: each.state for each in operator.compute.hypervisors(details=True)}
    assert hypervisors == dict.fromkeys(("compute001", "pod001-poplar3", "pod001-poplar4"), "up")
    agents = {agent.host: agent for agent in operator.network.agents()}
    assert set(agents) == set(hypervisors)
    assert all(agent.is_alive for agent in agents.values())
    mappings = {host: agent.configuration["bridge_mappings"] for host, agent in agents.items()}
    assert mappings == {
        "compute001": {"control": "br-control", "management": "br-management"},
        "pod001-poplar3": {"rnic": "br-rnic", "control": "br-control"},
        "pod001-poplar4": {"rnic": "br-rnic", "control": "br-control"},
    }


def test_the_site_has_users_without_projects_and_a_network_to_machines(operator: Any) -> None:
    assert {"alice", "bob"} <= {user.name for user in operator.identity.users()}
    control = operator.network.find_network("control")
    assert (control.is_shared, control.provider_network_type, control.mtu) == (True, "flat", 1500)
    [subnet] = operator.network.subnets(network_id=control.id)
    assert (subnet.cidr, subnet.is_dhcp_enabled, subnet.gateway_ip) == ("10.6.0.0/16", False, None)
    assert subnet.allocation_pools == [{"start": "10.6.1.1", "end": "10.6.1.254"}]


def test_a_stopped_service_is_seen_and_starts_again(fresh_pod: Any) -> None:
    fresh_pod.inside("cloud001", "systemctl stop glance-api")
    assert states()["cloud001"] == "not answering"
    fresh_pod.inside("cloud001", "systemctl start glance-api")
    until(lambda: states()["cloud001"] == "up", "Glance did not come back")


def test_a_machine_becomes_active_on_its_hypervisor(operator: Any, tenant: Any, server: Any, fresh_pod: Any) -> None:
    seen = operator.compute.get_server(server.id)
    assert (seen.status, seen.compute_host) == ("ACTIVE", HYPERVISOR)
    _, rnic = tap_of(tenant, fresh_pod, "rnic")
    _, control = tap_of(tenant, fresh_pod, "control")
    assert (rnic["mtu"], control["mtu"]) == (RNIC_MTU, 1500)
    # Its NIC promises no checksums that Open vSwitch in user space would not fill in.
    assert "virtio-net-device.csum=off" in fresh_pod.inside(
        HYPERVISOR, "cat /proc/$(pgrep -f '[g]uest=instance')/cmdline"
    )


def test_its_frames_cross_the_switch_in_the_vlan_once_the_trunk_carries_it(
    tenant: Any, server: Any, fresh_pod: Any
) -> None:
    assert server
    name, _ = tap_of(tenant, fresh_pod, "rnic")
    fresh_pod.inside(HYPERVISOR, f"ip link set rnic0 up mtu {RNIC_MTU}")
    fresh_pod.switch(
        *("configure", f"vlan {VLAN}", f"interface {IPU_MACHINE_PORT}", f"switchport access vlan {VLAN}"),
        *(f"interface {PORT}", "switchport mode trunk", "switchport trunk allowed vlan 1"),
    )
    [question] = frames(fresh_pod, name, 1)
    assert f"{MAC} > ff:ff:ff:ff:ff:ff" in question
    assert where_the_switch_has_seen_it(fresh_pod) == []
    fresh_pod.switch("configure", f"interface {PORT}", f"switchport trunk allowed vlan 1,{VLAN}")
    _, answer = frames(fresh_pod, name, 2)
    assert f"Reply {IPU_MACHINE}" in answer
    assert f"> {MAC}" in answer
    assert where_the_switch_has_seen_it(fresh_pod) == [(str(VLAN), "Et29/1")]


def where_the_switch_has_seen_it(pod: Any) -> list[tuple[str, str]]:
    """VLAN and port of each entry of the machine's address in the table of the switch."""
    rows = (line.split() for line in pod.switch("show mac address-table")[-1]["output"].splitlines())
    return [(row[0], row[3]) for row in rows if len(row) == 4 and row[1].replace(".", "") == MAC.replace(":", "")]


def frames(pod: Any, tap: str, number: int) -> list[str]:
    """The machine asks for an IPU-Machine: so many frames of ARP in its VLAN, as tcpdump prints them at the switch."""
    ours, theirs = (IPv4Address(address).packed.hex() for address in (ADDRESS, IPU_MACHINE))
    mac = MAC.replace(":", "")
    frame = f"ffffffffffff{mac}08060001080006040001{mac}{ours}000000000000{theirs}" + "00" * 18
    tcpdump = ["tcpdump", "-lne", "-i", LINK, "-c", str(number), f"vlan {VLAN} and arp"]
    command = ["timeout", str(PATIENCE), "ip", "netns", "exec", "podsim.dataplane", *tcpdump]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert process.stdout
        while "listening" not in (line := process.stderr.readline()):
            assert line, "tcpdump did not start"
        pod.inside(HYPERVISOR, f"ovs-ofctl packet-out br-int 'in_port={tap},packet={frame},actions=resubmit(,0)'")
        return process.stdout.read().splitlines()


def test_a_volume_is_a_file_that_the_machine_has(tenant: Any, server: Any, fresh_pod: Any) -> None:
    volume = tenant.create_volume(1, name="data", wait=True, timeout=PATIENCE)
    tenant.attach_volume(server, volume, wait=True, timeout=PATIENCE)
    assert tenant.get_volume(volume.id).status == "in-use"
    file = STATE / "clouds" / "cloud001" / "volumes" / f"volume-{volume.id}"
    assert file.stat().st_size == 2**30
    assert f"volume-{volume.id}" in fresh_pod.inside(HYPERVISOR, "virsh domblklist $(virsh list --name)")


def test_up_again_changes_nothing(operator: Any, server: Any) -> None:
    podsim("up", str(ROOT / "inventories" / "sim_openstack" / "pods.yml"))
    assert operator.compute.get_server(server.id).status == "ACTIVE"


def test_nothing_is_left_of_a_machine_that_was_deleted(
    operator: Any, tenant: Any, server: Any, network: Any, fresh_pod: Any
) -> None:
    tenant.delete_server(server.id, wait=True, timeout=PATIENCE)
    volume = tenant.get_volume("data")
    file = STATE / "clouds" / "cloud001" / "volumes" / f"volume-{volume.id}"
    assert volume.status == "available"
    assert file.exists()
    tenant.delete_volume(volume.id, wait=True, timeout=PATIENCE)
    assert not file.exists()
    for port in list(tenant.network.ports()):
        tenant.network.delete_port(port)
    operator.network.delete_network(network)
    assert fresh_pod.inside(HYPERVISOR, "virsh list --all --name").strip() == ""
    assert "tap" not in fresh_pod.inside(HYPERVISOR, "ovs-vsctl list-ports br-int")
    assert fresh_pod.inside(HYPERVISOR, "ls /var/lib/nova/instances | grep -c -- -.*-.*- || true").strip() == "0"
