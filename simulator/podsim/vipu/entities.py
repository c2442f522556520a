# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The entities that a controller stores: agents, clusters, allocations, partitions, users. Plain immutable values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

IPUS_PER_AGENT = 4
"""An agent is exactly one IPU-Machine, and that has four IPUs."""

WORKING = ("POS_CREATING", "POS_RESETTING", "POS_REMOVING")
"""The operation states of a partition that end by themselves."""


@dataclass(frozen=True)
class Agent:
    """One IPU-Machine's agent, reached at host:port."""

    id: str
    host: str
    port: int


@dataclass(frozen=True)
class Cluster:
    """Agents in ILD-major order: first all of ILD 0, then all of ILD 1, and so on."""

    id: str
    agent_ids: tuple[str, ...]
    topology: str
    num_ipulink_domains: int
    cluster_topology: str

    @property
    def domain_agents(self) -> int:
        """Number of agents in each IPU-Link domain."""
        return len(self.agent_ids) // self.num_ipulink_domains

    @property
    def domain_ipus(self) -> int:
        """Number of IPUs in each IPU-Link domain."""
        return self.domain_agents * IPUS_PER_AGENT

    @property
    def size(self) -> int:
        """Number of IPUs."""
        return len(self.agent_ids) * IPUS_PER_AGENT


@dataclass(frozen=True)
class Allocation:
    """IPU-Machines of one cluster, granted to users."""

    id: str
    cluster_id: str
    agent_ids: tuple[str, ...]


@dataclass(frozen=True)
class Partition:
    """IPUs of one cluster, wired together.

    `positions` count the cluster's IPUs from 0 in the order of its agents. Routing, sync and state values are the
    enum names of the published API. `due` is when the operation in progress ends, or an error may be reset, in seconds
    since the epoch.
    """

    id: str
    cluster_id: str
    allocation_id: str
    positions: tuple[int, ...]
    ipulink_routing_type: str
    gw_routing_type: str
    sync_type: str
    num_gcds: int
    num_replicas: int
    reconfigurable: bool
    auto_reset: bool
    relocatable: bool
    operation_state: str
    due: float
    ready_state: str = "PS_PENDING"
    errors: tuple[str, ...] = ()
    auto_resets: int = 0
    last_auto_reset: float = 0.0

    @property
    def size(self) -> int:
        """Number of IPUs."""
        return len(self.positions)


@dataclass(frozen=True)
class User:
    """Who may use which allocations; the access key itself is never kept."""

    id: str
    allocation_ids: tuple[str, ...]
    admin: bool
    access_key_sha256: str


@dataclass(frozen=True)
class State:
    """Everything a controller stores, each kind by id, in order of creation."""

    agents: dict[str, Agent] = field(default_factory=dict)
    clusters: dict[str, Cluster] = field(default_factory=dict)
    allocations: dict[str, Allocation] = field(default_factory=dict)
    partitions: dict[str, Partition] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)

    def cluster_of(self, agent_id: str) -> Cluster | None:
        """The cluster that has the agent, if any."""
        return next((c for c in self.clusters.values() if agent_id in c.agent_ids), None)

    def allocation_of(self, agent_id: str) -> Allocation | None:
        """The allocation that has the agent, if any."""
        return next((a for a in self.allocations.values() if agent_id in a.agent_ids), None)

    def agents_of(self, partition: Partition) -> list[str]:
        """The agents that a partition touches, in cluster order."""
        agent_ids = self.clusters[partition.cluster_id].agent_ids
        return [agent_ids[index] for index in sorted({p // IPUS_PER_AGENT for p in partition.positions})]

    def held(self) -> dict[str, list[str]]:
        """The partitions that each agent is part of."""
        held: dict[str, list[str]] = {agent_id: [] for agent_id in self.agents}
        for partition in self.partitions.values():
            for agent_id in self.agents_of(partition):
                held[agent_id].append(partition.id)
        return held

    def with_partition(self, partition: Partition) -> State:
        """The state with this partition in it, new or in place of an older one of that id."""
        return replace(self, partitions={**self.partitions, partition.id: partition})


_KINDS: dict[str, type] = {
    "agents": Agent,
    "clusters": Cluster,
    "allocations": Allocation,
    "partitions": Partition,
    "users": User,
}


def state_to_json(state: State) -> dict[str, Any]:
    """The state as lists of plain values, for the storage file."""
    return {kind: [vars(entity) for entity in getattr(state, kind).values()] for kind in _KINDS}


def state_from_json(data: dict[str, Any]) -> State:
    """The reverse of state_to_json.

    Raises KeyError or TypeError on data of another shape.
    """
    return State(
        **{
            kind: {entry["id"]: make(**{name: _frozen(value) for name, value in entry.items()}) for entry in data[kind]}
            for kind, make in _KINDS.items()
        }
    )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
