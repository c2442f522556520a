# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules for agents, clusters, allocations and users: pure functions from one state to the next.

Every one of them raises Refused and changes nothing when a rule is broken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from podsim.vipu.entities import IPUS_PER_AGENT, Agent, Allocation, Cluster, State, User
from podsim.vipu.errors import conflict, exists, invalid, no_room, unknown
from podsim.vipu.placement import agent_blocks, free_agent_blocks

MAX_DOMAIN_AGENTS = 16
TOPOLOGIES = ("mesh", "torus")
CLUSTER_TOPOLOGIES = ("", "looped")

# Assumed: the names seen in documents fit, the real limit is not published.
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")

Entity = TypeVar("Entity")


def check_name(kind: str, name: str) -> None:
    """Refuses an id that is not 1 to 64 letters, digits, dots, underscores or dashes."""
    if not _NAME.fullmatch(name):
        raise invalid(f"{kind} id '{name}' is not valid: use 1 to 64 letters, digits, '.', '_' or '-'")


def find(kind: str, entities: dict[str, Entity], name: str) -> Entity:
    """The entity of that id, or a refusal."""
    if name not in entities:
        raise unknown(kind, name)
    return entities[name]


def create_agent(state: State, name: str, host: str, port: int) -> State:
    """Adds an agent; each machine (host and port) can be added once."""
    check_name("agent", name)
    if name in state.agents:
        raise exists("agent", name)
    if not host:
        raise invalid("an agent needs a host: give --host")
    if not 1 <= port <= 65535:
        raise invalid(f"port {port} is not valid: use 1 to 65535")
    for agent in state.agents.values():
        if (agent.host, agent.port) == (host, port):
            raise conflict(f"{host}:{port} is agent '{agent.id}' already")
    return replace(state, agents={**state.agents, name: Agent(name, host, port)})


def remove_agent(state: State, name: str) -> State:
    """Removes an agent that no cluster uses."""
    find("agent", state.agents, name)
    cluster = state.cluster_of(name)
    if cluster:
        raise conflict(f"agent '{name}' is used by cluster '{cluster.id}'")
    return replace(state, agents=_without(state.agents, name))


def create_cluster(state: State, cluster: Cluster) -> State:
    """Adds a cluster of agents that belong to no other cluster."""
    check_name("cluster", cluster.id)
    if cluster.id in state.clusters:
        raise exists("cluster", cluster.id)
    if cluster.topology not in TOPOLOGIES:
        raise invalid(f"topology '{cluster.topology}' is unknown: use mesh or torus")
    if cluster.cluster_topology not in CLUSTER_TOPOLOGIES:
        raise invalid(f"cluster topology '{cluster.cluster_topology}' is unknown: use looped or leave it out")
    _check_agent_list(state, cluster.agent_ids)
    for agent_id in cluster.agent_ids:
        other = state.cluster_of(agent_id)
        if other:
            raise conflict(f"agent '{agent_id}' is in cluster '{other.id}' already")
    agents, domains = len(cluster.agent_ids), cluster.num_ipulink_domains
    if agents % domains:
        raise invalid(f"{agents} agents do not divide evenly into {domains} IPU-Link domains")
    if cluster.domain_agents > MAX_DOMAIN_AGENTS:
        raise invalid(
            f"an IPU-Link domain has at most {MAX_DOMAIN_AGENTS} agents, not {cluster.domain_agents}:"
            " give more domains with --num-ipulinkdomains"
        )
    return replace(state, clusters={**state.clusters, cluster.id: cluster})


def remove_cluster(state: State, name: str) -> State:
    """Removes a cluster without allocations and partitions."""
    find("cluster", state.clusters, name)
    for kind, entities in (("allocation", state.allocations), ("partition", state.partitions)):
        users = [entity.id for entity in entities.values() if entity.cluster_id == name]
        if users:
            raise conflict(f"cluster '{name}' is used by {kind} '{users[0]}'")
    return replace(state, clusters=_without(state.clusters, name))


def check_cluster_is_idle(state: State, cluster: Cluster) -> None:
    """Refuses a test of links that partitions use. Assumed: the real one's words are not published."""
    active = [p.id for p in state.partitions.values() if p.cluster_id == cluster.id and p.ready_state != "PS_ERROR"]
    if active:
        raise conflict(f"cluster '{cluster.id}' is in use by partition '{active[0]}': test it when it has none")


def create_allocation_by_size(state: State, name: str, size: int, cluster_id: str) -> State:
    """Adds an allocation of so many IPUs: the first free block, in the order of clusters and their agents."""
    _check_new_allocation(state, name)
    agent_count = _agents_for(size)
    for cluster in _clusters(state, cluster_id):
        for agent_ids in free_agent_blocks(state, cluster, agent_count):
            return _with_allocation(state, Allocation(name, cluster.id, agent_ids))
    raise _no_free_allocation(size, cluster_id)


def create_allocation_of_agents(state: State, name: str, agent_ids: Sequence[str], cluster_id: str) -> State:
    """Adds an allocation of exactly these agents, which have to be a free aligned block of one cluster."""
    _check_new_allocation(state, name)
    _check_agent_list(state, agent_ids)
    _agents_for(len(agent_ids) * IPUS_PER_AGENT)
    cluster = state.cluster_of(agent_ids[0])
    if not cluster:
        raise conflict(f"agent '{agent_ids[0]}' is in no cluster")
    if cluster_id and cluster.id != cluster_id:
        raise conflict(f"agent '{agent_ids[0]}' is in cluster '{cluster.id}', not '{cluster_id}'")
    for agent_id in agent_ids:
        if agent_id not in cluster.agent_ids:
            raise conflict(f"agents '{agent_ids[0]}' and '{agent_id}' are not in one cluster")
        other = state.allocation_of(agent_id)
        if other:
            raise conflict(f"agent '{agent_id}' is in allocation '{other.id}' already")
    for block in agent_blocks(cluster, len(agent_ids)):
        if set(block) == set(agent_ids):
            if block not in free_agent_blocks(state, cluster, len(block)):
                raise conflict(f"a partition outside of every allocation uses agents of '{name}': remove it first")
            return _with_allocation(state, Allocation(name, cluster.id, block))
    raise invalid(
        f"{len(agent_ids)} agents of an allocation have to be neighbours in cluster '{cluster.id}',"
        f" starting at a multiple of {len(agent_ids)}"
    )


def allocation_options(state: State, size: int, cluster_id: str) -> list[Allocation]:
    """Where an allocation of so many IPUs could be placed now; refused when nowhere."""
    agent_count = _agents_for(size)
    options = [
        Allocation("", cluster.id, agent_ids)
        for cluster in _clusters(state, cluster_id)
        for agent_ids in free_agent_blocks(state, cluster, agent_count)
    ]
    if not options:
        raise _no_free_allocation(size, cluster_id)
    return options


def remove_allocation(state: State, name: str) -> State:
    """Removes an allocation without partitions that no user holds."""
    find("allocation", state.allocations, name)
    partitions = [p.id for p in state.partitions.values() if p.allocation_id == name]
    if partitions:
        raise conflict(f"allocation '{name}' is used by partition '{partitions[0]}'")
    users = [user.id for user in state.users.values() if name in user.allocation_ids]
    if users:
        raise conflict(f"allocation '{name}' is granted to user '{users[0]}'")
    return replace(state, allocations=_without(state.allocations, name))


def create_user(state: State, user: User) -> State:
    """Adds a user; the allocations have to exist."""
    check_name("user", user.id)
    if user.id in state.users:
        raise exists("user", user.id)
    for allocation_id in user.allocation_ids:
        find("allocation", state.allocations, allocation_id)
    return replace(state, users={**state.users, user.id: user})


def remove_user(state: State, name: str) -> State:
    """Removes a user, but never the last administrator."""
    user = find("user", state.users, name)
    if user.admin and sum(other.admin for other in state.users.values()) == 1:
        raise conflict(f"user '{name}' is the last administrator")
    return replace(state, users=_without(state.users, name))


def _with_allocation(state: State, allocation: Allocation) -> State:
    return replace(state, allocations={**state.allocations, allocation.id: allocation})


def _without(entities: dict[str, Entity], name: str) -> dict[str, Entity]:
    return {key: entity for key, entity in entities.items() if key != name}


def _check_new_allocation(state: State, name: str) -> None:
    check_name("allocation", name)
    if name in state.allocations:
        raise exists("allocation", name)


def _check_agent_list(state: State, agent_ids: Sequence[str]) -> None:
    if not agent_ids:
        raise invalid("there are no agents: give --agents as a list with commas")
    for agent_id in agent_ids:
        find("agent", state.agents, agent_id)
    if len(set(agent_ids)) < len(agent_ids):
        twice = next(agent_id for agent_id in agent_ids if list(agent_ids).count(agent_id) > 1)
        raise invalid(f"agent '{twice}' is listed twice")


def _agents_for(size: int) -> int:
    """The number of agents that an allocation of so many IPUs takes."""
    if size not in (4, 8, 16, 32) and (size <= 0 or size % 64):
        raise invalid(f"an allocation cannot have {size} IPUs: use 4, 8, 16, 32, 64 or a multiple of 64")
    return size // IPUS_PER_AGENT


def _clusters(state: State, cluster_id: str) -> list[Cluster]:
    return [find("cluster", state.clusters, cluster_id)] if cluster_id else list(state.clusters.values())


def _no_free_allocation(size: int, cluster_id: str) -> Exception:
    return no_room(f"no free allocation of {size} IPUs" + (f" in cluster '{cluster_id}'" if cluster_id else ""))
