# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""slurm.conf of a new cluster, what slurm.conf and gres.conf include, and the Gres of nodes' lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.paths import HEADER, PROGRAM, Paths
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import (
    DYNAMIC,
    MAPPING,
    RECONFIGURABLE,
    STATIC,
)

from .._templates.render import render
from .blocks import with_ours

GRES = "vipu"
LICENCE = "ipu"
# Slurm's names of the hooks to those of the settings.
HOOKS = {
    "PrologSlurmctld": "prolog_slurmctld",
    "EpilogSlurmctld": "epilog_slurmctld",
    "Prolog": "prolog_slurmd",
    "Epilog": "epilog_slurmd",
}
# With this code a job that met a partition in use by somebody else goes back into the queue.
REQUEUE_EXIT = "75"
# Of a new cluster.
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
    """The slurm.conf of a new cluster, which is to be in ``directory``.

    Args:
        cluster: what the owner chose: ``name``, ``partition``, ``node_parameters`` and ``parameters``.
        user: who Slurm's controller runs as.
        controllers: host name to address, empty where the name is enough; so are ``nodes``.
        counts: the static partitions of each node.
        features: by which a node is known to be in a block.
    """
    own, of_nodes = cluster.get("parameters") or {}, cluster.get("node_parameters") or {}
    return render(
        "slurm.conf",
        header=HEADER,
        controllers=controllers,
        parameters={"ClusterName": cluster["name"], "SlurmUser": user, **DEFAULTS, **own},
        nodes=[_node(name, address, of_nodes, counts.get(name), features.get(name)) for name, address in nodes.items()],
        partition=cluster.get("partition") or "ipu",
        included=Paths(directory).included,
    )


def _node(
    name: str,
    address: str,
    parameters: Mapping[str, Any],
    counts: Mapping[int, int] | None,
    features: Sequence[str] | None,
) -> dict[str, Any]:
    gres = {"Gres": gres_of(counts)} if counts else {}
    feature = {"Feature": with_ours(parameters.get("Feature", ""), features)} if features else {}
    return {"NodeName": name, "NodeAddr": address, **parameters, **gres, **feature}


def included_conf(settings: Mapping[str, Any], values: Mapping[str, str], cred_expire: int | None) -> str:
    """The text that slurm.conf includes; ``values`` are what the site's own slurm.conf says.

    A job whose prolog failed may start again after ``cred_expire`` seconds; None is the site's choice.
    """
    added = {
        **dict.fromkeys(HOOKS, PROGRAM),
        "PrologFlags": _merged(values, "PrologFlags", "Alloc"),
        "JobSubmitPlugins": _merged(values, "JobSubmitPlugins", "lua"),
        "SchedulerParameters": _merged(values, "SchedulerParameters", "nohold_on_prolog_fail"),
    }
    has_models = settings["way"] == DYNAMIC and settings["gres_types"]
    if settings["way"] == STATIC or has_models:
        added["GresTypes"] = _merged(values, "GresTypes", GRES)
    if has_models:
        # No node has one: the models are only words that users say, and cli_filter.lua takes them out again.
        added["CliFilterPlugins"] = _merged(values, "CliFilterPlugins", "lua")
    if settings["way"] in (DYNAMIC, RECONFIGURABLE, MAPPING):
        added["Licenses"] = _merged(values, "Licenses", f"{LICENCE}:{settings['ipus']}")
    if settings["way"] == RECONFIGURABLE:
        added["RequeueExit"] = _merged(values, "RequeueExit", REQUEUE_EXIT)
    if cred_expire:
        others = [part for part in _listed(values, "AuthInfo") if part.partition("=")[0] != "cred_expire"]
        added["AuthInfo"] = ",".join([*others, f"cred_expire={cred_expire}"])
    return render("slurm_included.conf", header=HEADER, parameters=added)


def chained(values: Mapping[str, str]) -> dict[str, str]:
    """The site's own hooks, which ours run first, by the names of the settings."""
    return {name: values[key] for key, name in HOOKS.items() if values.get(key) not in (None, "", PROGRAM)}


def has_licence(values: Mapping[str, str]) -> bool:
    """Whether the site itself counts a licence of the name that is ours."""
    return any(re.split("[:@]", part)[0] == LICENCE for part in re.split("[,;]", values.get("Licenses", "")))


def _merged(values: Mapping[str, str], key: str, ours: str) -> str:
    """The site's list with ours at its end, unless it is there."""
    theirs = _listed(values, key)
    return ",".join([*theirs, *([] if ours.lower() in map(str.lower, theirs) else [ours])])


def _listed(values: Mapping[str, str], key: str) -> list[str]:
    return [part for part in values.get(key, "").split(",") if part]


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
    return ",".join(f"{GRES}:{ipus}:{count}" for ipus, count in sorted(counts.items()))


def gres_conf(counts: Mapping[str, Mapping[int, int]]) -> str:
    """The text that gres.conf includes; there is no device file, so that Slurm only counts."""
    return render("slurm_gres.conf", header=HEADER, name=GRES, counts=counts)


def lacks(listed: str, wanted: Mapping[int, int]) -> bool:
    """Whether a node's Gres says something else of the partitions than it has to."""
    ours = [part for part in listed.split(",") if part.partition(":")[0] == GRES]
    return sorted(ours) != sorted(gres_of(wanted).split(",") if wanted else [])
