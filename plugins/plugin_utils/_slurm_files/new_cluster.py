# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The slurm.conf of a cluster that was not there before. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.paths import HEADER, Paths

from .._templates.render import render
from .blocks import with_ours
from .gres import gres_of

DEFAULTS = {
    "StateSaveLocation": "/var/lib/slurm/slurmctld",
    "SlurmdSpoolDir": "/var/lib/slurm/slurmd",
    "SlurmctldLogFile": "/var/log/slurm/slurmctld.log",
    "SlurmdLogFile": "/var/log/slurm/slurmd.log",
    "ProctrackType": "proctrack/cgroup",
    "TaskPlugin": "task/affinity,task/cgroup",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_Core",
    # RDMA needs what the nodes' daemons may lock in memory, not what a login on another host may.
    "PropagateResourceLimitsExcept": "MEMLOCK",
    # A node that comes back is used again.
    "ReturnToService": "2",
}


def slurm_conf(
    cluster: Mapping[str, Any],
    user: str,
    controllers: Mapping[str, str],
    nodes: Mapping[str, str],
    counts: Mapping[str, Mapping[int, int]],
    features: Mapping[str, Sequence[str]],
    directory: str,
) -> str:
    """The text of the file.

    Args:
        cluster: what the owner chose: ``name``, ``partition``, ``node_parameters`` and ``parameters``.
        user: who Slurm's controller runs as.
        controllers: host name to address, empty where the name is enough.
        nodes: host name to address.
        counts: the static partitions of each node.
        features: by which a node is known to be in a block.
        directory: where the file is to be.
    """
    own, of_nodes = cluster.get("parameters") or {}, cluster.get("node_parameters") or {}
    return render(
        "slurm.conf",
        header=HEADER,
        controllers=controllers,
        parameters={"ClusterName": cluster["name"], "SlurmUser": user, **DEFAULTS, **own},
        nodes=[
            _node(name, address, of_nodes, counts.get(name) or {}, features.get(name) or [])
            for name, address in nodes.items()
        ],
        partition=cluster.get("partition") or "ipu",
        included=Paths(directory).included,
    )


def _node(
    name: str, address: str, parameters: Mapping[str, Any], counts: Mapping[int, int], features: Sequence[str]
) -> dict[str, Any]:
    gres = {"Gres": gres_of(counts)} if counts else {}
    feature = {"Feature": with_ours(parameters.get("Feature", ""), features)} if features else {}
    return {"NodeName": name, "NodeAddr": address, **parameters, **gres, **feature}
