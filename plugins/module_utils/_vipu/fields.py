# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All fields of V-IPU's entities: the one table behind options, documentation, commands, messages and comparison. Pure.

A new field is one entry here, and one in :mod:`.messages` if the published user API has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from .._plan.steps import Fields
from .entities import AGENT, ALLOCATION, CLUSTER, PARTITION, USER

# How something is known: documented by the vendor, seen in public code or output, or assumed by the same pattern.
DOCUMENTED, SEEN, ASSUMED = "documented", "seen", "assumed"

# Releases from which public text or output has come down to us.
RELEASES = ("1.12.0", "1.14.3", "1.15.1", "1.16.1", "1.17.0", "1.18.0")
OLDEST = RELEASES[0]

# The type of a field: how it is declared, written in a command and shown in JSON.
TEXT, NUMBER, SWITCH, NAMES = "text", "number", "switch", "names"
# A number of which the JSON has a list of so many things, or of the IPU-Machines with so many IPUs.
COUNT, MACHINES = "count", "machines"
# Declared as a switch; commands and JSON have the word "looped".
LOOPED = "looped"

C2_COMPATIBLE = "c2-compatible"

# The words of options and flags, and the names that the JSON and the published API have for them.
ENUMS = {
    "routing": {"dnc": "IRT_DNC", "swnc": "IRT_SWNC", "btnc": "IRT_BTNC", "ringswnc": "IRT_RINGSWNC"},
    # "default": none in particular.
    "gw_routing": {"default": "GRT_UNDEFINED", "ring": "GRT_RING", "swring": "GRT_SWRING"},
    "sync_type": {
        # Assumed: which of the published names this documented word stands for.
        C2_COMPATIBLE: "ST_GS2_DEFAULT",
        "pod-native-default": "ST_POD_NATIVE_DEFAULT",
        "pod-native-replicated-pipeline": "ST_POD_NATIVE_REPLICATED_PIPELINE",
    },
    "status": {"PENDING": "PS_PENDING", "ACTIVE": "PS_ACTIVE", "REMOVED": "PS_REMOVED", "ERROR": "PS_ERROR"},
    "operation": {
        "IDLE": "POS_IDLE",
        "CREATING": "POS_CREATING",
        "REMOVING": "POS_REMOVING",
        "RESETTING": "POS_RESETTING",
        "FAILED": "POS_FAILED",
    },
}
ROUTINGS, GW_ROUTINGS, SYNC_TYPES = (tuple(ENUMS[field]) for field in ("routing", "gw_routing", "sync_type"))


@dataclass(frozen=True)
class Flag:
    """A flag of a command, how it is known, and the oldest release that is known to have it."""

    name: str
    known: str
    since: str = OLDEST


@dataclass(frozen=True)
class Field:
    """One field of a kind of entity.

    Args:
        name: its name in options, results and messages to people.
        type: one of the types above.
        doc: the documentation of the option; empty for a field that cannot be declared.
        needed: an entity that is declared present has to say it.
        default: the option's default.
        words: the words that it can have, and their names in JSON and API. An unknown name is shown as it is.
        flag: the flag of ``create`` that carries it.
        shown: its place in the JSON of ``list``, ``a.b``; empty where it is not shown, so that it cannot be compared.
        missing: the value where the JSON has no such place; None means that it has to be there.
        request: its place in a CreatePartitionRequest of the published API, ``a.b``.
        refers: the kind of entity that it names.
        ordered: whether the order of a list matters.
    """

    name: str
    type: str = TEXT
    doc: str = ""
    needed: bool = False
    default: Any = None
    words: Mapping[str, str] | None = None
    flag: Flag | None = None
    shown: str = ""
    missing: Any = None
    request: str = ""
    refers: str = ""
    ordered: bool = True

    @property
    def creation_only(self) -> bool:
        """True if the controller takes it at creation and never shows it again, so that it is not compared."""
        return bool(self.doc) and not self.shown

    @property
    def computed(self) -> bool:
        """True if the controller decides it where nothing is declared: known after apply."""
        return not self.creation_only and not self.needed and self.default is None


# The documentation of each list of entities.
ABOUT = {
    AGENT: "V-IPU agents, one per IPU-Machine.",
    CLUSTER: "Clusters of agents.",
    ALLOCATION: "Allocations of whole IPU-Machines.",
    USER: (
        "Users of the controller. Their access keys are shown at creation only, so a user is created only where "
        "O(key_directory) or O(return_keys) says where the key goes. Removing a user ends the key."
    ),
    PARTITION: (
        "Partitions inside allocations. One that exists has to become C(ACTIVE) within O(wait_timeout), otherwise the "
        "module fails with the controller's errors."
    ),
}

# The order is that of flags in commands. The JSON is assumed but for allocations and partitions, which have been seen.
FIELDS: dict[str, tuple[Field, ...]] = {
    AGENT: (
        Field(
            "host",
            doc="Management address or name of the IPU-Machine's gateway.",
            needed=True,
            flag=Flag("--host", DOCUMENTED),
            shown="spec.host",
        ),
        Field(
            "port", NUMBER, "TCP port of the agent.", default=8080, flag=Flag("--port", DOCUMENTED), shown="spec.port"
        ),
        Field("status", shown="status.state", missing="unknown"),
        Field("version", shown="status.virm_version", missing="unknown"),
    ),
    CLUSTER: (
        Field(
            "agents",
            NAMES,
            "Its agents in ILD-major order.",
            needed=True,
            flag=Flag("--agents", SEEN),
            shown="spec.agent_ids",
            refers=AGENT,
        ),
        Field(
            "topology",
            doc="Topology of the IPU-Links. Without it the controller chooses.",
            words={"mesh": "mesh", "torus": "torus"},
            flag=Flag("--topology", SEEN),
            shown="spec.topology",
        ),
        Field(
            "ipu_link_domains",
            NUMBER,
            "Number of IPU-Link domains, in other words racks. Each has at most 16 agents.",
            default=1,
            flag=Flag("--num-ipulinkdomains", SEEN),
            shown="spec.num_ipulink_domains",
        ),
        Field(
            "looped",
            LOOPED,
            "Whether the GW-Links between the IPU-Link domains form a loop.",
            flag=Flag("--cluster-topology", SEEN),
            shown="spec.cluster_topology",
            missing="",
        ),
    ),
    ALLOCATION: (
        Field(
            "size",
            MACHINES,
            "Number of IPUs, 4, 8, 16, 32, 64 or a multiple of 64.",
            needed=True,
            flag=Flag("--size", SEEN, since="1.17.0"),
            shown="spec.agent_ids",
        ),
        Field(
            "cluster",
            doc="Cluster that it takes its IPU-Machines from.",
            needed=True,
            flag=Flag("--cluster", ASSUMED, since="1.17.0"),
            shown="spec.cluster_id",
            refers=CLUSTER,
        ),
        Field(
            "agents",
            NAMES,
            "The agents that it is expected to have, in any order. Where the installed release can, the allocation is "
            "made of them. Otherwise the controller picks them by size, and if it picked others, that is reported as a "
            "failure.",
            flag=Flag("--agents", ASSUMED, since="1.18.0"),
            shown="spec.agent_ids",
            refers=AGENT,
            ordered=False,
        ),
    ),
    USER: (
        Field(
            "allocations",
            NAMES,
            "The allocations that the user may use, in any order.",
            default=[],
            flag=Flag("--allocations", DOCUMENTED),
            shown="spec.allocation_ids",
            refers=ALLOCATION,
            ordered=False,
        ),
        Field("admin", SWITCH, shown="spec.admin", missing=False),
    ),
    PARTITION: (
        Field(
            "size",
            COUNT,
            "Number of IPUs, 1, 2, 4, 8, 16, 32, 64 or a multiple of 64.",
            needed=True,
            flag=Flag("--size", DOCUMENTED),
            shown="spec.ipus",
            request="requirements.size",
        ),
        Field(
            "allocation",
            doc="Allocation that it lies in.",
            needed=True,
            flag=Flag("--allocation", DOCUMENTED, since="1.17.0"),
            shown="spec.allocation_id",
            request="requirements.allocation_id",
            refers=ALLOCATION,
        ),
        Field(
            "gcds",
            NUMBER,
            "Number of graph compile domains (GCDs). Without it the controller makes one. Each has 1, 2, 4, 8, 16, 32 "
            "or 64 IPUs and lies in one IPU-Link domain.",
            flag=Flag("--num-gcds", SEEN),
            shown="spec.num_gcds",
            request="requirements.num_gcds",
        ),
        Field(
            "replicas",
            NUMBER,
            "Number of replicas over all GCDs, with 1, 2 or 4 IPUs each. Without it the controller makes one per GCD, "
            "of any size.",
            flag=Flag("--gcd-sync-replicas", SEEN),
            shown="spec.num_replicas",
            request="requirements.num_replicas",
        ),
        Field(
            "routing",
            doc="Routing on the IPU-Links. Without it the controller chooses by size and topology.",
            words=ENUMS["routing"],
            flag=Flag("--routing", SEEN),
            shown="spec.ipulink_routing_type",
            request="requirements.ipulink_routing_type",
        ),
        Field(
            "gw_routing",
            doc="Routing on the GW-Links. Without it the controller chooses. V(default) expects that it chose none in "
            "particular.",
            words=ENUMS["gw_routing"],
            flag=Flag("--gw-routing", ASSUMED),
            shown="spec.gw_routing_type",
            request="requirements.gw_routing_type",
        ),
        Field(
            "sync_type",
            doc="How the IPUs synchronise. Without it the controller chooses.",
            words=ENUMS["sync_type"],
            flag=Flag("--sync-type", DOCUMENTED),
            shown="spec.sync_type",
            request="requirements.sync_type",
        ),
        Field(
            "reconfigurable",
            SWITCH,
            "Whether several applications may share it. At most 64 IPUs and one GCD, and the sync type is "
            "V(c2-compatible).",
            default=False,
            flag=Flag("--reconfigurable", DOCUMENTED),
            shown="spec.reconfigurable",
            request="requirements.reconfigurable",
        ),
        Field(
            "relocatable",
            SWITCH,
            "Whether the controller may move it to other IPUs on errors.",
            flag=Flag("--relocatable", ASSUMED),
            request="relocatable",
        ),
        Field(
            "disable_auto_reset",
            SWITCH,
            "Whether the controller leaves it alone after errors.",
            flag=Flag("--disable-auto-reset", ASSUMED),
            request="disable_auto_reset",
        ),
        Field(
            "index",
            NUMBER,
            "Which of the places of its size it takes, counted from 0.",
            # Only vipu-admin has it.
            flag=Flag("--index", DOCUMENTED),
        ),
        Field("status", words=ENUMS["status"], shown="ready_state"),
        # Of a partition in ERROR; `get partition` shows them.
        Field("errors", NAMES),
    ),
}

COMPUTED = {kind: tuple(field.name for field in fields if field.computed) for kind, fields in FIELDS.items()}
CREATION_ONLY = {kind: tuple(field.name for field in fields if field.creation_only) for kind, fields in FIELDS.items()}


def create_flags(kind: str) -> tuple[Flag, ...]:
    """The flags of ``create`` that carry a field."""
    return tuple(field.flag for field in FIELDS[kind] if field.flag)


def referred(kind: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Field, kind and name of everything that an entity refers to."""
    for field in FIELDS[kind]:
        if field.refers:
            value = fields.get(field.name) or []
            for name in value if isinstance(value, list) else [str(value)]:
                yield field.name, field.refers, name


def in_same_order(kind: str, there: Fields, wanted: Fields) -> Fields:
    """The wanted fields, with lists whose order does not matter in the order that they have there."""
    found = dict(wanted)
    for field in FIELDS[kind]:
        declared, held = wanted.get(field.name), there.get(field.name)
        if not field.ordered and declared is not None and held is not None and sorted(declared) == sorted(held):
            found[field.name] = held
    return found
