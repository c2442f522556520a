# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rule of agents, clusters, allocations and users, with its message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from podsim.vipu import rules

if TYPE_CHECKING:
    from conftest import Pod


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a/b", "ä"])
def test_names(pod64: Pod, name: str) -> None:
    pod64.refused(f"agent id '{name}' is not valid", pod64.controller.create_agent, name, "h", 8080)
    pod64.refused(f"cluster id '{name}' is not valid", pod64.cluster, name, ["ag0"])
    pod64.refused(f"allocation id '{name}' is not valid", pod64.allocation, name, 4)
    pod64.refused(f"partition id '{name}' is not valid", pod64.partition, name, 4)
    pod64.refused(f"user id '{name}' is not valid", pod64.controller.create_user, name, (), False)


def test_what_exists_cannot_be_created_again(pod64: Pod) -> None:
    pod64.controller.create_user("u", ("a",), False)
    pod64.refused("agent 'ag0' already exists", pod64.controller.create_agent, "ag0", "h", 8080)
    pod64.refused("cluster 'c' already exists", pod64.cluster, "c", ["ag0"])
    pod64.refused("allocation 'a' already exists", pod64.allocation, "a", 4)
    pod64.refused("partition 'p' already exists", pod64.partition, "p", 4)
    pod64.refused("user 'u' already exists", pod64.controller.create_user, "u", (), False)


def test_what_is_unknown(pod64: Pod) -> None:
    controller = pod64.controller
    pod64.refused("agent 'x' is unknown", controller.remove_agent, "x")
    pod64.refused("agent 'x' is unknown", pod64.cluster, "d", ["x"])
    pod64.refused("cluster 'x' is unknown", pod64.allocation, "b", 4, "x")
    pod64.refused("allocation 'x' is unknown", pod64.partition, "q", 4, allocation_id="x")
    pod64.refused("allocation 'x' is unknown", controller.create_user, "u", ("x",), False)
    pod64.refused("partition 'x' is unknown", controller.remove_partition, "x", False)
    pod64.refused("partition 'x' is unknown", controller.reset_partition, "x", False)
    for kind in ("cluster", "allocation", "user"):
        pod64.refused(f"{kind} 'x' is unknown", controller.apply, getattr(rules, f"remove_{kind}"), "x")


def test_what_is_used_cannot_be_removed(pod64: Pod) -> None:
    controller = pod64.controller
    pod64.refused("agent 'ag0' is used by cluster 'c'", controller.remove_agent, "ag0")
    pod64.refused("cluster 'c' is used by allocation 'a'", controller.apply, rules.remove_cluster, "c")
    pod64.refused("allocation 'a' is used by partition 'p'", controller.apply, rules.remove_allocation, "a")
    controller.remove_partition("p", False)
    controller.create_user("u", ("a",), False)
    pod64.refused("allocation 'a' is granted to user 'u'", controller.apply, rules.remove_allocation, "a")
    controller.apply(rules.remove_user, "u")
    controller.apply(rules.remove_allocation, "a")
    pod64.partition("q", 4, cluster_id="c")
    pod64.refused("cluster 'c' is used by partition 'q'", controller.apply, rules.remove_cluster, "c")


def test_the_last_administrator_stays(pod: Pod) -> None:
    pod.controller.create_user("root", (), True)
    pod.refused("user 'root' is the last administrator", pod.controller.apply, rules.remove_user, "root")


def test_agents(pod: Pod) -> None:
    create = pod.controller.create_agent
    create("ag0", "10.2.1.1", 8080)
    pod.refused("an agent needs a host", create, "ag1", "", 8080)
    pod.refused("port 0 is not valid", create, "ag1", "10.2.1.2", 0)
    pod.refused("10.2.1.1:8080 is agent 'ag0' already", create, "ag1", "10.2.1.1", 8080)
    pod.fleet.down.add("ag1")
    pod.refused("agent 'ag1' at 10.2.1.2:8080 does not answer", create, "ag1", "10.2.1.2", 8080)


def test_clusters(pod: Pod) -> None:
    agents = pod.agents(18)
    pod.refused("there are no agents", pod.cluster, "c", [])
    pod.refused("agent 'ag0' is listed twice", pod.cluster, "c", ["ag0", "ag0"])
    pod.refused("topology 'ring' is unknown", pod.cluster, "c", ["ag0"], "ring")
    pod.refused("cluster topology 'star' is unknown", pod.cluster, "c", ["ag0"], "mesh", 1, "star")
    pod.refused("3 agents do not divide evenly into 2", pod.cluster, "c", agents[:3], "mesh", 2)
    pod.refused("an IPU-Link domain has at most 16 agents, not 18", pod.cluster, "c", agents)
    pod.cluster("c", agents[:2])
    pod.refused("agent 'ag1' is in cluster 'c' already", pod.cluster, "d", ["ag1", "ag2"])


@pytest.mark.parametrize("size", [0, 1, 2, 3, 12, 48, 96])
def test_allocation_sizes(pod64: Pod, size: int) -> None:
    pod64.refused(f"an allocation cannot have {size} IPUs", pod64.allocation, "b", size)


def test_allocations_take_the_first_free_aligned_block(pod64: Pod) -> None:
    pod64.allocation("b", 4)
    pod64.allocation("d", 16)
    assert pod64.state.allocations["b"].agent_ids == ("ag8",)
    assert pod64.state.allocations["d"].agent_ids == ("ag12", "ag13", "ag14", "ag15")
    pod64.refused("no free allocation of 16 IPUs in cluster 'c'", pod64.allocation, "e", 16, "c")


def test_allocations_of_agents(pod64: Pod) -> None:
    pod64.refused("agent 'ag0' is in allocation 'a' already", pod64.allocation_of, "b", "ag0")
    pod64.refused("an allocation cannot have 12 IPUs", pod64.allocation_of, "b", "ag8", "ag9", "ag10")
    pod64.refused("2 agents of an allocation have to be neighbours", pod64.allocation_of, "b", "ag9", "ag10")
    pod64.allocation_of("b", "ag9", "ag8")
    assert pod64.state.allocations["b"].agent_ids == ("ag8", "ag9")
    pod64.partition("q", 1, cluster_id="c")
    pod64.refused("a partition outside of every allocation uses", pod64.allocation_of, "d", "ag10")


def test_allocations_lie_in_one_cluster(pod: Pod) -> None:
    agents = pod.agents(5)
    pod.cluster("c", agents[:2])
    pod.cluster("d", agents[2:4])
    pod.refused("agents 'ag0' and 'ag2' are not in one cluster", pod.allocation_of, "a", "ag0", "ag2")
    pod.refused("agent 'ag4' is in no cluster", pod.allocation_of, "a", "ag4")
    of_agents = rules.create_allocation_of_agents
    pod.refused("agent 'ag0' is in cluster 'c', not 'd'", pod.controller.apply, of_agents, "a", ("ag0",), "d")
