# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tenant's machines get the IPUs of a vPOD and give them back as they run."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.cloud.conftest import INVENTORY, connected
from tests.integration.cloud.test_tenants_of_a_cloud import FULL_FRAME, PATIENCE, Guest, Machine, machines_of
from tests.integration.conftest import Pod
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.playbook_run import environment_in
from tests.support.processes import kill_with_all_below
from tests.support.simulated_pod import STATE

NAMES = ("train", "next")
TRAIN, NEXT = (("-e", f"machine=cloud001/{name}", "-e", "vpod=alice", "-e", "machine_user=debian") for name in NAMES)
WORKLOAD = "sudo sh -c 'IPUOF_VIPU_API_PARTITION_ID=train-1 ipu-workload'"


@pytest.fixture(scope="module", name="machines")
def _machines(pod: Pod) -> Iterator[dict[str, Machine]]:
    """Two machines of alice that run, with a port on the control network alone."""
    assert pod
    alice = connected("cloud001-alice")
    if not alice.compute.find_keypair("key"):
        alice.compute.create_keypair(name="key", public_key=(STATE / "id_ed25519.pub").read_text())
    servers = [
        alice.compute.create_server(
            name=name,
            image_id=alice.image.find_image("poplar").id,
            flavor_id=alice.compute.find_flavor("vpod-alice-16").id,
            networks=[{"uuid": alice.network.find_network("control").id}],
            security_groups=[{"name": "vpod-alice"}],
            key_name="key",
        )
        for name in NAMES
    ]
    for server in servers:
        alice.compute.wait_for_server(server, wait=PATIENCE)
    machines = {server.name: Machine(alice, server) for server in servers}
    for machine in machines.values():
        machine.wait_for_login()
    yield machines
    for server in servers:
        alice.delete_server(server.id, wait=True, timeout=PATIENCE)


@pytest.fixture(scope="module", name="watched")
def _watched(pod: Pod, machines: dict[str, Machine]) -> dict[str, str]:
    """The machines ping the control node from before they get anything; what tells one start of each from another."""
    # From within, since their security group lets in SSH alone.
    node = pod.sim["control"]["control_node"]
    for machine in machines.values():
        begin_to_ping(machine, node)
    return {name: started(machine) for name, machine in machines.items()}


def begin_to_ping(machine: Guest, address: str) -> None:
    machine.said(f"ping -i 0.2 {address} >/tmp/pings 2>&1 </dev/null & echo $! >/tmp/pings.pid")


def started(machine: Guest) -> str:
    return machine.said("cat /proc/sys/kernel/random/boot_id")


def unanswered(machine: Guest) -> list[int]:
    """The pings of a machine that were lost; one that is still on its way is not."""
    said = machine.said("pid=$(cat /tmp/pings.pid); kill -INT $pid; tail --pid=$pid -f /dev/null; cat /tmp/pings")
    answered = {int(number) for number in re.findall(r"icmp_seq=(\d+) ttl=", said)}
    assert answered, said
    return sorted(set(range(1, max(answered))) - answered)


def ports(operator: Any) -> list[str]:
    """The ports on alice's RNIC network, each by the machine that has it."""
    names = {server.id: server.name for server in operator.compute.servers(all_projects=True)}
    network = operator.network.find_network("vpod-alice-rnic")
    return [names.get(port.device_id, "") for port in operator.network.ports(network_id=network.id)]


def runs(pod: Pod, playbook: str, *options: str, **inventory: Path) -> list[Any]:
    """What a run that succeeds has changed."""
    done = pod.playbook(playbook, *options, **inventory)
    assert (done.code, done.messages) == (0, "")
    return done.changes


def reach_ipus(pod: Pod, machine: Guest, vpod: str = "alice") -> list[bool]:
    """Whether frames of 9000 bytes come back from each of the vPOD's IPU-Machines."""
    own = machines_of(pod, vpod)
    assert len(own) == 4
    ping = f"ping -q -c 1 -W 2 -M do -s {FULL_FRAME}"
    return [machine.shell(f"{ping} {address}").returncode == 0 for address in own]


@pytest.fixture(scope="module", name="moved")
def _moved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inventory of the pod, in which machine next has the vPOD, and train has not."""
    folder = tmp_path_factory.mktemp("moved")
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["machines"] = {"cloud001/train": {"user": "debian"}, "cloud001/next": {"user": "debian", "vpod": "alice"}}
    (folder / "pods.yml").write_text(yaml.safe_dump(document))
    (folder / "group_vars").symlink_to(INVENTORY / "group_vars")
    return folder


def killed(task: str, inventory: Path) -> None:
    """Start a run of attachments.yml, and kill it when it has changed something in a task."""
    state = ("-e", f"podsim_state={STATE}")
    command = [f"{PROGRAMS}/ansible-playbook", "-i", str(inventory), "playbooks/attachments.yml", *state]
    run = subprocess.Popen(command, cwd=ROOT, env=environment_in(ROOT), stdout=subprocess.PIPE, text=True)
    assert run.stdout
    assert any(line.endswith(f": {task}\n") for line in run.stdout)
    kill_with_all_below(run)


def test_a_machine_that_runs_gets_ipus(pod: Pod, operator: Any, machines: dict[str, Machine], watched: Any) -> None:
    assert watched
    assert runs(pod, "attach", *TRAIN) != []
    assert ports(operator) == ["train"]
    assert reach_ipus(pod, machines["train"]) == [True] * 4
    machines["train"].said("sudo vipu create partition train-1 --size 16")
    assert "to and from 4 IPU-Machines" in machines["train"].said(WORKLOAD)


def test_a_run_of_the_cloud_leaves_the_port_alone(pod: Pod, operator: Any) -> None:
    assert runs(pod, "openstack") == []
    assert ports(operator) == ["train"]


def test_ipus_that_are_in_use_stay(pod: Pod, operator: Any, machines: dict[str, Machine]) -> None:
    done = pod.playbook("detach", *TRAIN)
    assert done.changes == []
    assert "cloud001/train is in use: partition train-1; end that first" in done.messages
    assert ports(operator) == ["train"]
    machines["train"].said("sudo vipu remove partition train-1")


def test_one_edit_moves_ipus_to_another_machine_although_a_run_is_killed(
    pod: Pod, operator: Any, machines: dict[str, Machine], moved: Path
) -> None:
    killed("Take the address from the port", moved)
    assert runs(pod, "attachments", inventory=moved) != []
    assert ports(operator) == ["next"]
    assert reach_ipus(pod, machines["next"]) == [True] * 4
    assert reach_ipus(pod, machines["train"]) == [False] * 4


def test_a_second_run_changes_nothing(pod: Pod, moved: Path) -> None:
    assert runs(pod, "attachments", inventory=moved) == []


def test_a_machine_that_runs_gives_ipus_back(pod: Pod, operator: Any, machines: dict[str, Machine]) -> None:
    assert runs(pod, "detach", *NEXT) != []
    assert ports(operator) == []
    assert machines["next"].said("ls /etc/vipu/*.hcl /etc/systemd/network/*ipu* 2>/dev/null || true") == ""


def test_nothing_was_restarted_and_no_packet_was_lost(
    pod: Pod, machines: dict[str, Machine], watched: dict[str, str]
) -> None:
    lost = {name: unanswered(machine) for name, machine in machines.items()}
    # Frames that the sockets of an Open vSwitch in user space dropped are the "d" of their memory.
    sockets = "" if not any(lost.values()) else pod.inside("pod001-poplar3", "ss --packet --all --memory")
    assert lost == {"train": [], "next": []}, sockets
    assert {name: started(machine) for name, machine in machines.items()} == watched
