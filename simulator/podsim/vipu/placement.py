# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where things go: aligned blocks inside one IPU-Link domain, or whole domains."""

from __future__ import annotations

from collections.abc import Iterator

from podsim.vipu.entities import IPUS_PER_AGENT, Cluster, Partition, State


def aligned_blocks(total: int, domain: int, size: int) -> Iterator[range]:
    """Blocks of `size` out of `total` places that lie in domains of `domain` places, first to last.

    A block within a domain starts at a multiple of its size; a larger one is made of whole consecutive domains.
    """
    if size <= domain:
        for start in range(0, total, domain):
            for first in range(start, start + domain - size + 1, size):
                yield range(first, first + size)
    elif size % domain == 0:
        for first in range(0, total - size + 1, domain):
            yield range(first, first + size)


def agent_blocks(cluster: Cluster, agents: int) -> Iterator[tuple[str, ...]]:
    """The agents of each block that an allocation of so many agents could be."""
    for block in aligned_blocks(len(cluster.agent_ids), cluster.domain_agents, agents):
        yield tuple(cluster.agent_ids[block.start : block.stop])


def busy_agents(state: State, cluster: Cluster) -> set[str]:
    """Agents of a cluster that an allocation cannot have: allocated already, or used by a partition outside of any."""
    busy = {agent for a in state.allocations.values() if a.cluster_id == cluster.id for agent in a.agent_ids}
    for partition in state.partitions.values():
        if partition.cluster_id == cluster.id:
            busy.update(state.agents_of(partition))
    return busy


def free_agent_blocks(state: State, cluster: Cluster, agents: int) -> Iterator[tuple[str, ...]]:
    """The blocks that are free now, in cluster order."""
    busy = busy_agents(state, cluster)
    return (block for block in agent_blocks(cluster, agents) if busy.isdisjoint(block))


def positions_of(cluster: Cluster, agent_ids: tuple[str, ...]) -> set[int]:
    """The positions of the agents' IPUs in the cluster."""
    index = {agent: place for place, agent in enumerate(cluster.agent_ids)}
    return {index[agent] * IPUS_PER_AGENT + ipu for agent in agent_ids for ipu in range(IPUS_PER_AGENT)}


def usable_positions(state: State, cluster: Cluster, allocation_id: str) -> set[int]:
    """The positions that a partition may take: those of its allocation, or those outside of every allocation."""
    if allocation_id:
        return positions_of(cluster, state.allocations[allocation_id].agent_ids)
    allocated = [a.agent_ids for a in state.allocations.values() if a.cluster_id == cluster.id]
    return set(range(cluster.size)).difference(*(positions_of(cluster, agents) for agents in allocated))


def used_positions(state: State, cluster: Cluster) -> set[int]:
    """The positions that partitions of the cluster hold."""
    partitions = (p for p in state.partitions.values() if p.cluster_id == cluster.id)
    return {position for partition in partitions for position in partition.positions}


def domains_of(cluster: Cluster, partition: Partition) -> list[int]:
    """The IPU-Link domains that a partition touches, by their number in the cluster."""
    return sorted({position // cluster.domain_ipus for position in partition.positions})
