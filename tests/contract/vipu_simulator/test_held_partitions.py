# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Agents hold the partitions that they are part of, also without a controller; and a controller under pressure."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path
from sys import executable
from typing import TYPE_CHECKING

from podsim.vipu import agent, machine, rules
from podsim.vipu.controller import Controller as ControllerCore
from podsim.vipu.entities import Cluster, State
from podsim.vipu.errors import Refused
from podsim.vipu.storage import Storage
from tests.support.processes import ENDS_WITHIN_SECONDS, wait_until

if TYPE_CHECKING:
    from conftest import Controller, Pod


def admin(controller: Controller, *arguments: str) -> subprocess.Popen[bytes]:
    """`vipu-admin` as a process of its own."""
    program = [Path(executable).with_name("vipu-admin"), "-H", "127.0.0.1", "-P", str(controller.admin_port)]
    return subprocess.Popen([*program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_agents_hold_the_partitions_they_are_part_of(pod64: Pod) -> None:
    assert pod64.fleet.held == {"ag0": ["p"]}
    pod64.partition("q", 8, allocation_id="a")
    assert {name for name, held in pod64.fleet.held.items() if "q" in held} == {"ag2", "ag3"}
    pod64.controller.remove_partition("p", force=False)
    pod64.wait()
    assert pod64.fleet.held["ag0"] == []


def test_an_agent_that_was_away_gets_its_partitions_when_it_is_back(pod64: Pod) -> None:
    pod64.fleet.held["ag0"] = []  # it has restarted
    pod64.controller.poll()
    assert pod64.fleet.held["ag0"] == ["p"]


def test_a_controller_that_does_not_know_a_partition_leaves_it_to_the_agent(pod: Pod) -> None:
    pod.fleet.held["ag0"] = ["of an earlier controller"]
    pod.agents(1)
    pod.controller.poll()
    assert pod.fleet.held["ag0"] == ["of an earlier controller"]


def test_a_controller_that_only_reserves_an_agent_leaves_it_the_partitions_of_a_dedicated_one(
    pod64: Pod, tmp_path: Path
) -> None:
    storage = Storage(tmp_path / "dedicated.json")
    storage.initialise(State())
    dedicated = ControllerCore(storage, pod64.fleet)
    pod64.allocation_of("alice", "ag8")
    dedicated.create_agent("ag8", "10.2.1.9", 8080)
    dedicated.apply(rules.create_cluster, Cluster("alice", ("ag8",), "mesh", 1, ""))
    dedicated.apply(rules.create_allocation_of_agents, "alice", ["ag8"], "")
    dedicated.create_partition({"requirements": {"id": "train", "size": 4, "allocation_id": "alice"}}, None)
    pod64.partition("q", 8, allocation_id="a")
    pod64.controller.remove_partition("p", force=False)
    pod64.wait()
    assert {name: held for name, held in pod64.fleet.held.items() if held} == {
        "ag2": ["q"],
        "ag3": ["q"],
        "ag8": ["train"],
    }


def test_links_in_use_are_not_tested(pod64: Pod) -> None:
    cluster = pod64.state.clusters["c"]
    pod64.refused("cluster 'c' is in use by partition 'p'", rules.check_cluster_is_idle, pod64.state, cluster)


def test_a_process_holds_partitions_beyond_the_life_of_its_controller(controller: Controller, port: int) -> None:
    partitions = agent.Partitions()
    address = f"127.0.0.1:{port}"
    server = agent.start(address, lambda: machine.facts("m1", "1.18.0", "10.5.1.1", 2112), partitions)
    try:
        controller.admin("create", "agent", "ag1", "--host", "127.0.0.1", "--port", str(port))
        controller.admin("create", "cluster", "c", "--agents", "ag1")
        assert controller.admin("create", "partition", "p", "--size", "4").code == 0
        refused = controller.admin("test", "cluster", "c")
        assert (refused.code, "in use by partition 'p'" in refused.err) == (1, True)
        controller.stop()
        assert partitions.ids == ["p"]
    finally:
        server.stop(grace=None).wait()


def test_an_agent_that_comes_and_goes(pod64: Pod) -> None:
    for _ in range(3):
        pod64.fleet.down.add("ag0")
        pod64.controller.poll()
        assert pod64.state.partitions["p"].ready_state == "PS_ERROR"
        pod64.fleet.down.clear()
        pod64.controller.poll()
        pod64.now += 10  # the delay before a reset
        pod64.controller.poll()
        pod64.now += 10  # the reset itself
        assert pod64.state.partitions["p"].ready_state == "PS_ACTIVE"
    assert pod64.state.partitions["p"].auto_resets == 3


def test_two_writers_at_once_lose_nothing_and_double_nothing(pod: Pod) -> None:
    pod.cluster("c", pod.agents(16))
    refused: list[str] = []

    def write(writer: int) -> None:
        for number in range(16):
            for name in (f"mine{writer}-{number}", f"shared-{number}"):
                try:
                    pod.controller.create_partition({"requirements": {"id": name, "size": 1}}, None)
                except Refused as refusal:
                    refused.append(refusal.code)

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    partitions = pod.state.partitions.values()
    assert len(partitions) == 3 * 16
    assert refused == ["ALREADY_EXISTS"] * 16
    positions = [position for partition in partitions for position in partition.positions]
    assert len(positions) == len(set(positions))


def test_more_than_a_thousand_entities(pod: Pod) -> None:
    agents = [f"ag{number}" for number in range(512)]
    for number, name in enumerate(agents):
        pod.controller.create_agent(name, f"10.2.{1 + number // 16}.{1 + number % 16}", 8080)
    for rack in range(32):
        pod.cluster(f"c{rack}", agents[16 * rack : 16 * rack + 16])
        pod.allocation(f"a{rack}", 64, f"c{rack}")
        for number in range(16):
            pod.partition(f"p{rack}-{number}", 4, allocation_id=f"a{rack}")
    pod.wait()
    state = pod.state
    assert len(state.agents) + len(state.clusters) + len(state.allocations) + len(state.partitions) == 1088
    assert {partition.ready_state for partition in state.partitions.values()} == {"PS_ACTIVE"}
    assert all(len(held) == 1 for held in pod.fleet.held.values())


def test_a_call_that_hangs_hinders_no_other(controller: Controller) -> None:
    controller.stop()
    faults = controller.directory / "faults.json"
    faults.write_text('{"hang": {"ListClusters": 5}}')
    controller.start("--faults", "faults.json")
    began = time.monotonic()
    hanging = admin(controller, "list", "clusters")
    controller.create_agents(1)
    assert hanging.poll() is None
    assert hanging.wait(ENDS_WITHIN_SECONDS) == 0
    assert time.monotonic() - began >= 5


def test_a_restart_in_the_middle_of_a_creation(idle: Controller) -> None:
    idle.start("--creation-time", "30")
    idle.create_cluster(4)
    creating = admin(idle, "create", "partition", "p", "--size", "4")
    wait_until(lambda: '"POS_CREATING"' in idle.storage.read_text())
    assert idle.process
    idle.process.kill()
    idle.process.wait()
    assert idle.process.stdout
    idle.process.stdout.close()
    assert creating.wait(ENDS_WITHIN_SECONDS) == 1
    idle.start("--creation-time", "30")
    status = idle.admin("get", "partition", "p", "--showjson").json["status"]
    assert (status["ready_state"], status["operation_state"]) == ("PS_PENDING", "POS_CREATING")
    again = idle.admin("create", "partition", "p", "--size", "4")
    assert (again.code, "already exists" in again.err) == (1, True)
