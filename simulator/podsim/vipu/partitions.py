# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules for partitions: where one goes and what it may look like. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from podsim.vipu.entities import WORKING, Cluster, Partition, State
from podsim.vipu.errors import conflict, exists, invalid, no_room
from podsim.vipu.placement import aligned_blocks, usable_positions, used_positions
from podsim.vipu.rules import check_name, find
from podsim.vipu.user_api_tables import ENUMS

C2_COMPATIBLE = "ST_GS2_DEFAULT"
"""The sync type that the command line calls c2-compatible."""

_MAX_RECONFIGURABLE = 64
_MAX_GCD = 64
_REPLICA_SIZES = (1, 2, 4)


def create_partition(
    state: State, request: Mapping[str, Any], allocation_ids: Collection[str] | None, due: float
) -> State:
    """Adds a partition from a CreatePartitionRequest; its creation ends at `due`.

    `allocation_ids` are the allocations of whoever asks, None for everything. Beyond the published fields the
    requirements may have `index`: take the index-th aligned block.
    """
    wanted = request.get("requirements") or {}
    name, size = wanted.get("id", ""), wanted.get("size", 0)
    check_name("partition", name)
    if name in state.partitions:
        raise exists("partition", name)
    if size not in (1, 2, 4, 8, 16, 32) and (size <= 0 or size % 64):
        raise invalid(f"a partition cannot have {size} IPUs: use 1, 2, 4, 8, 16, 32, 64 or a multiple of 64")
    cluster, allocation_id = _place_asked(state, wanted, allocation_ids)
    positions = _positions(state, cluster, allocation_id, wanted)
    num_gcds = wanted.get("num_gcds") or 1
    partition = Partition(
        id=name,
        cluster_id=cluster.id,
        allocation_id=allocation_id,
        positions=tuple(positions),
        ipulink_routing_type=_ipulink_routing(cluster, positions, wanted),
        gw_routing_type=_gateway_routing(cluster, positions, wanted),
        sync_type=_sync_type(wanted),
        num_gcds=num_gcds,
        num_replicas=wanted.get("num_replicas") or num_gcds,
        reconfigurable=bool(wanted.get("reconfigurable")),
        auto_reset=not request.get("disable_auto_reset"),
        relocatable=bool(request.get("relocatable")),
        operation_state="POS_CREATING",
        due=due,
    )
    _check_shape(cluster, partition, explicit_replicas=bool(wanted.get("num_replicas")))
    _check_segments(cluster, partition, wanted.get("num_ipulink_segments") or 0)
    return state.with_partition(partition)


def reset_partition(state: State, name: str, relocatable: bool, due: float) -> State:
    """Starts a reset that ends at `due`; `relocatable` false keeps what was said at creation."""
    partition = find("partition", state.partitions, name)
    _refuse_while_busy(partition)
    resetting = replace(
        partition,
        ready_state="PS_PENDING",
        operation_state="POS_RESETTING",
        relocatable=partition.relocatable or relocatable,
        errors=(),
        auto_resets=0,
        due=due,
    )
    return state.with_partition(resetting)


def remove_partition(state: State, name: str, force: bool, down: Collection[str], due: float) -> State:
    """Starts a removal that ends at `due`; one of its agents being down is an error unless forced."""
    partition = find("partition", state.partitions, name)
    if not force:
        _refuse_while_busy(partition)
        for agent_id in state.agents_of(partition):
            if agent_id in down:
                raise conflict(f"agent '{agent_id}' of partition '{name}' is down: use --force to remove it anyway")
    return state.with_partition(replace(partition, operation_state="POS_REMOVING", due=due))


def _refuse_while_busy(partition: Partition) -> None:
    if partition.operation_state in WORKING:
        operation = partition.operation_state.removeprefix("POS_").lower()
        raise conflict(f"partition '{partition.id}' is busy ({operation}): wait until that has ended")


def _place_asked(
    state: State, wanted: Mapping[str, Any], allocation_ids: Collection[str] | None
) -> tuple[Cluster, str]:
    """The cluster and the allocation ('' for none) in which the partition has to lie."""
    cluster_id, allocation_id = wanted.get("cluster_id", ""), wanted.get("allocation_id", "")
    mine = [name for name in state.allocations if allocation_ids is None or name in allocation_ids]
    if not allocation_id and not cluster_id:
        if len(mine) > 1:
            raise invalid(f"there are several allocations ({', '.join(mine)}): choose one with --allocation")
        allocation_id = mine[0] if mine else ""
        if not mine and allocation_ids is not None:
            raise conflict("there is no allocation for this user: ask an administrator for one")
    if allocation_id:
        allocation = find("allocation", {name: state.allocations[name] for name in mine}, allocation_id)
        if cluster_id and allocation.cluster_id != cluster_id:
            raise invalid(f"allocation '{allocation_id}' is in cluster '{allocation.cluster_id}', not '{cluster_id}'")
        return state.clusters[allocation.cluster_id], allocation_id
    if allocation_ids is not None:
        raise invalid("a user's partition lies in an allocation: choose one with --allocation")
    if cluster_id:
        return find("cluster", state.clusters, cluster_id), ""
    if len(state.clusters) != 1:
        names = ", ".join(state.clusters) or "none"
        raise invalid(f"there is not exactly one cluster ({names}): choose one with --cluster or --allocation")
    return next(iter(state.clusters.values())), ""


def _positions(state: State, cluster: Cluster, allocation_id: str, wanted: Mapping[str, Any]) -> list[int]:
    size, place = wanted["size"], f"allocation '{allocation_id}'" if allocation_id else f"cluster '{cluster.id}'"
    usable = usable_positions(state, cluster, allocation_id)
    free = usable - used_positions(state, cluster)
    if wanted.get("ipus"):
        return _picked(cluster, wanted, usable, free)
    if size > len(usable):
        raise no_room(f"a partition of {size} IPUs does not fit into {place}, which has {len(usable)}")
    blocks = [block for block in aligned_blocks(cluster.size, cluster.domain_ipus, size) if usable.issuperset(block)]
    if "index" in wanted:
        index = wanted["index"]
        if index >= len(blocks):
            raise invalid(f"index {index} is out of range: {place} has {len(blocks)} blocks of {size} IPUs")
        blocks = [blocks[index]]
    for block in blocks:
        if free.issuperset(block):
            return list(block)
    raise no_room(f"no free block of {size} IPUs in {place}: {len(free)} of its {len(usable)} IPUs are free")


def _picked(cluster: Cluster, wanted: Mapping[str, Any], usable: set[int], free: set[int]) -> list[int]:
    if not wanted.get("cluster_id"):
        raise invalid("IPUs picked by hand need cluster_id")
    positions = []
    for ipu in wanted["ipus"]:
        domain, number = ipu.get("ipulink_domain_topology_id", 0), ipu.get("topology_id", 0)
        position = domain * cluster.domain_ipus + number
        if number >= cluster.domain_ipus or position not in usable:
            raise invalid(f"IPU {number} of IPU-Link domain {domain} is not there for this partition")
        if position not in free:
            raise conflict(f"IPU {number} of IPU-Link domain {domain} is used by another partition")
        positions.append(position)
    if len(set(positions)) != wanted["size"]:
        raise invalid(f"{len(set(positions))} IPUs are picked for a partition of {wanted['size']}")
    return sorted(positions)


def _domains(cluster: Cluster, positions: Sequence[int]) -> int:
    return len({position // cluster.domain_ipus for position in positions})


def _ipulink_routing(cluster: Cluster, positions: Sequence[int], wanted: Mapping[str, Any]) -> str:
    """The routing asked for; if none, rings where a torus is used whole, the default otherwise."""
    routing = _enum("IpuLinkRoutingType", wanted.get("ipulink_routing_type"))
    whole = len(positions) == _domains(cluster, positions) * cluster.domain_ipus
    rings = cluster.topology == "torus" and whole
    if routing == "IRT_RINGSWNC" and not rings:
        raise invalid("routing ringswnc needs the loop links: whole IPU-Link domains of a torus cluster")
    return routing or ("IRT_RINGSWNC" if rings and cluster.domain_ipus == _MAX_GCD else "IRT_DNC")


def _gateway_routing(cluster: Cluster, positions: Sequence[int], wanted: Mapping[str, Any]) -> str:
    routing = _enum("GatewayRoutingType", wanted.get("gw_routing_type"))
    if routing == "GRT_RING" and cluster.cluster_topology != "looped":
        raise invalid(f"gateway routing ring needs loop links: cluster '{cluster.id}' is not looped")
    looped = cluster.cluster_topology == "looped" and _domains(cluster, positions) == cluster.num_ipulink_domains > 1
    return routing or ("GRT_RING" if looped else "GRT_UNDEFINED")


def _sync_type(wanted: Mapping[str, Any]) -> str:
    sync_type = _enum("SyncType", wanted.get("sync_type"))
    if sync_type == "ST_GS2_INDEPENDENT_RAILS":
        raise invalid("sync type gs2-independent-rails is not supported")
    if not wanted.get("reconfigurable"):
        return sync_type or "ST_POD_NATIVE_DEFAULT"
    if sync_type not in ("", C2_COMPATIBLE) and "index" not in wanted:
        raise invalid("a reconfigurable partition has sync type c2-compatible: leave --sync-type out")
    return C2_COMPATIBLE


def _enum(enum: str, value: str | None) -> str:
    """The value's name, '' when it is left undefined."""
    if not value or ENUMS[enum].get(value) == 0:
        return ""
    if value not in ENUMS[enum]:
        raise invalid(f"{enum} '{value}' is unknown: use one of {', '.join(ENUMS[enum])}")
    return value


def _check_shape(cluster: Cluster, partition: Partition, explicit_replicas: bool) -> None:
    size, gcds, replicas = partition.size, partition.num_gcds, partition.num_replicas
    if partition.reconfigurable and size > _MAX_RECONFIGURABLE:
        raise invalid(f"a reconfigurable partition has at most {_MAX_RECONFIGURABLE} IPUs, not {size}")
    if partition.reconfigurable and gcds > 1:
        raise invalid(f"a reconfigurable partition has one GCD, not {gcds}")
    if gcds > size or size % gcds:
        raise invalid(f"{size} IPUs do not divide evenly into {gcds} GCDs")
    gcd_size = size // gcds
    if gcd_size > _MAX_GCD or gcd_size & (gcd_size - 1):
        raise invalid(f"a GCD cannot have {gcd_size} IPUs: use 1, 2, 4, 8, 16, 32 or 64 for each of the GCDs")
    for gcd in range(gcds):
        if _domains(cluster, partition.positions[gcd * gcd_size : (gcd + 1) * gcd_size]) > 1:
            domains = _domains(cluster, partition.positions)
            raise invalid(f"a GCD lies in one IPU-Link domain: {domains} domains need at least {domains} GCDs")
    if not explicit_replicas:
        return
    if replicas > size or size % replicas or replicas % gcds:
        raise invalid(f"{replicas} replicas do not divide evenly over {size} IPUs in {gcds} GCDs")
    if size // replicas not in _REPLICA_SIZES:
        raise invalid(f"a replica cannot have {size // replicas} IPUs: use 1, 2 or 4 for each of the replicas")


def _check_segments(cluster: Cluster, partition: Partition, segments: int) -> None:
    domains = _domains(cluster, partition.positions)
    if segments not in (0, domains):
        raise invalid(f"the partition has {domains} IPU-Link segments here, not {segments}")
