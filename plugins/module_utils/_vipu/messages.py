# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The published user API of V-IPU (gRPC, proto3): what :mod:`.wire` makes messages from.

A field is (number, type, name). A type is a scalar, an enum, a message, ``repeated TYPE`` or ``map KEY VALUE``. A dot
in a message's name puts it inside another one.
"""

from __future__ import annotations

PACKAGE = "virmgrpc"
TIMESTAMP = "google.protobuf.Timestamp"

ENUMS = {
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

MESSAGES: dict[str, tuple[tuple[int, str, str], ...]] = {
    "PartitionIpu": (
        (1, "uint32", "ipulink_domain_topology_id"),
        (2, "uint32", "ipulink_domain_routing_id"),
        (3, "uint32", "topology_id"),
        (4, "uint32", "routing_id"),
    ),
    "PartitionSpec": (
        (1, "string", "cluster_id"),
        (2, "repeated PartitionIpu", "ipus"),
        (3, "IpuLinkRoutingType", "ipulink_routing_type"),
        (4, "SyncType", "sync_type"),
        (5, "uint32", "num_gcds"),
        (6, "uint32", "num_ipulink_segments"),
        (7, "bool", "reconfigurable"),
        (8, "GatewayRoutingType", "gw_routing_type"),
        (9, "uint32", "num_replicas"),
        (10, "string", "allocation_id"),
    ),
    "Partition": (
        (1, "string", "id"),
        (2, "PartitionSpec", "spec"),
        (3, "PartitionReadyState", "ready_state"),
        (4, "string", "ipuof_server_version"),
    ),
    "PartitionRequirements": (
        (1, "string", "id"),
        (2, "uint32", "size"),
        (3, "string", "cluster_id"),
        (4, "IpuLinkRoutingType", "ipulink_routing_type"),
        (5, "uint32", "num_ipulink_segments"),
        (6, "GatewayRoutingType", "gw_routing_type"),
        (7, "SyncType", "sync_type"),
        (8, "uint32", "num_gcds"),
        (9, "bool", "reconfigurable"),
        (10, "uint32", "num_replicas"),
        (11, "string", "allocation_id"),
        (12, "repeated PartitionIpu", "ipus"),
    ),
    "PartitionStatus": (
        (1, "string", "partition_id"),
        (2, "PartitionReadyState", "ready_state"),
        (3, "PartitionOperationState", "operation_state"),
        (4, "repeated string", "errors"),
        (5, "uint32", "max_auto_reset_retries"),
        (6, "uint32", "auto_reset_retry_count"),
        (7, TIMESTAMP, "last_auto_reset_time"),
    ),
    "IpuofDevice": (
        (1, "string", "ip"),
        (2, "uint32", "server_port"),
        (3, "uint32", "rdma_port"),
        (4, "uint32", "device_id"),
        (5, "uint32", "ipulink_segment_id"),
        (6, "uint32", "routing_id"),
        (7, "uint32", "ipu_arch_id"),
        (8, "uint32", "ipu_id"),
        (9, "string", "chip_id"),
        (10, "string", "gwsw_version"),
        (11, "string", "ipum_sw_version"),
    ),
    "PartitionConfig": (
        (2, "IpuLinkRoutingType", "ipulink_routing_type"),
        (3, "SyncType", "sync_type"),
        (5, "bool", "reconfigurable"),
        (6, "GatewayRoutingType", "gw_routing_type"),
        (7, "uint32", "num_ipulink_segments"),
        (8, "repeated PartitionConfig.Gcd", "gcd_configs"),
        (9, "string", "ipuof_server_version"),
    ),
    "PartitionConfig.Gcd": ((2, "repeated IpuofDevice", "devices"), (3, "map string string", "attributes")),
    "ListPartitionsRequest": ((1, "string", "allocation_id"),),
    "ListPartitionsReply": ((1, "repeated Partition", "partitions"),),
    "ListIPUAttributesRequest": ((1, "repeated string", "agents"),),
    "ListIPUAttributesReply": ((1, "repeated ListIPUAttributesReply.Entry", "entries"),),
    "ListIPUAttributesReply.Entry": (
        (1, "string", "agent"),
        (2, "map uint32 ListIPUAttributesReply.Entry.Attributes", "ipu_attributes"),
    ),
    "ListIPUAttributesReply.Entry.Attributes": ((1, "map string string", "attributes"),),
    "CreatePartitionRequest": (
        (2, "PartitionRequirements", "requirements"),
        (3, "bool", "disable_auto_reset"),
        (5, "bool", "relocatable"),
    ),
    "CreatePartitionReply": ((1, "string", "partition_id"),),
    "RemovePartitionRequest": ((1, "string", "partition_id"), (2, "bool", "force")),
    "RemovePartitionReply": (),
    "ResetPartitionRequest": ((1, "string", "partition_id"), (2, "bool", "relocatable")),
    "ResetPartitionReply": (),
    "GetPartitionIpuofConfigRequest": (
        (1, "string", "partition_id"),
        (2, "GetPartitionIpuofConfigRequest.GcdID", "gcd_id"),
    ),
    "GetPartitionIpuofConfigRequest.GcdID": ((1, "uint32", "id"),),
    "GetPartitionIpuofConfigReply": ((1, "PartitionConfig", "ipuof_config"),),
    "GetPartitionStatusRequest": ((1, "string", "partition_id"),),
    "GetPartitionStatusReply": ((1, "PartitionStatus", "status"),),
    "VersionRequest": (),
    "VersionReply": ((1, "string", "version"),),
}

# Call to its service, request and reply.
CALLS = {
    **{
        call: ("UserService", f"{call}Request", f"{call}Reply")
        for call in (
            "ListPartitions",
            "ListIPUAttributes",
            "CreatePartition",
            "RemovePartition",
            "ResetPartition",
            "GetPartitionIpuofConfig",
            "GetPartitionStatus",
        )
    },
    "GetVersion": ("VersionService", "VersionRequest", "VersionReply"),
}
