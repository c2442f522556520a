# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Static partitions as Slurm counts them: so many of each size on each node. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.paths import HEADER

from .._templates.render import render

NAME = "vipu"


def counts_of(settings: Mapping[str, Any]) -> dict[str, dict[int, int]]:
    """Node to the partitions that it may use: how many of each size.

    Raises:
        Refused: a partition does not say which node uses it, or its size does not say on how many nodes it is.
    """
    counts: dict[str, dict[int, int]] = {}
    spans: dict[int, int] = {}
    for partition in settings["partitions"]:
        place, nodes = f"vpods.{settings['vpod']}.partitions.{partition['name']}", partition["nodes"]
        if len(nodes) not in (1, partition["gcds"]):
            raise Refused(
                f"{place}: {len(nodes)} Poplar servers may use it, but with slurm_way static it belongs to one, or to "
                "one for each GCD; name them in its poplar_servers"
            )
        span, ipus = len(set(nodes)), partition["ipus"]
        if spans.setdefault(ipus, span) != span:
            raise Refused(f"{place}: partitions of {ipus} IPUs are on {spans[ipus]} nodes, and this on {span}; use one")
        for node in dict.fromkeys(nodes):
            counts.setdefault(node, {}).setdefault(ipus, 0)
            counts[node][ipus] += 1
    return counts


def gres_of(counts: Mapping[int, int]) -> str:
    """Return the Gres of a node's line in slurm.conf."""
    return ",".join(f"{NAME}:{ipus}:{count}" for ipus, count in sorted(counts.items()))


def gres_conf(counts: Mapping[str, Mapping[int, int]]) -> str:
    """The text that gres.conf includes; there is no device file, so that Slurm only counts."""
    return render("slurm_gres.conf", header=HEADER, name=NAME, counts=counts)


def lacks(listed: str, wanted: Mapping[int, int]) -> bool:
    """Whether a node's Gres says something else of the partitions than it has to."""
    ours = [part for part in listed.split(",") if part.partition(":")[0] == NAME]
    return sorted(ours) != sorted(gres_of(wanted).split(",") if wanted else [])
