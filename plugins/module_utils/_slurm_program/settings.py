# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings file of the programs that Slurm runs. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any, Mapping, Tuple

from .._plan.converge import Refused

PATH = "/etc/ipu-pod/slurm.json"

MAPPING, STATIC, RECONFIGURABLE, DYNAMIC = "mapping", "static", "reconfigurable", "dynamic"
WAYS = (MAPPING, STATIC, RECONFIGURABLE, DYNAMIC)
ENVIRONMENT, FILE = "environment", "file"
HAND_OVERS = (ENVIRONMENT, FILE)

Names = Tuple[str, ...]


@dataclass(frozen=True)
class DeclaredPartition:
    """A partition of the vPOD that jobs use as it is.

    ``replicas`` counts those over all GCDs, ``nodes`` the Slurm nodes that may use it, one or one for each GCD, and
    ``options`` are further fields of the partition in V-IPU.
    """

    name: str
    ipus: int
    gcds: int
    replicas: int
    nodes: Names
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """The settings, the same on the Slurm controller and on the nodes.

    Args:
        way: how jobs get IPUs, one of :data:`WAYS`.
        vpod: the vPOD whose IPUs these are, with its number of IPUs and its V-IPU cluster.
        allocation: its V-IPU allocation; empty where jobs make allocations.
        api_host: address of the V-IPU controller.
        api_port: its port for users.
        admin_port: its port for administrators.
        secure: whether it asks who asks.
        vipu_config: configuration file of ``vipu-admin`` on the Slurm controller, if one is needed.
        node_vipu_config: configuration file of ``vipu`` on the nodes, if one is needed.
        node_certificates: directory of the TLS certificates of ``vipu`` on the nodes, if there is one.
        hand_over: how a job finds its IPUs, by the environment alone or by files.
        slurm_partitions: the Slurm partitions whose jobs are IPU jobs; all of them where there is none.
        gres_types: what users may say after ``--gres=vipu:``.
        default_ipus: how many IPUs a job counts as that does not say.
        job_users: whether each job gets a V-IPU user of its own.
        chained: scripts of the site that run before ours, by :mod:`.program`'s words for the four hooks.
        state: directory on the Slurm controller.
        run: directory on the nodes.
        ipu_machines: the cluster's, ILD by ILD, by the addresses of their RNICs.
    """

    way: str
    vpod: str
    ipus: int
    cluster: str
    allocation: str
    api_host: str
    api_port: int
    admin_port: int
    secure: bool
    vipu_config: str
    node_vipu_config: str
    node_certificates: str
    hand_over: str
    slurm_partitions: Names
    gres_types: Names
    default_ipus: int
    mapping: Mapping[str, Names]
    job_users: bool
    partitions: tuple[DeclaredPartition, ...]
    chained: Mapping[str, str]
    state: str
    run: str
    ipu_machines: Mapping[str, str] = field(default_factory=dict)

    def is_of_ipus(self, slurm_partition: str) -> bool:
        """Whether the jobs of a Slurm partition are IPU jobs."""
        return not self.slurm_partitions or slurm_partition in self.slurm_partitions


def settings_from(text: str, path: str = PATH) -> Settings:
    """The settings in a file.

    Raises:
        Refused: it is not what the role slurm writes; ``path`` says which file.
    """
    try:
        data = _known(Settings, {"ipu_machines": {}, **json.loads(text)})
        settings = Settings(
            **{
                **data,
                "slurm_partitions": tuple(data["slurm_partitions"]),
                "gres_types": tuple(data["gres_types"]),
                "mapping": {node: tuple(machines) for node, machines in data["mapping"].items()},
                "partitions": tuple(_partition(entry) for entry in data["partitions"]),
            }
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise Refused(f"{path}: {error}; run the role slurm again, which writes this file") from None
    _check(settings, path)
    return settings


def _partition(entry: Any) -> DeclaredPartition:
    data = _known(DeclaredPartition, {"options": {}, **entry})
    return DeclaredPartition(**{**data, "nodes": tuple(data["nodes"])})


def _known(kind: Any, data: Any) -> dict[str, Any]:
    """The data, which have exactly the fields of a kind."""
    if not isinstance(data, dict):
        raise ValueError("this is no JSON object")
    wanted = [known.name for known in fields(kind)]
    missing = [name for name in wanted if name not in data]
    unknown = [name for name in data if name not in wanted]
    if missing or unknown:
        wrong = [f"{', '.join(missing)} missing"] * bool(missing) + [f"{', '.join(unknown)} not known"] * bool(unknown)
        raise ValueError(" and ".join(wrong))
    return data


def _check(settings: Settings, path: str) -> None:
    if settings.way not in WAYS:
        raise Refused(f"{path}: way {settings.way!r} is not known; use one of {', '.join(WAYS)}")
    if settings.hand_over not in HAND_OVERS:
        raise Refused(f"{path}: hand_over {settings.hand_over!r} is not known; use one of {', '.join(HAND_OVERS)}")
    if settings.way == RECONFIGURABLE and len(settings.partitions) != 1:
        raise Refused(f"{path}: way reconfigurable has one partition, not {len(settings.partitions)}; declare one")
    if settings.secure and settings.hand_over != FILE:
        raise Refused(f"{path}: the environment alone does not reach a secure V-IPU controller; use hand_over file")
    if settings.secure and settings.way == MAPPING and not settings.job_users:
        raise Refused(f"{path}: a secure V-IPU controller would show jobs nothing of theirs; use job_users")
