# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloud becomes what pods.yml declares, and its tenants work in it with OpenStack's own client."""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cloud.conftest import connected
from tests.integration.conftest import Pod
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.playbook_run import LOUD
from tests.support.secret_spellings import SHOW_KEYS, secrets_in
from tests.support.simulated_pod import STATE

PATIENCE = 300
METADATA = "169.254.169.254"
# Of a V-IPU controller, for users.
USER_PORT = 8090
# What a machine runs as root: echo requests to each address by each device, as if it were a neighbour there, for at
# least five seconds, and until everybody has answered who is to.
PING_ALL = """
import socket, struct, sys, time
devices, addresses, expected = (words.split() for words in sys.argv[1:])
# The checksum of type 8 and number 1 is 0xffff - 0x0801.
request = struct.pack(">BBHHH", 8, 0, 0xF7FE, 0, 1)
sockets, answered = {}, set()
for device in devices:
    sockets[device] = socket.socket(socket.AF_INET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.IPPROTO_ICMP)
    sockets[device].setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    # Room for all requests to those whom nobody knows, which wait until it is clear that nobody does (SO_SNDBUFFORCE).
    sockets[device].setsockopt(socket.SOL_SOCKET, 32, 1 << 24)
begun = time.monotonic()
while time.monotonic() < begun + 5 or (not answered >= set(expected) and time.monotonic() < begun + 60):
    for device, opened in sockets.items():
        for address in addresses:
            opened.sendto(request, (address, 0))
    time.sleep(1)
    for device, opened in sockets.items():
        try:
            while True:
                answer, (address, _) = opened.recvfrom(2048)
                if answer[20] == 0:
                    answered.add(f"{address}%{device}")
        except BlockingIOError:
            pass
print(*answered)
"""
# With the headers of IPv4 and ICMP, what fills a frame of 9000 bytes.
FULL_FRAME = 8972
TIMER = "ipu-pod-cloud-partitions.timer"
RECORDS = "/var/lib/ipu-pod/cloud-partitions/records.json"
ADMINISTRATOR = "vipu-admin --config /etc/vipu/vipu-admin.hcl"


@pytest.fixture(scope="module", name="alice")
def _alice(pod: Pod) -> Any:
    assert pod
    return connected("cloud001-alice")


@pytest.fixture(scope="module", name="bob")
def _bob(pod: Pod) -> Any:
    assert pod
    return connected("cloud001-bob")


class Guest:
    """A virtual machine, and a shell in it for its owner, from the control node."""

    def __init__(self, address: str) -> None:
        self.address = address

    def device(self, address: str) -> str:
        """The interface that has one of its addresses."""
        return self.said(f"ip -o -4 address show to {address}").split()[1]

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


class Machine(Guest):
    """A tenant's machine in a cloud."""

    def __init__(self, tenant: Any, server: Any) -> None:
        self.server = tenant.compute.get_server(server.id)
        self._addresses = {network: found[0]["addr"] for network, found in self.server.addresses.items()}
        super().__init__(self._addresses["control"])

    def rnic_address(self, vpod: str) -> str:
        """Its address on the RNIC network of a vPOD, in which it has to be."""
        return str(self._addresses[f"vpod-{vpod}-rnic"])


def machine_of(tenant: Any, name: str, vpod: str, user_data: str = "") -> Machine:
    """Ask for a machine of the vPOD's flavor on its network, and wait until Nova has it."""
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
        user_data=base64.b64encode(user_data.encode()).decode(),
    )
    tenant.compute.wait_for_server(server, wait=PATIENCE)
    return Machine(tenant, server)


@pytest.fixture(scope="module", name="user_data")
def _user_data(pod: Pod, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the operator gives alice, written as loudly as Ansible can be, and not changed by a second run."""
    directory = tmp_path_factory.mktemp("operator") / "user-data"
    keys = pod.inside("ctrl001", SHOW_KEYS).split()
    assert keys
    for changed in (1, 0):
        run = pod.playbook("user_data", *LOUD, "-e", f"vpod=alice user_data_directory={directory}")
        assert (run.code, run.messages) == (0, "")
        assert len(run.changes) == changed
        assert secrets_in(str(run.document), keys) == []
    return directory / "alice.yml"


@pytest.fixture(scope="module", name="machines")
def _machines(alice: Any, bob: Any, user_data: Path) -> Iterator[dict[str, Machine]]:
    """Alice's machine with what the operator gives her, and bob's, which boot side by side."""
    machines = {
        "alice": machine_of(alice, "train", "alice", user_data.read_text()),
        "bob": machine_of(bob, "serve", "bob"),
    }
    for machine in machines.values():
        machine.wait_for_login()
    yield machines
    bob.delete_server(machines["bob"].server.id, wait=True, timeout=PATIENCE)


@pytest.fixture(scope="module", name="machine")
def _machine(machines: dict[str, Machine]) -> Machine:
    return machines["alice"]


@pytest.fixture(scope="module", name="watcher")
def _watcher(operator: Any) -> Iterator[dict[str, str]]:
    """A user who may see the machines in both projects, and nothing else."""
    password = secrets.token_urlsafe(16)
    user = operator.identity.create_user(name="watcher", password=password, domain_id="default")
    for project in ("alice", "bob"):
        found = operator.identity.find_project(project)
        operator.identity.assign_project_role_to_user(found, user, operator.identity.find_role("reader"))
    yield {"auth_url": operator.config.get_auth_args()["auth_url"], "username": "watcher", "password": password}
    operator.identity.delete_user(user)


@pytest.fixture(scope="module", name="timer")
def _timer(pod: Pod, watcher: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The timer as the playbook makes it, which then looks each second, not each minute."""
    file = tmp_path_factory.mktemp("vault") / "vault.json"
    settings = {"cloud_partitions_clouds": {"cloud001": {"auth": watcher}}, "cloud_partitions_wait_seconds": 1}
    file.write_text(json.dumps(settings))
    run = pod.playbook("cloud_partitions", *LOUD, "-e", f"@{file}")
    assert (run.code, run.messages) == (0, "")
    assert secrets_in(str(run.document), [watcher["password"]]) == []
    pod.inside(
        "ctrl001",
        f"mkdir -p /run/systemd/system/{TIMER}.d && "
        f"printf '[Timer]\nOnUnitInactiveSec=1s\nAccuracySec=100ms\n' >/run/systemd/system/{TIMER}.d/soon.conf && "
        f"systemctl daemon-reload && systemctl restart {TIMER}",
    )
    yield
    pod.inside("ctrl001", f"systemctl disable --now {TIMER}")


@pytest.fixture(scope="module", name="partitions")
def _partitions(pod: Pod, timer: None, machine: Machine) -> set[str]:
    """A partition that the machine has made, as the timer knows, and one of nobody's."""
    assert timer is None
    machine.said("vipu create partition train-left --size 4")
    administrator(pod, "create partition kept --size 4 --allocation alice")
    pod.inside("ctrl001", until_true(f"grep -q train-left {RECORDS}"))
    return partitions_of(pod)


@pytest.fixture(scope="module", name="deleted")
def _deleted(alice: Any, machine: Machine, partitions: set[str]) -> None:
    """The machine is deleted, which had a partition."""
    assert partitions
    alice.delete_server(machine.server.id, wait=True, timeout=PATIENCE)


def until_true(command: str) -> str:
    """A command that waits for another one."""
    return f"timeout {PATIENCE} sh -c {shlex.quote(f'until {command}; do sleep 0.5; done')}"


def administrator(pod: Pod, command: str) -> str:
    """What the administrator's client of the V-IPU controller says."""
    return pod.inside("ctrl001", f"{ADMINISTRATOR} {command}")


def partitions_of(pod: Pod) -> set[str]:
    """The names of all partitions, as the V-IPU controller has them."""
    return {partition["id"] for partition in json.loads(administrator(pod, "--showjson list partitions"))["partitions"]}


def machines_of(pod: Pod, vpod: str) -> dict[str, str]:
    """A vPOD's IPU-Machines by their RNIC addresses, from the V-IPU controller."""
    agents = administrator(pod, f"--showjson get allocation {vpod}")
    return {rnic_address_of(pod, name): name for name in pod.sim["ipu_machines"] if f'"{name}"' in agents}


def rnic_address_of(pod: Pod, ipu_machine: str) -> str:
    return str(pod.sim["ipu_machines"][ipu_machine]["rnic"]["lease"].partition("/")[0])


def addresses_of_the_pod(pod: Pod) -> dict[str, str]:
    """Whose all addresses are that its machines and switches and its cloud have, on every network."""
    found = {
        address: host
        for host in (*pod.sim["controllers"], *pod.sim["poplar_servers"], *pod.sim["clouds"])
        for address in re.findall(r"inet ([\d.]+)", pod.inside(host, "ip -o -4 address show scope global"))
    }
    found |= {switch["management"]: name for name, switch in pod.sim["switches"].items()}
    for name, machine in pod.sim["ipu_machines"].items():
        addresses = (machine["bmc"]["address"], machine["gateway"]["address"], rnic_address_of(pod, name))
        found |= dict.fromkeys(addresses, name)
    return found


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


def test_a_machine_lands_on_the_hypervisor_of_its_vpod(operator: Any, machines: dict[str, Machine]) -> None:
    hosts = {vpod: operator.compute.get_server(machine.server.id).compute_host for vpod, machine in machines.items()}
    assert hosts == {"alice": "pod001-poplar3", "bob": "pod001-poplar4"}


@pytest.mark.parametrize("vpod", ["alice", "bob"])
def test_full_frames_reach_the_ipu_machines_of_a_vpod(pod: Pod, machines: dict[str, Machine], vpod: str) -> None:
    own = machines_of(pod, vpod)
    assert len(own) == 4
    for address in own:
        machines[vpod].said(f"ping -q -c 1 -W 5 -M do -s {FULL_FRAME} {address}")


@pytest.mark.parametrize(("vpod", "other"), [("alice", "bob"), ("bob", "alice")])
def test_a_machine_reaches_what_is_of_its_vpod_and_nothing_else(
    pod: Pod, machines: dict[str, Machine], vpod: str, other: str
) -> None:
    machine, theirs = machines[vpod], machines[other]
    everything = {**addresses_of_the_pod(pod), METADATA: "metadata"}
    everything |= dict.fromkeys((theirs.address, theirs.rnic_address(other)), "their machine")
    control, rnic = machine.device(machine.address), machine.device(machine.rnic_address(vpod))
    # Both are hosts of the site, which tenants' machines may reach by the control network.
    controller, cloud = pod.sim["control"]["controllers"]["ctrl001"], pod.sim["clouds"]["cloud001"]["control"]
    expected = [
        *(f"{address}%{control}" for address in (controller, cloud)),
        *(f"{address}%{rnic}" for address in machines_of(pod, vpod)),
    ]
    words = (" ".join(each) for each in ((control, rnic), everything, expected))
    answers = [
        each.split("%") for each in machine.said(shlex.join(["sudo", "python3", "-c", PING_ALL, *words])).split()
    ]
    assert {(everything[address], device) for address, device in answers} == {
        *(("ctrl001", control), ("cloud001", control)),
        *((name, rnic) for name in machines_of(pod, vpod).values()),
    }
    # Their machine's door is for the site's hosts alone, which the tests come from; and nobody serves metadata here.
    connects = [
        machine.shell(f"timeout 5 bash -c '</dev/tcp/{address}/{port}'").returncode == 0
        for address, port in ((controller, USER_PORT), (theirs.address, 22), (METADATA, 80))
    ]
    assert connects == [True, False, False]


def test_nobody_but_the_operator_reads_the_user_data(user_data: Path) -> None:
    assert (user_data.stat().st_mode & 0o777, user_data.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_the_credentials_in_a_machine_are_for_its_user_alone(machine: Machine) -> None:
    files = "/etc/vipu/vipu-cli.hcl /etc/vipu/certs/ca.crt /etc/vipu/certs/tls.crt /etc/vipu/certs/tls.key"
    assert machine.said(f"stat -c '%U %a' {files}") == "debian 600\n" * 4
    for file in (*files.split(), "/dev/disk/by-label/config-2", "/var/lib/cloud/instance/user-data.txt"):
        machine.said(f"sudo test -r {file}")
        assert machine.shell(f"sudo -u nobody test -r {file}").returncode == 1


def test_what_cloud_init_keeps_of_them_is_roots_and_no_log_has_them(pod: Pod, machine: Machine, operator: Any) -> None:
    [key] = re.findall(r'^api-access-key="(.*)"$', machine.said("cat /etc/vipu/vipu-cli.hcl"), re.MULTILINE)
    # By its input: a command's own words would be in the log of sudo.
    search = f"echo {key} | sudo grep -rlf - /var/lib/cloud /run /tmp"
    kept = machine.said(f"{search} | sudo xargs stat -c '%U %A'")
    assert {(line.split()[0], line[-6:]) for line in kept.splitlines()} == {("root", "------")}
    assert machine.said(f"echo {key} | sudo grep -rlf - /var/log || true") == ""
    # Nobody's log on the way to it has them, either: its console, the cloud's services and the hypervisor.
    console = operator.compute.get_server_console_output(machine.server.id)["output"]
    logs = [
        pod.inside(host, "journalctl --output=cat; cat /var/log/libvirt/qemu/*.log 2>/dev/null || true")
        for host in ("cloud001", "pod001-poplar3")
    ]
    assert secrets_in("".join([console, *logs]), [key]) == []


def test_a_tenant_makes_a_partition_and_uses_all_of_it(pod: Pod, machine: Machine) -> None:
    machine.said("vipu create partition train --size 16")
    found = [re.sub(r"\d+\.\d MiB/s", "RATE", line) for line in machine.said("ipu-workload").splitlines()]
    assert found == [
        *(f"{address}: frames of 9000 bytes, 32 MiB to and from it, RATE" for address in machines_of(pod, "alice")),
        "partition train: 128 MiB to and from 4 IPU-Machines, RATE",
    ]
    machine.said("vipu remove partition train")
    assert partitions_of(pod) == set()


def test_a_tenant_sees_no_partition_and_no_machine_of_another(pod: Pod, alice: Any, machine: Machine) -> None:
    administrator(pod, "create partition theirs --size 4 --allocation bob")
    seen = machine.said("vipu --showjson list partitions") + machine.said("vipu --showjson list allocations")
    got = machine.shell("vipu get partition theirs")
    administrator(pod, "remove partition theirs")
    assert [word for word in ("theirs", "bob", *machines_of(pod, "bob")) if word in seen] == []
    assert got.returncode == 1, got.stdout
    assert "theirs" in got.stderr
    assert [server.name for server in alice.compute.servers()] == ["train"]


def test_a_partition_of_a_deleted_machine_goes_and_no_other(pod: Pod, partitions: set[str], deleted: None) -> None:
    assert partitions == {"kept", "train-left"}
    assert deleted is None
    pod.inside("ctrl001", until_true(f"! {ADMINISTRATOR} list partitions | grep -q train-left"))
    assert partitions_of(pod) == {"kept"}
    administrator(pod, "remove partition kept")


@pytest.fixture(name="emptied")
def _emptied(alice: Any, deleted: None) -> Iterator[Any]:
    """Alice's project after her machine, in which no machine and no volume stays."""
    assert deleted is None
    yield alice
    for server in alice.compute.servers():
        alice.delete_server(server.id, wait=True, timeout=PATIENCE)
    for volume in alice.block_storage.volumes():
        alice.delete_volume(volume.id, wait=True, timeout=PATIENCE)


def consoles(tenant: Any) -> str:
    """What the consoles of a tenant's machines say that have started."""
    return "\n".join(
        f"{server.name}: {tenant.compute.get_server_console_output(server.id)['output']}"
        for server in tenant.compute.servers(status="ACTIVE")
    )


def test_a_tenant_does_what_the_documentation_says(pod: Pod, emptied: Any, user_data: Path) -> None:
    script = ["bash", f"{ROOT}/docs/virtual-machines/tenant.sh", "alice", "16", user_data, STATE / "id_ed25519"]
    path = f"{PROGRAMS}:{os.environ['PATH']}"
    done = subprocess.run(
        script,
        env={**os.environ, "OS_CLOUD": "cloud001-alice", "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    said = done.stdout
    assert done.returncode == 0, f"{said.splitlines()[-1]}\n{said}{consoles(emptied)}"
    assert secrets_in(said, pod.inside("ctrl001", SHOW_KEYS).split()) == []
    steps = dict(step.split("\n", 1) for step in said.split("\n==> ")[1:])
    assert list(steps) == [
        "1. Ask for a machine, 2. with a volume",
        "3. Have a shell in it",
        "4. Create a partition",
        "5. Run a workload",
        "6. Delete the machine; its volume goes to the next one",
        "Delete everything",
    ]
    assert "partition alice-first: 128 MiB to and from 4 IPU-Machines" in steps["5. Run a workload"]
    assert steps["6. Delete the machine; its volume goes to the next one"].endswith("\nkept from the first machine\n")
    left = [emptied.compute.servers(), emptied.block_storage.volumes(), emptied.compute.keypairs()]
    assert [[each.name for each in found] for found in left] == [[], [], ["key"]]
    assert partitions_of(pod) == set()
