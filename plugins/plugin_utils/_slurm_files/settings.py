# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Slurm settings of a vPOD, from pods.yml and the role's variables. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.paths import (
    NODE_CERTIFICATES,
    NODE_VIPU_CONFIG,
    RUN,
    STATE,
    VIPU_CONFIG,
)
from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import (
    DYNAMIC,
    ENVIRONMENT,
    FILE,
    HAND_OVERS,
    MAPPING,
    RECONFIGURABLE,
    STATIC,
    WAYS,
)

from .._desired.controllers import user_end_point
from .._pod.devices import cluster_agents, devices_of
from .._pod.model import Declaration, Partition, Vpod

Settings = dict[str, Any]
# What a partition of pods.yml may say beside its size and who uses it.
OPTIONS = ("reconfigurable", "routing", "gw_routing", "sync_type", "relocatable", "disable_auto_reset")


def slurm_settings(declaration: Declaration, choice: Mapping[str, Any]) -> Settings:
    """The settings of the hooks, without what they are chained to.

    Args:
        declaration: the checked pods.yml.
        choice: what the owner chose, by the names of the role's variables without ``slurm_``; empty for its default.

    Raises:
        Refused: pods.yml and the choice do not go together.
    """
    vpod, way = _vpod(declaration, choice["vpod"]), choice["way"]
    if way not in WAYS:
        raise Refused(f"slurm_way is {way!r}; use one of {', '.join(WAYS)}")
    if choice["cluster"] and not choice["cluster"].get("name"):
        raise Refused("slurm_cluster has no name; say what the new cluster is called")
    _check_vpod(vpod, way)
    is_secure, devices = declaration.controller_of(vpod).is_secure, devices_of(declaration)
    point = user_end_point(declaration, vpod, devices)
    partitions = [_partition(vpod, partition) for partition in vpod.partitions]
    ipus = partitions[0]["ipus"] if way == RECONFIGURABLE else vpod.ipus
    return {
        "way": way,
        "vpod": vpod.name,
        "ipus": ipus,
        "cluster": vpod.name if vpod.is_dedicated else vpod.cluster,
        "allocation": "" if way == MAPPING else vpod.name,
        **{key: point[key] for key in ("api_host", "api_port", "admin_port")},
        "secure": is_secure,
        "vipu_config": VIPU_CONFIG if is_secure else "",
        "node_vipu_config": NODE_VIPU_CONFIG if is_secure else "",
        "node_certificates": NODE_CERTIFICATES if is_secure else "",
        "hand_over": _hand_over(choice["hand_over"], is_secure),
        "slurm_partitions": list(choice["ipu_partitions"]),
        "gres_types": list(choice["gres_types"]) or _models(declaration, vpod),
        "default_ipus": _default_ipus(choice["default_ipus"], ipus),
        "mapping": _mapping(vpod, choice["mapping"]) if way == MAPPING else {},
        # There are no others who may see what a job has.
        "job_users": is_secure and way == MAPPING,
        "partitions": partitions,
        "chained": {},
        "state": STATE,
        "run": RUN,
        "ipu_machines": {
            str(devices[name].facts["rnic_address"]): name for name in cluster_agents(declaration, vpod.cluster)
        },
    }


def _vpod(declaration: Declaration, name: str) -> Vpod:
    if name not in declaration.vpods:
        declared = ", ".join(declaration.vpods) or "none"
        raise Refused(f"slurm_vpod is {name!r}, and pods.yml declares no such vPOD; it declares {declared}")
    return declaration.vpods[name]


def _check_vpod(vpod: Vpod, way: str) -> None:
    """Whether pods.yml declares what a way needs."""
    place = f"vpods.{vpod.name}"
    if vpod.is_for_jobs != (way == MAPPING):
        wanted = "allocation: jobs" if way == MAPPING else "allocation: own"
        raise Refused(f"{place} has allocation: {vpod.allocation}, but slurm_way {way} needs {wanted}")
    if way == DYNAMIC and vpod.partitions:
        raise Refused(f"{place}.partitions: with slurm_way dynamic jobs make all partitions; leave them out")
    if way == STATIC and not vpod.partitions:
        raise Refused(f"{place}.partitions: with slurm_way static jobs use those that are declared; declare some")
    if way == RECONFIGURABLE and [partition.reconfigurable for partition in vpod.partitions] != [True]:
        raise Refused(f"{place}.partitions: slurm_way reconfigurable needs one partition, with reconfigurable: true")
    if not vpod.poplar_servers:
        raise Refused(f"{place}.poplar_servers is empty, but they are Slurm's nodes; name some")


def _partition(vpod: Vpod, partition: Partition) -> Settings:
    gcds = partition.gcds or 1
    options = {name: getattr(partition, name) for name in OPTIONS}
    return {
        "name": partition.name,
        "ipus": partition.ipus,
        "gcds": gcds,
        "replicas": partition.replicas or gcds,
        "nodes": list(partition.poplar_servers or vpod.poplar_servers),
        "options": {name: value for name, value in options.items() if value not in (None, False)},
    }


def _hand_over(chosen: str, is_secure: bool) -> str:
    if chosen not in ("", *HAND_OVERS):
        raise Refused(f"slurm_hand_over is {chosen!r}; use one of {', '.join(HAND_OVERS)}")
    if chosen == ENVIRONMENT and is_secure:
        raise Refused("slurm_hand_over is environment, but the V-IPU controller is secure; use file")
    return chosen or (FILE if is_secure else ENVIRONMENT)


def _models(declaration: Declaration, vpod: Vpod) -> list[str]:
    """The models of the vPOD's pods, by their size alone, such as pod64."""
    models = (declaration.pods[pod].model.name for pod in declaration.clusters[vpod.cluster].pods)
    return list(dict.fromkeys(model.partition("-")[2] for model in models))


def _default_ipus(chosen: int | None, ipus: int) -> int:
    if chosen and not 1 <= chosen <= ipus:
        raise Refused(f"slurm_default_ipus is {chosen}; use 1 to {ipus}")
    return chosen or ipus


def _mapping(vpod: Vpod, chosen: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The IPU-Machines of each server: as chosen, or in equal runs."""
    machines, servers = list(vpod.ipu_machines), list(vpod.poplar_servers)
    if not chosen:
        if len(machines) % len(servers):
            shares = f"{len(machines)} IPU-Machines cannot be shared out to {len(servers)} Poplar servers"
            raise Refused(f"vpods.{vpod.name}: {shares} in equal parts; say in slurm_mapping which server has which")
        share = len(machines) // len(servers)
        return {name: machines[number * share : (number + 1) * share] for number, name in enumerate(servers)}
    mapping = {str(name): [str(machine) for machine in names] for name, names in chosen.items()}
    _check_mapping(vpod, mapping)
    return mapping


def _check_mapping(vpod: Vpod, mapping: Mapping[str, Sequence[str]]) -> None:
    if sorted(mapping) != sorted(vpod.poplar_servers):
        raise Refused(f"slurm_mapping is for {', '.join(mapping)}; name {', '.join(vpod.poplar_servers)}, and no other")
    mapped = [machine for machines in mapping.values() for machine in machines]
    for machine in mapped:
        if machine not in vpod.ipu_machines:
            raise Refused(f"slurm_mapping: {machine} is not of vpods.{vpod.name}; use its ipu_machines")
        if mapped.count(machine) > 1:
            raise Refused(f"slurm_mapping: {machine} is there twice; each IPU-Machine belongs to one server")
    if len({len(machines) for machines in mapping.values()}) > 1:
        raise Refused("slurm_mapping: the servers have different numbers of IPU-Machines; give each as many")
