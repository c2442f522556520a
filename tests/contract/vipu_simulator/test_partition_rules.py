# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rule of partitions, with its message, and how partitions live."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from podsim.vipu.controller import Controller
from podsim.vipu.storage import Storage

if TYPE_CHECKING:
    from conftest import Pod


@pytest.mark.parametrize("size", [0, 3, 12, 48, 96])
def test_partition_sizes(pod64: Pod, size: int) -> None:
    pod64.refused(f"a partition cannot have {size} IPUs", pod64.partition, "q", size)


def test_partition_of_32_is_allowed(pod: Pod) -> None:
    pod.cluster("c", pod.agents(8))
    pod.allocation("a", 32)
    pod.partition("p", 32)
    assert pod.state.partitions["p"].size == 32


def test_partitions_stay_inside_their_allocation(pod64: Pod) -> None:
    pod64.refused("a partition of 64 IPUs does not fit into allocation 'a', which has 32", pod64.partition, "q", 64)
    pod64.refused("no free block of 32 IPUs in allocation 'a': 28 of its 32 IPUs are free", pod64.partition, "q", 32)
    pod64.partition("small", 1)
    pod64.partition("smaller", 2)
    assert pod64.state.partitions["small"].positions == (4,)
    assert pod64.state.partitions["smaller"].positions == (6, 7)
    pod64.refused("index 8 is out of range", pod64.partition, "q", 4, index=8)
    pod64.refused("no free block of 4 IPUs", pod64.partition, "q", 4, index=0)


def test_which_allocation(pod64: Pod) -> None:
    pod64.allocation("b", 16)
    pod64.refused("there are several allocations (a, b): choose one", pod64.partition, "q", 4)
    pod64.refused("allocation 'b' is unknown", pod64.partition, "q", 4, mine=("a",), allocation_id="b")
    pod64.refused("a user's partition lies in an allocation", pod64.partition, "q", 4, mine=("a",), cluster_id="c")
    pod64.refused("there is no allocation for this user", pod64.partition, "q", 4, mine=())
    pod64.refused(
        "allocation 'a' is in cluster 'c', not 'd'", pod64.partition, "q", 4, allocation_id="a", cluster_id="d"
    )


def test_which_cluster(pod: Pod) -> None:
    pod.refused("there is not exactly one cluster (none)", pod.partition, "p", 4)


def test_gcds_and_replicas(pod64: Pod) -> None:
    pod64.refused("4 IPUs do not divide evenly into 3 GCDs", pod64.partition, "q", 4, num_gcds=3)
    pod64.refused("4 IPUs do not divide evenly into 8 GCDs", pod64.partition, "q", 4, num_gcds=8)
    pod64.refused("3 replicas do not divide evenly over 8", pod64.partition, "q", 8, num_replicas=3)
    pod64.refused("2 replicas do not divide evenly over 8", pod64.partition, "q", 8, num_gcds=4, num_replicas=2)
    pod64.refused("a replica cannot have 8 IPUs", pod64.partition, "q", 16, num_replicas=2)
    pod64.partition("q", 16)
    assert (pod64.state.partitions["q"].num_gcds, pod64.state.partitions["q"].num_replicas) == (1, 1)


def test_reconfigurable(pod: Pod) -> None:
    pod.cluster("c", pod.agents(32), "torus", 2, "looped")
    many = {"num_gcds": 2, "reconfigurable": True}
    pod.refused("a reconfigurable partition has at most 64 IPUs, not 128", pod.partition, "p", 128, **many)
    pod.refused("a reconfigurable partition has one GCD, not 2", pod.partition, "p", 16, **many)
    native = {"sync_type": "ST_POD_NATIVE_DEFAULT", "reconfigurable": True}
    pod.refused("a reconfigurable partition has sync type c2-compatible", pod.partition, "p", 16, **native)
    pod.partition("p", 16, index=1, **native)
    assert pod.state.partitions["p"].sync_type == "ST_GS2_DEFAULT"
    assert pod.state.partitions["p"].positions[0] == 16


def test_a_gcd_lies_in_one_link_domain(pod: Pod) -> None:
    pod.cluster("c", pod.agents(32), "torus", 2, "looped")
    pod.refused("a GCD cannot have 128 IPUs", pod.partition, "p", 128)
    pod.partition("p", 128, num_gcds=2)
    assert pod.state.partitions["p"].ipulink_routing_type == "IRT_RINGSWNC"
    assert pod.state.partitions["p"].gw_routing_type == "GRT_RING"


def test_a_gcd_lies_in_one_small_link_domain(pod: Pod) -> None:
    pod.cluster("c", pod.agents(4), "mesh", 2)
    pod.refused("2 domains need at least 2 GCDs", pod.partition, "p", 16)
    pod.refused("the partition has 1 IPU-Link segments here, not 2", pod.partition, "p", 8, num_ipulink_segments=2)
    pod.partition("p", 16, num_gcds=2, num_ipulink_segments=2)


def test_routing(pod: Pod) -> None:
    pod.cluster("c", pod.agents(4))
    rings = {"ipulink_routing_type": "IRT_RINGSWNC"}
    pod.refused("routing ringswnc needs the loop links", pod.partition, "p", 16, **rings)
    pod.refused("gateway routing ring needs loop links", pod.partition, "p", 16, gw_routing_type="GRT_RING")
    pod.refused("IpuLinkRoutingType 'IRT_X' is unknown", pod.partition, "p", 16, ipulink_routing_type="IRT_X")
    rails = {"sync_type": "ST_GS2_INDEPENDENT_RAILS"}
    pod.refused("sync type gs2-independent-rails is not supported", pod.partition, "p", 16, **rails)
    pod.partition("p", 16)
    assert pod.state.partitions["p"].ipulink_routing_type == "IRT_DNC"


def test_picked_ipus(pod64: Pod) -> None:
    def picked(*numbers: int) -> list[dict[str, int]]:
        return [{"topology_id": number} for number in numbers]

    pod64.refused("IPUs picked by hand need cluster_id", pod64.partition, "q", 1, ipus=picked(9))
    here = {"cluster_id": "c", "allocation_id": "a"}
    pod64.refused("IPU 64 of IPU-Link domain 0 is not there", pod64.partition, "q", 1, ipus=picked(64), **here)
    pod64.refused("IPU 60 of IPU-Link domain 0 is not there", pod64.partition, "q", 1, ipus=picked(60), **here)
    pod64.refused("IPU 0 of IPU-Link domain 0 is used by another", pod64.partition, "q", 1, ipus=picked(0), **here)
    pod64.refused("2 IPUs are picked for a partition of 1", pod64.partition, "q", 1, ipus=picked(8, 9), **here)


def test_operations_take_their_time(pod64: Pod) -> None:
    pod64.partition("q", 4)
    assert pod64.state.partitions["q"].ready_state == "PS_PENDING"
    pod64.refused("partition 'q' is busy (creating)", pod64.controller.reset_partition, "q", False)
    pod64.refused("partition 'q' is busy (creating)", pod64.controller.remove_partition, "q", False)
    pod64.wait()
    assert pod64.state.partitions["q"].ready_state == "PS_ACTIVE"
    pod64.controller.reset_partition("q", False)
    assert pod64.state.partitions["q"].ready_state == "PS_PENDING"


def test_a_lost_agent_is_an_error_until_it_is_back(pod64: Pod) -> None:
    pod64.fleet.down.add("ag0")
    pod64.wait()
    partition = pod64.state.partitions["p"]
    assert (partition.ready_state, partition.errors) == ("PS_ERROR", ("agent 'ag0' is down",))
    pod64.refused("agent 'ag0' of partition 'p' is down: use --force", pod64.controller.remove_partition, "p", False)
    pod64.fleet.down.clear()
    pod64.wait()
    assert pod64.state.partitions["p"].operation_state == "POS_RESETTING"
    pod64.wait()
    assert pod64.state.partitions["p"].ready_state == "PS_ACTIVE"
    assert pod64.state.partitions["p"].auto_resets == 1


def test_a_relocatable_partition_moves(pod64: Pod) -> None:
    pod64.partition("q", 8, relocatable=True)
    pod64.wait()
    pod64.fleet.down.add("ag2")
    pod64.wait()
    pod64.wait()
    pod64.wait()
    assert pod64.state.partitions["q"].ready_state == "PS_ACTIVE"
    assert pod64.state.partitions["q"].positions == tuple(range(16, 24))


def test_removal_by_force(pod64: Pod) -> None:
    pod64.fleet.down.add("ag0")
    pod64.wait()
    pod64.controller.remove_partition("p", True)
    assert not pod64.state.partitions


def test_auto_reset_recovers(pod64: Pod) -> None:
    pod64.failing["q"] = 2
    pod64.partition("q", 4)
    states = []
    for _ in range(6):
        pod64.wait()
        states.append(pod64.state.partitions["q"].ready_state.removeprefix("PS_"))
    assert states == ["ERROR", "PENDING", "ERROR", "PENDING", "ACTIVE", "ACTIVE"]


def test_state_survives_a_restart(pod64: Pod, tmp_path: Path) -> None:
    pod64.controller.create_user("u", ("a",), False)
    again = Controller(Storage(tmp_path / "vipu-server.json"), pod64.fleet)
    assert again.state() == pod64.state
