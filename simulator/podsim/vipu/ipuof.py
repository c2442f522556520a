# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The IPUoF configuration of a partition: which devices a Poplar server reaches, GCD by GCD."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podsim.vipu.entities import IPUS_PER_AGENT, Cluster, Partition, State
from podsim.vipu.placement import domains_of

SERVER_PORT = 10000
RDMA_PORT = 18515


def partition_config(
    state: State, partition: Partition, facts: Mapping[str, Mapping[str, Any]], gcd: int | None
) -> dict[str, Any]:
    """The published PartitionConfig, of one GCD or (None) of all; `facts` are those of the partition's agents."""
    cluster = state.clusters[partition.cluster_id]
    size = partition.size // partition.num_gcds
    gcds = range(partition.num_gcds) if gcd is None else (gcd,)
    return {
        "ipulink_routing_type": partition.ipulink_routing_type,
        "sync_type": partition.sync_type,
        "reconfigurable": partition.reconfigurable,
        "gw_routing_type": partition.gw_routing_type,
        "num_ipulink_segments": len(domains_of(cluster, partition)),
        "gcd_configs": [
            {
                "devices": _devices(cluster, partition, range(number * size, (number + 1) * size), facts),
                "attributes": _attributes(cluster, partition, number, size),
            }
            for number in gcds
        ],
        "ipuof_server_version": next(iter(facts.values()))["ipuof_server_version"],
    }


def _devices(
    cluster: Cluster, partition: Partition, places: range, facts: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """One device for each place in the partition: machine by machine, IPUs 3, 2, 1, 0 of each, as gc-info shows."""
    domains = domains_of(cluster, partition)
    per_segment = partition.size // len(domains)
    ordered = sorted(places, key=lambda place: _machine_then_ipu_down(partition.positions[place]))
    devices = []
    for place in ordered:
        machine, ipu = divmod(partition.positions[place], IPUS_PER_AGENT)
        about = facts[cluster.agent_ids[machine]]
        devices.append(
            {
                "ip": about["rnic"],
                "server_port": SERVER_PORT,
                "rdma_port": RDMA_PORT,
                "device_id": ipu,
                "ipulink_segment_id": place // per_segment,
                "routing_id": place % per_segment,
                "ipu_arch_id": 2,
                "ipu_id": ipu,
                "chip_id": f"{about['board_serial_number']}-{ipu}",
                "gwsw_version": about["gwsw_version"],
                "ipum_sw_version": about["ipum_sw_version"],
            }
        )
    return devices


def _machine_then_ipu_down(position: int) -> tuple[int, int]:
    machine, ipu = divmod(position, IPUS_PER_AGENT)
    return machine, -ipu


def _attributes(cluster: Cluster, partition: Partition, gcd: int, gcd_size: int) -> dict[str, str]:
    """The GCD's number and Poplar's target options, all of them strings."""
    sliding = partition.ipulink_routing_type in ("IRT_SWNC", "IRT_RINGSWNC")
    twisted = partition.ipulink_routing_type == "IRT_BTNC"
    return {
        "GCD Id": str(gcd),
        "Partition Id": partition.id,
        "gatewayMode": "true",
        "instanceSize": str(gcd_size),
        "ipuLinkConfiguration": "slidingWindow" if sliding else "barleyTwist" if twisted else "default",
        "ipuLinkDomainSize": str(partition.size // len(domains_of(cluster, partition))),
        "ipuLinkTopology": "torus" if partition.ipulink_routing_type == "IRT_RINGSWNC" else "mesh",
    }
