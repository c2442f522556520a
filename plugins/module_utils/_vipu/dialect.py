# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What V-IPU's programs are known to understand and to print, as data: verbs, flags, JSON shapes, names.

Each entry says how it is known: documented by the vendor, seen in public code or output of real installations, or
assumed by the same pattern. ``since`` is the oldest release that is known to have it. :mod:`.probe` compares all of it
with an installed program; :mod:`.spelling` puts it to use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .entities import AGENT, ALLOCATION, CLUSTER, PARTITION, USER

DOCUMENTED, SEEN, ASSUMED = "documented", "seen", "assumed"

ADMIN, USERS = "vipu-admin", "vipu"
BOTH = (ADMIN, USERS)

# Releases from which public text or output has come down to us.
RELEASES = ("1.12.0", "1.14.3", "1.15.1", "1.16.1", "1.17.0", "1.18.0")
OLDEST = RELEASES[0]

# How the value of a flag is written, and how a value of the JSON is read.
TEXT, COMMAS, SWITCH, LOOPED = "text", "commas", "switch", "looped"
COUNT, ENUM, LIST = "count", "enum", "list"


@dataclass(frozen=True)
class Flag:
    """A flag of one command. ``field`` is the entity's field that it carries, empty for a flag that is no field."""

    name: str
    known: str
    field: str = ""
    value: str = TEXT
    since: str = OLDEST


@dataclass(frozen=True)
class Command:
    """``PROGRAM verb entity [id] [flags]``."""

    verb: str
    entity: str
    known: str
    flags: tuple[Flag, ...] = ()
    programs: tuple[str, ...] = (ADMIN,)
    since: str = OLDEST


COMMANDS = (
    Command("create", AGENT, DOCUMENTED, (Flag("--host", DOCUMENTED, "host"), Flag("--port", DOCUMENTED, "port"))),
    Command("list", AGENT, ASSUMED),
    Command("get", AGENT, DOCUMENTED),
    Command("remove", AGENT, ASSUMED),
    Command("discover", AGENT, DOCUMENTED),
    Command(
        "create",
        CLUSTER,
        DOCUMENTED,
        (
            Flag("--agents", SEEN, "agents", COMMAS),
            Flag("--topology", SEEN, "topology"),
            Flag("--num-ipulinkdomains", SEEN, "ipu_link_domains"),
            Flag("--cluster-topology", SEEN, "looped", LOOPED),
        ),
    ),
    Command("list", CLUSTER, SEEN),
    Command("get", CLUSTER, ASSUMED),
    Command("remove", CLUSTER, ASSUMED),
    Command("test", CLUSTER, DOCUMENTED),
    Command(
        "create",
        ALLOCATION,
        SEEN,
        (
            Flag("--size", SEEN, "size", since="1.17.0"),
            Flag("--cluster", ASSUMED, "cluster", since="1.17.0"),
            Flag("--agents", ASSUMED, "agents", COMMAS, since="1.18.0"),
            Flag("--options", SEEN, value=SWITCH, since="1.17.0"),
        ),
        since="1.17.0",
    ),
    Command("list", ALLOCATION, DOCUMENTED, programs=BOTH, since="1.17.0"),
    Command("get", ALLOCATION, SEEN, programs=BOTH, since="1.17.0"),
    Command("remove", ALLOCATION, SEEN, since="1.17.0"),
    Command(
        "create",
        PARTITION,
        DOCUMENTED,
        (
            Flag("--size", DOCUMENTED, "size"),
            Flag("--allocation", DOCUMENTED, "allocation", since="1.17.0"),
            Flag("--cluster", SEEN),
            Flag("--num-gcds", SEEN, "gcds"),
            Flag("--gcd-sync-replicas", SEEN, "replicas"),
            Flag("--routing", SEEN, "routing"),
            Flag("--gw-routing", ASSUMED, "gw_routing"),
            Flag("--sync-type", DOCUMENTED, "sync_type"),
            Flag("--reconfigurable", DOCUMENTED, "reconfigurable", SWITCH),
            Flag("--relocatable", ASSUMED, "relocatable", SWITCH),
            Flag("--disable-auto-reset", ASSUMED, "disable_auto_reset", SWITCH),
            # Only vipu-admin has it.
            Flag("--index", DOCUMENTED, "index"),
        ),
        programs=BOTH,
    ),
    Command("list", PARTITION, DOCUMENTED, (Flag("--allocation", SEEN, since="1.17.0"),), programs=BOTH),
    Command(
        "get",
        PARTITION,
        DOCUMENTED,
        (Flag("--gcd", DOCUMENTED), Flag("--ipuof-configs", DOCUMENTED, value=SWITCH)),
        programs=BOTH,
    ),
    Command("remove", PARTITION, SEEN, (Flag("--force", SEEN, value=SWITCH),), programs=BOTH),
    Command("reset", PARTITION, SEEN, (Flag("--relocatable", ASSUMED, value=SWITCH),), programs=BOTH),
    Command("create", USER, DOCUMENTED, (Flag("--allocations", DOCUMENTED, "allocations", COMMAS),), since="1.17.0"),
    Command("list", USER, ASSUMED, since="1.17.0"),
    Command("get", USER, ASSUMED, since="1.17.0"),
    Command("remove", USER, ASSUMED, since="1.17.0"),
    Command("list", "ipu-attrs", DOCUMENTED, (Flag("--agents", ASSUMED, value=COMMAS),), programs=BOTH),
)

# Flags that stand with any command.
GLOBAL_FLAGS = (
    Flag("--api-host", SEEN),
    Flag("--api-port", ASSUMED),
    Flag("--api-user-id", DOCUMENTED),
    Flag("--api-access-key", DOCUMENTED),
    Flag("--tls-certs", ASSUMED),
    Flag("--config", DOCUMENTED),
    Flag("--showjson", SEEN, value=SWITCH),
    Flag("--version", SEEN, value=SWITCH),
    Flag("--server-version", SEEN, value=SWITCH),
)

# A secret on a command line is everybody's, so credentials go by environment. The pattern of the names is seen.
ENVIRONMENT = {"user_id": "VIPU_CLI_API_USER_ID", "access_key": "VIPU_CLI_API_ACCESS_KEY"}

# The words of flags and of our fields, and the names that the JSON and the published API have for them.
ENUMS = {
    "routing": {
        "dnc": "IRT_DNC",
        "swnc": "IRT_SWNC",
        "btnc": "IRT_BTNC",
        "ringswnc": "IRT_RINGSWNC",
    },
    "gw_routing": {"default": "GRT_UNDEFINED", "ring": "GRT_RING", "swring": "GRT_SWRING"},
    "sync_type": {
        # Assumed: which of the published names the documented word c2-compatible stands for.
        "c2-compatible": "ST_GS2_DEFAULT",
        "pod-native-default": "ST_POD_NATIVE_DEFAULT",
        "pod-native-replicated-pipeline": "ST_POD_NATIVE_REPLICATED_PIPELINE",
    },
    "status": {
        "PENDING": "PS_PENDING",
        "ACTIVE": "PS_ACTIVE",
        "REMOVED": "PS_REMOVED",
        "ERROR": "PS_ERROR",
    },
    "operation": {
        "IDLE": "POS_IDLE",
        "CREATING": "POS_CREATING",
        "REMOVING": "POS_REMOVING",
        "RESETTING": "POS_RESETTING",
        "FAILED": "POS_FAILED",
    },
}


@dataclass(frozen=True)
class Reading:
    """Where the JSON has a field of ours, and how it is read. A ``default`` of None means that it has to be there."""

    field: str
    path: tuple[str, ...]
    value: str = TEXT
    default: Any = None


@dataclass(frozen=True)
class Shape:
    """How one entity of a kind looks in the JSON."""

    known: str
    readings: tuple[Reading, ...]


SHAPES = {
    AGENT: Shape(
        ASSUMED,
        (
            Reading("host", ("spec", "host")),
            Reading("port", ("spec", "port")),
            Reading("status", ("status", "state"), default="unknown"),
            Reading("version", ("status", "virm_version"), default="unknown"),
        ),
    ),
    CLUSTER: Shape(
        ASSUMED,
        (
            Reading("agents", ("spec", "agent_ids"), LIST),
            Reading("topology", ("spec", "topology")),
            Reading("ipu_link_domains", ("spec", "num_ipulink_domains")),
            Reading("looped", ("spec", "cluster_topology"), LOOPED, default=""),
        ),
    ),
    ALLOCATION: Shape(
        SEEN,
        (Reading("cluster", ("spec", "cluster_id")), Reading("agents", ("spec", "agent_ids"), LIST)),
    ),
    PARTITION: Shape(
        SEEN,
        (
            Reading("allocation", ("spec", "allocation_id")),
            Reading("size", ("spec", "ipus"), COUNT),
            Reading("gcds", ("spec", "num_gcds")),
            Reading("replicas", ("spec", "num_replicas")),
            Reading("routing", ("spec", "ipulink_routing_type"), ENUM),
            Reading("gw_routing", ("spec", "gw_routing_type"), ENUM),
            Reading("sync_type", ("spec", "sync_type"), ENUM),
            Reading("reconfigurable", ("spec", "reconfigurable")),
            Reading("status", ("ready_state",), ENUM),
        ),
    ),
    USER: Shape(
        ASSUMED,
        (
            Reading("allocations", ("spec", "allocation_ids"), LIST),
            Reading("admin", ("spec", "admin"), default=False),
        ),
    ),
}

# `get partition`; the published user API has the same message.
PARTITION_STATUS = Shape(
    DOCUMENTED,
    (
        Reading("status", ("ready_state",), ENUM),
        Reading("operation", ("operation_state",), ENUM),
        Reading("errors", ("errors",), LIST),
        Reading("auto_resets", ("auto_reset_retry_count",), default=0),
    ),
)

# Our fields of an agent that announced itself, and the columns of `discover agent`. Documented; its JSON is not.
DISCOVERED = {"name": "Agent Auto-Add ID", "host": "Host", "port": "Port"}

# Our fields of a new partition, and where a CreatePartitionRequest of the published API has them.
REQUIREMENTS = {
    "size": "size",
    "allocation": "allocation_id",
    "gcds": "num_gcds",
    "replicas": "num_replicas",
    "routing": "ipulink_routing_type",
    "gw_routing": "gw_routing_type",
    "sync_type": "sync_type",
    "reconfigurable": "reconfigurable",
}
REQUEST_SWITCHES = ("relocatable", "disable_auto_reset")

# Call metadata that says who asks. Assumed: the real names are not published.
METADATA = {"user_id": "vipu-user-id", "access_key": "vipu-access-key"}

# Names of the files in a directory of client certificates. Assumed: the real names are not published.
TLS_FILES = {"ca": "ca.crt", "certificate": "tls.crt", "key": "tls.key"}

NO_ROOM, EXISTS, UNKNOWN, FAILED = "no room", "exists", "unknown", "failed"


@dataclass(frozen=True)
class Refusal:
    """Words in the programs' errors, and what they mean."""

    words: str
    reason: str
    known: str


REFUSALS = (
    Refusal("no free allocation", NO_ROOM, SEEN),
    Refusal("no free block", NO_ROOM, ASSUMED),
    Refusal("is in allocation", NO_ROOM, ASSUMED),
    Refusal("already exists", EXISTS, ASSUMED),
    Refusal("is unknown", UNKNOWN, SEEN),
    # Of a partition that was made and did not become ACTIVE: it is there.
    Refusal("PS_ERROR", FAILED, ASSUMED),
)
