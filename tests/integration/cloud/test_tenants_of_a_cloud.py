# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloud becomes what pods.yml declares, and its tenants work in it with OpenStack's own client."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tests.integration.cloud.conftest import connected
from tests.integration.conftest import Pod
from tests.support.simulated_pod import STATE

PATIENCE = 300
# With the headers of IPv4 and ICMP, what fills a frame of 9000 bytes.
FULL_FRAME = 8972


@pytest.fixture(scope="module", name="operator")
def _operator(pod: Pod) -> Any:
    assert pod
    return connected("cloud001")


@pytest.fixture(scope="module", name="alice")
def _alice(pod: Pod) -> Any:
    assert pod
    return connected("cloud001-alice")


@pytest.fixture(scope="module", name="bob")
def _bob(pod: Pod) -> Any:
    assert pod
    return connected("cloud001-bob")


class Machine:
    """A tenant's machine, and a shell in it for its owner, from the control node."""

    def __init__(self, tenant: Any, server: Any) -> None:
        self.server = tenant.compute.get_server(server.id)
        self.address = self.server.addresses["control"][0]["addr"]

    def wait_for_login(self) -> None:
        """Wait until its owner has a shell and cloud-init has done all that it does."""
        until = 'until "$@"; do sleep 1; done'
        login = ["timeout", str(PATIENCE), "sh", "-c", until, "sh", *self._ssh("sudo cloud-init status --wait")]
        assert "status: done" in subprocess.run(login, capture_output=True, text=True, check=False).stdout

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as the image's user."""
        return subprocess.run(self._ssh(command), capture_output=True, text=True, check=False)

    def said(self, command: str) -> str:
        """The output of a command that succeeds."""
        done = self.shell(command)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _ssh(self, command: str) -> list[str]:
        options = ("UserKnownHostsFile=/dev/null", "StrictHostKeyChecking=no", "LogLevel=ERROR", "ConnectTimeout=10")
        flags = [flag for option in options for flag in ("-o", option)]
        return ["ssh", "-i", str(STATE / "id_ed25519"), *flags, f"debian@{self.address}", command]


def machine_of(tenant: Any, name: str, vpod: str) -> Machine:
    """Ask for a machine of the vPOD's flavor on its network, and wait until it lets its owner in."""
    if not tenant.compute.find_keypair("key"):
        tenant.compute.create_keypair(name="key", public_key=(STATE / "id_ed25519.pub").read_text())
    networks = [tenant.network.find_network(each).id for each in ("control", f"vpod-{vpod}-rnic")]
    group = tenant.network.find_security_group(f"vpod-{vpod}")
    control = tenant.network.create_port(network_id=networks[0], security_groups=[group.id])
    server = tenant.compute.create_server(
        name=name,
        image_id=tenant.image.find_image("poplar").id,
        flavor_id=tenant.compute.find_flavor(f"vpod-{vpod}-16").id,
        networks=[{"port": control.id}, {"uuid": networks[1]}],
        key_name="key",
    )
    tenant.compute.wait_for_server(server, wait=PATIENCE)
    machine = Machine(tenant, server)
    machine.wait_for_login()
    return machine


@pytest.fixture(scope="module", name="machine")
def _machine(alice: Any) -> Machine:
    return machine_of(alice, "train", "alice")


def machines_of(pod: Pod, vpod: str) -> list[str]:
    """The RNIC addresses of a vPOD's IPU-Machines, from the V-IPU controller."""
    agents = pod.inside("ctrl001", f"vipu-admin --config /etc/vipu/vipu-admin.hcl --showjson get allocation {vpod}")
    names = [name for name in pod.sim["ipu_machines"] if f'"{name}"' in agents]
    return [pod.sim["ipu_machines"][name]["rnic"]["lease"].partition("/")[0] for name in names]


@pytest.mark.parametrize("playbook", ["openstack", "site"])
def test_a_second_run_changes_nothing(pod: Pod, playbook: str) -> None:
    run = pod.playbook(playbook)
    assert (run.code, run.messages) == (0, "")
    assert run.changes == []


def test_a_dry_run_and_drift_find_nothing(pod: Pod) -> None:
    code, said = pod.say("drift", inventory=pod.inventory)
    assert code == 0, said


def test_a_tenant_finds_what_is_its_own_and_nothing_of_others(alice: Any, bob: Any) -> None:
    for tenant, own in ((alice, "alice"), (bob, "bob")):
        assert {network.name for network in tenant.network.networks()} == {"control", f"vpod-{own}-rnic"}
        assert [flavor.name for flavor in tenant.compute.flavors()] == [f"vpod-{own}-16"]
        assert "poplar" in {image.name for image in tenant.image.images()}


def test_a_machine_lands_on_the_hypervisor_of_its_vpod(operator: Any, machine: Machine) -> None:
    assert operator.compute.get_server(machine.server.id).compute_host == "pod001-poplar3"


def test_a_machine_reaches_the_ipu_machines_of_its_vpod_with_full_frames(pod: Pod, machine: Machine) -> None:
    own = machines_of(pod, "alice")
    assert len(own) == 4
    for address in own:
        machine.said(f"ping -q -c 1 -W 5 -M do -s {FULL_FRAME} {address}")


def test_a_machine_reaches_no_ipu_machine_of_another_vpod(pod: Pod, machine: Machine) -> None:
    others = machines_of(pod, "bob")
    assert len(others) == 4
    for address in others:
        assert machine.shell(f"ping -q -c 1 -W 2 {address}").returncode == 1


def test_a_volume_keeps_its_data_for_the_next_machine(alice: Any, machine: Machine) -> None:
    volume = alice.create_volume(1, name="data", wait=True, timeout=PATIENCE)
    alice.attach_volume(machine.server, volume, wait=True, timeout=PATIENCE)
    machine.said(
        "sudo udevadm settle && sudo mkfs.ext4 -q /dev/vdb && sudo mount /dev/vdb /mnt && "
        "echo kept | sudo tee /mnt/file && sudo umount /mnt"
    )
    alice.delete_server(machine.server.id, wait=True, timeout=PATIENCE)
    following = machine_of(alice, "next", "alice")
    alice.attach_volume(following.server, alice.get_volume(volume.id), wait=True, timeout=PATIENCE)
    assert following.said("sudo udevadm settle && sudo mount /dev/vdb /mnt && cat /mnt/file") == "kept\n"
    alice.delete_server(following.server.id, wait=True, timeout=PATIENCE)
    alice.delete_volume(volume.id, wait=True, timeout=PATIENCE)
