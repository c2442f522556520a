# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The services that are not published, with JSON payloads of our own, and the call metadata of secure mode."""

from __future__ import annotations

from podsim.vipu.rpc import json_interface

ADMIN = json_interface(
    "podsim.AdminService",
    (
        *("CreateAgent", "GetAgent", "ListAgents", "RemoveAgent", "DescribeAgent", "DiscoverAgents"),
        *("CreateCluster", "GetCluster", "ListClusters", "RemoveCluster", "TestCluster"),
        *("CreateAllocation", "GetAllocation", "ListAllocations", "RemoveAllocation", "ListAllocationOptions"),
        *("CreatePartition", "ListPartitions", "RemovePartition", "ResetPartition"),
        *("GetPartitionIpuofConfig", "GetPartitionStatus", "ListIPUAttributes"),
        *("CreateUser", "GetUser", "ListUsers", "RemoveUser"),
    ),
)
"""Everything that administrators do, on the admin port."""

ALLOCATION_READS = json_interface("podsim.UserService", ("ListAllocations", "GetAllocation"))
"""The calls by which `vipu` shows allocations, on the user port: the published service has none for it."""

AGENT = json_interface("podsim.AgentService", ("GetFacts", "HoldPartitions"))
"""The calls of a controller to its agents."""

USER_ID_KEY = "vipu-user-id"
ACCESS_KEY_KEY = "vipu-access-key"
