# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entities as the JSON that `--showjson` prints and the APIs carry: proto field names, nothing left out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from podsim.vipu.entities import Agent, Allocation, Cluster, Partition, State, User
from podsim.vipu.partition_life import MAX_AUTO_RESETS
from podsim.vipu.placement import domains_of


def agent_json(agent: Agent, facts: Mapping[str, Any] | None, up: bool) -> dict[str, Any]:
    """`facts` are the last known ones, None when there are none."""
    about = facts or {}
    port = about.get("exporter_port", 0)
    return {
        "id": agent.id,
        "spec": {"host": agent.host, "port": agent.port},
        "status": {
            "state": "Up" if up else "Down",
            "virm_version": about.get("virm_version", ""),
            "ipuof_server_version": about.get("ipuof_server_version", ""),
            "num_ipus": len(about.get("ipus", ())),
            "board_serial_number": about.get("board_serial_number", ""),
            "exporter": f"http://{agent.host}:{port}/metrics" if port else "",
        },
    }


def cluster_json(cluster: Cluster) -> dict[str, Any]:
    """Agents in ILD-major order."""
    return {
        "id": cluster.id,
        "spec": {
            "agent_ids": list(cluster.agent_ids),
            "topology": cluster.topology,
            "num_ipulink_domains": cluster.num_ipulink_domains,
            "cluster_topology": cluster.cluster_topology,
        },
    }


def allocation_json(allocation: Allocation) -> dict[str, Any]:
    """The published Allocation message."""
    return {
        "id": allocation.id,
        "spec": {"cluster_id": allocation.cluster_id, "agent_ids": list(allocation.agent_ids)},
    }


def partition_json(state: State, partition: Partition, ipuof_server_version: str) -> dict[str, Any]:
    """The published Partition message."""
    cluster = state.clusters[partition.cluster_id]
    return {
        "id": partition.id,
        "spec": {
            "cluster_id": partition.cluster_id,
            "ipus": _ipus_json(cluster, partition),
            "ipulink_routing_type": partition.ipulink_routing_type,
            "sync_type": partition.sync_type,
            "num_gcds": partition.num_gcds,
            "num_ipulink_segments": len(domains_of(cluster, partition)),
            "reconfigurable": partition.reconfigurable,
            "gw_routing_type": partition.gw_routing_type,
            "num_replicas": partition.num_replicas,
            "allocation_id": partition.allocation_id,
        },
        "ready_state": partition.ready_state,
        "ipuof_server_version": ipuof_server_version,
    }


def status_json(partition: Partition) -> dict[str, Any]:
    """The published PartitionStatus message."""
    status = {
        "partition_id": partition.id,
        "ready_state": partition.ready_state,
        "operation_state": partition.operation_state,
        "errors": list(partition.errors),
        "max_auto_reset_retries": MAX_AUTO_RESETS if partition.auto_reset else 0,
        "auto_reset_retry_count": partition.auto_resets,
    }
    if partition.last_auto_reset:
        last = time.gmtime(partition.last_auto_reset)
        status["last_auto_reset_time"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", last)
    return status


def user_json(user: User) -> dict[str, Any]:
    """Without anything of the access key."""
    return {"id": user.id, "spec": {"allocation_ids": list(user.allocation_ids), "admin": user.admin}}


def attributes_json(agent_id: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The published ListIPUAttributesReply.Entry message."""
    ipus = {str(number): {"attributes": attributes} for number, attributes in enumerate(facts["ipus"])}
    return {"agent": agent_id, "ipu_attributes": ipus}


def _ipus_json(cluster: Cluster, partition: Partition) -> list[dict[str, int]]:
    domains = domains_of(cluster, partition)
    per_segment = partition.size // len(domains)
    return [
        {
            "ipulink_domain_topology_id": position // cluster.domain_ipus,
            "ipulink_domain_routing_id": place // per_segment,
            "topology_id": position % cluster.domain_ipus,
            "routing_id": place % per_segment,
        }
        for place, position in enumerate(partition.positions)
    ]


def describe_json(agent: Agent, facts: Mapping[str, Any] | None, up: bool) -> dict[str, Any]:
    """Everything that `get agent` shows: rows in order, and the table of IPUs."""
    about, status = facts or {}, agent_json(agent, facts, up)["status"]
    platform = about.get("platform", {})
    rows = {
        "Agent ID": agent.id,
        "Host": agent.host,
        "Port": str(agent.port),
        "Status": status["state"],
        "Exporter": status["exporter"],
        "Platform": platform.get("Platform", ""),
        "Manufacturer": platform.get("Manufacturer", ""),
        "Discovery Mode": "DM_GCDA",
        "Virm version": status["virm_version"],
        "Runtime version": platform.get("Runtime version", ""),
        "Board serial number": status["board_serial_number"],
        "Part number": platform.get("Part number", ""),
        "GWSW Version": platform.get("GWSW Version", ""),
        "IPUoF server version": status["ipuof_server_version"],
        "HDF Version": platform.get("HDF Version", ""),
        "HDF Hash": platform.get("HDF Hash", ""),
        "Num of IPUs": str(status["num_ipus"]),
    }
    ipus = [
        [
            str(number),
            ipu["pci id"],
            f"{agent.id}.{number}",
            ipu["firmware version"],
            ipu["ipu architecture"],
            ipu["number of tiles"],
        ]
        for number, ipu in enumerate(about.get("ipus", ()))
    ]
    return {"rows": rows, "ipus": ipus}
