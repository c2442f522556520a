# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of job_submit.lua and cli_filter.lua, as a Lua table. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import DYNAMIC, MAPPING, STATIC, Settings
from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import (
    IPUS_PER_MACHINE,
    is_partition_size,
    partition_findings,
    replica_findings,
)

from .blocks import constraints_of, node_blocks

HEADER = "-- Written by the role slurm of the Ansible collection ipu.pod; changes here are lost."
INDENT = "   "


def lua_of(settings: Settings) -> str:
    """The file.

    Raises:
        Refused: users could not say what they mean, since nodes or partitions of one kind differ.
    """
    table = {
        "way": settings.way,
        "ipus": settings.ipus,
        "slurm_partitions": list(settings.slurm_partitions),
        "gres_types": list(settings.gres_types),
        **_of_way(settings),
    }
    return f"{HEADER}\nreturn {_lua(table)}\n"


def shapes(most: int) -> Iterator[str]:
    """Each ``IPUS/GCDS`` that a partition of at most so many IPUs can have, and ``IPUS/GCDS/REPLICAS`` if asked for."""
    for ipus in filter(is_partition_size, range(1, most + 1)):
        divisors = [number for number in range(1, ipus + 1) if ipus % number == 0]
        for gcds in divisors:
            if any(partition_findings(ipus, gcds, None, False)):
                continue
            yield f"{ipus}/{gcds}"
            for replicas in divisors:
                if not any(replica_findings(ipus, gcds, replicas)):
                    yield f"{ipus}/{gcds}/{replicas}"


def _of_way(settings: Settings) -> dict[str, Any]:
    if settings.way == DYNAMIC:
        return {"shapes": dict.fromkeys(shapes(settings.ipus), True)}
    if settings.way == MAPPING:
        nodes = len(settings.mapping)
        per_node = _ipus_of_each_node(settings)
        blocks = constraints_of(node_blocks(settings.mapping, list(settings.ipu_machines.values())), nodes)
        return {
            "per_node": per_node,
            "blocks": {str(count): features for count, features in blocks.items()},
            "shapes": dict.fromkeys(shapes(per_node * nodes), True),
        }
    if settings.way == STATIC:
        return {"sizes": _sizes(settings)}
    return {"default_ipus": settings.default_ipus}


def _ipus_of_each_node(settings: Settings) -> int:
    counts = {len(machines) for machines in settings.mapping.values()}
    if len(counts) != 1:
        numbers = ", ".join(f"{node} {len(machines)}" for node, machines in settings.mapping.items())
        raise Refused(f"slurm_mapping: nodes have different numbers of IPU-Machines ({numbers}); give each as many")
    return counts.pop() * IPUS_PER_MACHINE


def _sizes(settings: Settings) -> dict[str, Mapping[str, int]]:
    """Of each size of partition, which is its type of GRES: over how many nodes one is."""
    sizes: dict[str, Mapping[str, int]] = {}
    for partition in settings.partitions:
        nodes = len(set(partition.nodes))
        if sizes.setdefault(str(partition.ipus), {"nodes": nodes})["nodes"] != nodes:
            raise Refused(
                f"partition {partition.name}: it has {nodes} nodes, another one of {partition.ipus} IPUs has "
                f"{sizes[str(partition.ipus)]['nodes']}; give all partitions of one size as many"
            )
    return sizes


def _lua(value: Any, indent: str = "") -> str:
    """A value in Lua's notation, which is JSON's for text without control characters, numbers and truth."""
    deeper = indent + INDENT
    if isinstance(value, dict):
        items = [f"[{json.dumps(key)}] = {_lua(item, deeper)}" for key, item in value.items()]
    elif isinstance(value, list):
        items = [_lua(item, deeper) for item in value]
    else:
        return json.dumps(value, ensure_ascii=False)
    return "{\n" + "".join(f"{deeper}{item},\n" for item in items) + indent + "}" if items else "{}"
