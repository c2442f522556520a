# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an installation's ``vipu-admin`` understands and prints: flags and JSON shapes, as data.

Seen in public (V-IPU 1.18): ``create agent``, ``create cluster``, ``create allocation --size``, ``create partition``,
``list partitions`` and ``list allocations`` with their JSON. Assumed by the same pattern: the JSON of agents and
clusters, and ``create allocation --cluster``.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping

from .._plan.steps import Fields
from .._pod.sizes import IPUS_PER_MACHINE
from .entities import AGENT, ALLOCATION, CLUSTER, PARTITION


def _comma(values: Any) -> str:
    return ",".join(values)


def _looped(value: Any) -> str:
    return "looped" if value else ""


# Field of ours, flag of vipu-admin, how the value is written. A value that is written empty is not sent.
CREATE_FLAGS: dict[str, tuple[tuple[str, str, Callable[[Any], str]], ...]] = {
    AGENT: (("host", "--host", str), ("port", "--port", str)),
    CLUSTER: (
        ("agents", "--agents", _comma),
        ("topology", "--topology", str),
        ("ipu_link_domains", "--num-ipulinkdomains", str),
        ("looped", "--cluster-topology", _looped),
    ),
    ALLOCATION: (("size", "--size", str), ("cluster", "--cluster", str)),
    PARTITION: (
        ("size", "--size", str),
        ("allocation", "--allocation", str),
        ("gcds", "--num-gcds", str),
        ("replicas", "--gcd-sync-replicas", str),
    ),
}
PARTITION_SWITCHES = (("reconfigurable", "--reconfigurable"),)


def create_arguments(kind: str, name: str, fields: Fields) -> list[str]:
    """The words after ``vipu-admin`` that create an entity."""
    words = ["create", kind, name]
    for field, flag, written in CREATE_FLAGS[kind]:
        value = "" if fields.get(field) is None else written(fields[field])
        if value:
            words += [flag, value]
    if kind == PARTITION:
        words += [flag for field, flag in PARTITION_SWITCHES if fields.get(field)]
    return words


def read_entity(kind: str, entity: Mapping[str, Any]) -> tuple[str, Fields]:
    """Name and fields of one entity in the controller's JSON.

    Raises:
        KeyError: the JSON is not of the known shape.
    """
    return entity["id"], READERS[kind](entity, entity["spec"])


def _agent(entity: Mapping[str, Any], spec: Mapping[str, Any]) -> Fields:
    return {"host": spec["host"], "port": spec["port"], "status": entity.get("status", {}).get("state", "unknown")}


def _cluster(_entity: Mapping[str, Any], spec: Mapping[str, Any]) -> Fields:
    return {
        "agents": list(spec["agent_ids"]),
        "topology": spec["topology"],
        "ipu_link_domains": spec["num_ipulink_domains"],
        "looped": spec.get("cluster_topology") == "looped",
    }


def _allocation(_entity: Mapping[str, Any], spec: Mapping[str, Any]) -> Fields:
    agents = list(spec["agent_ids"])
    return {"cluster": spec["cluster_id"], "agents": agents, "size": len(agents) * IPUS_PER_MACHINE}


def _partition(entity: Mapping[str, Any], spec: Mapping[str, Any]) -> Fields:
    state = entity["ready_state"]
    return {
        "allocation": spec["allocation_id"],
        "size": len(spec["ipus"]),
        "gcds": spec["num_gcds"],
        "replicas": spec["num_replicas"],
        "reconfigurable": spec["reconfigurable"],
        "status": state[len("PS_") :] if state.startswith("PS_") else state,
    }


READERS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Fields]] = {
    AGENT: _agent,
    CLUSTER: _cluster,
    ALLOCATION: _allocation,
    PARTITION: _partition,
}
