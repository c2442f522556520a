# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The published user API of V-IPU as data: proto3 package `virmgrpc`, message by message, number by number."""

from __future__ import annotations

PACKAGE = "virmgrpc"

ENUMS: dict[str, dict[str, int]] = {
    "IpuLinkRoutingType": {"IRT_UNDEFINED": 0, "IRT_DNC": 1, "IRT_SWNC": 2, "IRT_BTNC": 3, "IRT_RINGSWNC": 4},
    "GatewayRoutingType": {"GRT_UNDEFINED": 0, "GRT_RING": 2, "GRT_SWRING": 3},
    "SyncType": {
        "ST_UNDEFINED": 0,
        "ST_GS2_DEFAULT": 1,
        "ST_GS2_INDEPENDENT_RAILS": 2,
        "ST_POD_NATIVE_DEFAULT": 3,
        "ST_POD_NATIVE_REPLICATED_PIPELINE": 4,
    },
    "PartitionReadyState": {"PS_UNDEFINED": 0, "PS_PENDING": 1, "PS_ACTIVE": 2, "PS_REMOVED": 3, "PS_ERROR": 4},
    "PartitionOperationState": {
        "POS_UNDEFINED": 0,
        "POS_IDLE": 1,
        "POS_CREATING": 2,
        "POS_REMOVING": 3,
        "POS_RESETTING": 4,
        "POS_FAILED": 5,
    },
}

MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "PartitionIpu": {
        "ipulink_domain_topology_id": (1, "uint32"),
        "ipulink_domain_routing_id": (2, "uint32"),
        "topology_id": (3, "uint32"),
        "routing_id": (4, "uint32"),
    },
    "PartitionSpec": {
        "cluster_id": (1, "string"),
        "ipus": (2, "repeated PartitionIpu"),
        "ipulink_routing_type": (3, "IpuLinkRoutingType"),
        "sync_type": (4, "SyncType"),
        "num_gcds": (5, "uint32"),
        "num_ipulink_segments": (6, "uint32"),
        "reconfigurable": (7, "bool"),
        "gw_routing_type": (8, "GatewayRoutingType"),
        "num_replicas": (9, "uint32"),
        "allocation_id": (10, "string"),
    },
    "Partition": {
        "id": (1, "string"),
        "spec": (2, "PartitionSpec"),
        "ready_state": (3, "PartitionReadyState"),
        "ipuof_server_version": (4, "string"),
    },
    "ListPartitionsRequest": {"allocation_id": (1, "string")},
    "ListPartitionsReply": {"partitions": (1, "repeated Partition")},
    "PartitionRequirements": {
        "id": (1, "string"),
        "size": (2, "uint32"),
        "cluster_id": (3, "string"),
        "ipulink_routing_type": (4, "IpuLinkRoutingType"),
        "num_ipulink_segments": (5, "uint32"),
        "gw_routing_type": (6, "GatewayRoutingType"),
        "sync_type": (7, "SyncType"),
        "num_gcds": (8, "uint32"),
        "reconfigurable": (9, "bool"),
        "num_replicas": (10, "uint32"),
        "allocation_id": (11, "string"),
        "ipus": (12, "repeated PartitionIpu"),
    },
    "CreatePartitionRequest": {
        "requirements": (2, "PartitionRequirements"),
        "disable_auto_reset": (3, "bool"),
        "relocatable": (5, "bool"),
    },
    "IpuofDevice": {
        "ip": (1, "string"),
        "server_port": (2, "uint32"),
        "rdma_port": (3, "uint32"),
        "device_id": (4, "uint32"),
        "ipulink_segment_id": (5, "uint32"),
        "routing_id": (6, "uint32"),
        "ipu_arch_id": (7, "uint32"),
        "ipu_id": (8, "uint32"),
        "chip_id": (9, "string"),
        "gwsw_version": (10, "string"),
        "ipum_sw_version": (11, "string"),
    },
    "PartitionConfig": {
        "ipulink_routing_type": (2, "IpuLinkRoutingType"),
        "sync_type": (3, "SyncType"),
        "reconfigurable": (5, "bool"),
        "gw_routing_type": (6, "GatewayRoutingType"),
        "num_ipulink_segments": (7, "uint32"),
        "gcd_configs": (8, "repeated PartitionConfig.Gcd"),
        "ipuof_server_version": (9, "string"),
    },
    "PartitionConfig.Gcd": {"devices": (2, "repeated IpuofDevice"), "attributes": (3, "map<string, string>")},
    "CreatePartitionReply": {"partition_id": (1, "string")},
    "ResetPartitionRequest": {"partition_id": (1, "string"), "relocatable": (2, "bool")},
    "ResetPartitionReply": {},
    "RemovePartitionRequest": {"partition_id": (1, "string"), "force": (2, "bool")},
    "RemovePartitionReply": {},
    "GetPartitionIpuofConfigRequest": {
        "partition_id": (1, "string"),
        "gcd_id": (2, "GetPartitionIpuofConfigRequest.GcdID"),
    },
    "GetPartitionIpuofConfigRequest.GcdID": {"id": (1, "uint32")},
    "GetPartitionIpuofConfigReply": {"ipuof_config": (1, "PartitionConfig")},
    "PartitionStatus": {
        "partition_id": (1, "string"),
        "ready_state": (2, "PartitionReadyState"),
        "operation_state": (3, "PartitionOperationState"),
        "errors": (4, "repeated string"),
        "max_auto_reset_retries": (5, "uint32"),
        "auto_reset_retry_count": (6, "uint32"),
        "last_auto_reset_time": (7, "google.protobuf.Timestamp"),
    },
    "GetPartitionStatusRequest": {"partition_id": (1, "string")},
    "GetPartitionStatusReply": {"status": (1, "PartitionStatus")},
    "AllocationSpec": {"cluster_id": (1, "string"), "agent_ids": (2, "repeated string")},
    "Allocation": {"id": (1, "string"), "spec": (2, "AllocationSpec")},
    "ListIPUAttributesRequest": {"agents": (1, "repeated string")},
    "ListIPUAttributesReply": {"entries": (1, "repeated ListIPUAttributesReply.Entry")},
    "ListIPUAttributesReply.Entry": {
        "agent": (1, "string"),
        "ipu_attributes": (2, "map<uint32, ListIPUAttributesReply.Entry.Attributes>"),
    },
    "ListIPUAttributesReply.Entry.Attributes": {"attributes": (1, "map<string, string>")},
    "VersionRequest": {},
    "VersionReply": {"version": (1, "string")},
}

SERVICES: dict[str, tuple[str, ...]] = {
    "UserService": (
        "ListPartitions",
        "ListIPUAttributes",
        "CreatePartition",
        "RemovePartition",
        "ResetPartition",
        "GetPartitionIpuofConfig",
        "GetPartitionStatus",
    ),
    "VersionService": ("GetVersion",),
}
"""Each rpc takes <rpc>Request and gives <rpc>Reply, but for those in UNUSUAL_MESSAGES."""

UNUSUAL_MESSAGES: dict[str, tuple[str, str]] = {"GetVersion": ("VersionRequest", "VersionReply")}
