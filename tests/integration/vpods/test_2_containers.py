# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers of two tenants, by podman and by Docker: each has the IPUs of a partition of its own while it runs."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podsim.floor.podman import Podman
from podsim.floor.state import StateDirectory
from tests.integration.run_containers import listed, running, said
from tests.integration.vpods.conftest import INVENTORY, declared_otherwise
from tests.integration.vpods.floor import MANAGEMENT, Floor, asked
from tests.support.container_image import MAKE_IMAGE, PROGRAMS, WORKLOAD
from tests.support.packets.matrix import faults
from tests.support.packets.reach import Ping, answered
from tests.support.playbook_run import did_what_was_predicted
from tests.support.processes import wait_until
from tests.support.simulated_pod import STATE

ALICE, BOB = "pod001-poplar1", "pod001-poplar2"
ENGINES = ("podman", "docker")
ONLY = ("-e", json.dumps({"vpods_only": ["alice", "bob"], "vpods_interrupt": ["alice", "bob"]}))


def with_containers(vpods: dict[str, Any]) -> None:
    for name in ("alice", "bob"):
        vpods[name].update(ipuof="files", containers="macvlan")
    del vpods["alice"]["partitions"], vpods["bob"]["partitions"]["bob-serve"]


@pytest.fixture(scope="module", name="declared")
def _declared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inventory, whose vPODs alice and bob have containers."""
    return declared_otherwise(tmp_path_factory.mktemp("inventory"), with_containers)


@pytest.fixture(scope="module", autouse=True)
def _servers(pod: Any, declared: Path) -> Iterator[None]:
    """Servers with containers, an image, and a group of users; afterwards the pod is as it was."""
    (declared / "host_vars").mkdir()
    (declared / "host_vars" / f"{ALICE}.yml").write_text("containers_groups: {alice: lab}\n")
    for server in (ALICE, BOB):
        pod.inside(server, MAKE_IMAGE)
    pod.inside(ALICE, "groupadd lab; useradd --create-home --groups lab ann; useradd --create-home eve")
    for partition in ("alice-train", "bob-serve"):
        pod.inside("ctrl001", f"vipu-admin --config /etc/vipu/vipu-admin.hcl remove partition {partition}")
    check = pod.playbook("vpods", "--check", *ONLY, inventory=declared)
    assert (check.code, check.messages, check.changes) == (0, "", [])
    run = pod.playbook("vpods", *ONLY, inventory=declared)
    assert (run.code, run.messages) == (0, "")
    did_what_was_predicted(check, run)
    yield
    run = pod.playbook("vpods", *ONLY, inventory=INVENTORY)
    assert (run.code, run.messages) == (0, "")
    for server in (ALICE, BOB):
        pod.inside(server, "podman rmi --force poplar >/dev/null; docker rmi --force poplar >/dev/null")
    pod.inside(ALICE, "userdel --remove ann; userdel --remove eve; groupdel lab")


def partitions(pod: Any) -> list[str]:
    """The partitions that containers have."""
    found = (each["id"] for each in asked(pod, "list partitions")["partitions"])
    return sorted(name for name in found if not name.startswith(("bob-", "carol-")))


def test_a_second_run_changes_nothing(pod: Any, declared: Path) -> None:
    run = pod.playbook("vpods", *ONLY, inventory=declared)
    assert (run.code, run.messages, run.changes) == (0, "", [])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_container_uses_its_ipus_and_has_no_others(pod: Any, engine: str) -> None:
    assert said(pod, ALICE, f"ipu-run --engine {engine} --name train --ipus 8 {PROGRAMS} poplar {WORKLOAD}")[1:] == [
        *(f"10.5.1.{number}: frames of 9000 bytes, 32 MiB to and from it, RATE" for number in machines_of(pod)[:2]),
        "partition train: 64 MiB to and from 2 IPU-Machines, RATE",
        "status 0",
    ]
    assert (partitions(pod), listed(pod, ALICE)) == ([], [])


def machines_of(pod: Any) -> list[int]:
    """The last numbers of the addresses of alice's IPU-Machines."""
    agents = asked(pod, "get allocation alice")["allocation"]["spec"]["agent_ids"]
    return sorted(int(name.removeprefix("pod001-ipum")) for name in agents)


@pytest.mark.parametrize("engine", ENGINES)
def test_it_has_one_network_one_address_and_no_privilege(pod: Any, engine: str) -> None:
    look = (
        "ip -o -4 a; ip r; grep -E '^(NoNewPrivs|CapEff)' /proc/self/status; ls /dev/infiniband; df /dev/shm | tail -1"
    )
    shown = said(pod, ALICE, f"ipu-run --engine {engine} --name look poplar sh -c {shlex.quote(look)}")
    text = "\n".join(shown)
    (address,) = re.findall(r"eth0 +inet (10\.5\.1\.\d+)/16", text)
    assert 128 < int(address.rpartition(".")[2]) < 160
    assert "default" not in text
    assert "NoNewPrivs:\t1" in text
    assert {"rdma_cm", "uverbs0"} <= set(shown)
    # Neither of all capabilities nor of those over the machine.
    (capabilities,) = re.findall(r"CapEff:\t(\w+)", text)
    assert int(capabilities, 16) & (1 << 21 | 1 << 12) == 0
    assert int(re.findall(r"^\S+ +(\d+) ", shown[-2])[0]) > 1 << 20


def test_two_tenants_reach_their_own_and_nothing_else(pod: Any) -> None:
    vpods = {
        name: {"poplar_servers": [server], "vlan": vlan}
        for name, server, vlan in (("alice", ALICE, 201), ("bob", BOB, 202))
    }
    floor = Floor(pod, vpods)
    with (
        running(pod, ALICE, "one") as one,
        running(pod, ALICE, "two", "--engine docker") as two,
        running(pod, BOB, "three") as three,
    ):
        # A container and its own server do not reach each other.
        tenants = {
            "alice": [*floor.tenants["alice"][1:], one, two],
            "bob": [*floor.tenants["bob"][1:], three],
        }
        taken = {port for ports in floor.tenants.values() for port in ports}
        nobodys = [port for port in floor.rnics.values() if port not in taken]
        # A server answers in its VLAN for all its addresses; a container reaches neither this one's nor that one's.
        servers = [port for port in floor.management if port.machine in (ALICE, BOB)]
        others = [*nobodys, *(port for port in floor.management if port not in servers)]
        assert faults(tenants, {"alice": 201, "bob": 202}, others, MANAGEMENT) == []
        of_servers = [port.address for port in (*servers, floor.tenants["alice"][0], floor.tenants["bob"][0])]
        assert answered([Ping(port, address) for port in (one, two) for address in of_servers]) == set()


def test_the_ipuof_file_of_another_tenant_leads_nowhere(pod: Any) -> None:
    with running(pod, BOB, "theirs"):
        forged = pod.inside(BOB, "cat /var/lib/ipu-pod/containers/theirs/ipuof.conf.d/ipuof.conf")
    pod.inside(ALICE, f"mkdir -p /tmp/forged; printf %s {shlex.quote(forged)} >/tmp/forged/ipuof.conf")
    options = f"{PROGRAMS} --volume /tmp/forged:/forged:ro --env IPUOF_CONFIG_PATH=/forged/ipuof.conf"
    lines = said(pod, ALICE, f"ipu-run --name forger {options} poplar {WORKLOAD}")
    assert "does not answer on eth0" in lines[1]
    assert lines[-1] == "status 1"


def test_a_user_of_the_group_runs_one_as_themselves(pod: Any) -> None:
    look = "id -u; grep CapEff /proc/self/status; touch here && ls -n here"
    words = f"sudo ipu-run --name mine --home poplar sh -c {shlex.quote(f'cd /home/ann; {look}')}"
    uid = pod.inside(ALICE, "id -u ann").strip()
    lines = said(pod, ALICE, words, "ann")
    assert lines[1:3] == [uid, "CapEff:\t0000000000000000"]
    assert lines[3].split()[2] == uid
    assert said(pod, ALICE, "sudo ipu-run --volume /etc:/etc poplar true", "ann") == [
        "ipu-run: --volume is for root alone, since it opens directories that ann may not; use --home",
        "status 125",
    ]
    assert said(pod, ALICE, "sudo --non-interactive ipu-run poplar true", "eve")[-1] == "status 1"
    assert said(pod, ALICE, "ipu-run poplar true", "ann")[0].startswith("ipu-run: only root's engines have networks")


def test_where_ipus_are_short_it_says_who_has_them(pod: Any) -> None:
    with running(pod, ALICE, "train", "--ipus 16"):
        assert said(pod, ALICE, "ipu-run --ipus 4 poplar true") == [
            "ipu-run: 4 IPUs are not free together in vPOD alice, which has 16: container train of root has 16",
            "status 125",
        ]
        (record,) = listed(pod, ALICE)
        assert (record["name"], record["ipus"], record["user"]) == ("train", 16, "root")


@pytest.mark.parametrize("engine", ENGINES)
def test_ipus_are_free_after_kill_9(pod: Any, engine: str) -> None:
    """The container runs on under whoever it has, until somebody ends it."""
    run = f"ipu-run --engine {engine} --name train poplar sh -c 'sleep 600; :'"
    pod.inside(ALICE, f"setsid {run} >/dev/null 2>&1 </dev/null & echo $! >/tmp/train.pid")
    wait_until(lambda: [each["is_ready"] for each in listed(pod, ALICE)] == [True])
    wait_until(lambda: "running" in states(pod, engine))
    pod.inside(ALICE, "kill -KILL $(cat /tmp/train.pid); rm /tmp/train.pid; ipu-run --release-ended")
    assert partitions(pod) == ["train"]
    pod.inside(ALICE, f"{engine} kill train >/dev/null")
    # The timer looks twice a minute.
    wait_until(lambda: partitions(pod) == [])
    assert listed(pod, ALICE) == []


def states(pod: Any, engine: str) -> str:
    """Whether the container runs, and how it ended."""
    return str(pod.inside(ALICE, f"{engine} inspect --format '{{{{.State.Status}}}}' train 2>/dev/null || true"))


def test_ipus_are_free_after_a_crash_of_the_engine(pod: Any) -> None:
    pod.inside(ALICE, "ipu-run --engine docker --detach --name train poplar sh -c 'sleep 600; :'")
    pod.inside(ALICE, "systemctl kill --signal KILL docker; systemctl start docker")
    wait_until(lambda: "running" not in states(pod, "docker"))
    pod.inside(ALICE, "ipu-run --release-ended")
    assert (partitions(pod), listed(pod, ALICE)) == ([], [])


def test_a_container_that_outlives_its_partition_is_ended(pod: Any) -> None:
    with running(pod, ALICE, "train"):
        pod.inside("ctrl001", "vipu-admin --config /etc/vipu/vipu-admin.hcl remove partition train --force")
        pod.inside(ALICE, "ipu-run --release-ended")
        assert states(pod, "podman").strip() == ""
    assert listed(pod, ALICE) == []


def test_an_engine_that_is_down_is_named(pod: Any) -> None:
    pod.inside(BOB, "systemctl stop docker docker.socket")
    lines = said(pod, BOB, "ipu-run --engine docker poplar true")
    pod.inside(BOB, "systemctl start docker")
    assert lines[0].startswith("ipu-run: docker does not answer: ")
    assert lines[1:] == ["status 125"]


def test_twenty_at_once_all_have_their_turn(pod: Any) -> None:
    """Of 16 IPUs each takes four."""
    pod.inside(
        ALICE,
        "for each in $(seq 20); do (ipu-run --name run$each --wait 300 poplar true >/tmp/run$each 2>&1; "
        "echo $? >/tmp/status$each) & done; wait",
    )
    assert pod.inside(ALICE, "cat /tmp/status*; rm /tmp/status* /tmp/run*").split() == ["0"] * 20
    assert (partitions(pod), listed(pod, ALICE)) == ([], [])


def test_ipus_are_free_after_a_reboot(pod: Any) -> None:
    pod.inside(BOB, "ipu-run --detach --name theirs poplar sh -c 'sleep 600; :'")
    assert partitions(pod) == ["theirs"]
    Podman(StateDirectory(STATE)).run("restart", "--time", "0", f"podsim-{BOB}")
    wait_until(lambda: partitions(pod) == [])
    assert listed(pod, BOB) == []


def test_drift_is_found_and_mended(pod: Any, declared: Path) -> None:
    pod.inside(ALICE, "podman network rm ipu-alice; systemctl disable --now --quiet ipu-run-release.timer")
    run = pod.playbook("vpods", *ONLY, inventory=declared)
    assert (run.code, run.messages) == (0, "")
    assert any("ipu-run-release.timer" in line and "podman/ipu-alice" in line for line in run.reported)
    assert pod.inside(ALICE, "podman network ls --quiet --filter name=ipu-alice; systemctl is-active *.timer").split()
