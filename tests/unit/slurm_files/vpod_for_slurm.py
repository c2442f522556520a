# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pods.yml whose vPOD is Slurm's, what its owner chose, and what a host has of Slurm."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.site import site_from
from ansible_collections.ipu.pod.plugins.plugin_utils._slurm_files.plan import slurm_plan

SERVERS = [f"pod001-poplar{number}" for number in range(1, 5)]
MACHINES = [f"pod001-ipum{number}" for number in range(1, 17)]
CONTROLLERS = {"ctrl001": "10.3.1.200"}
NEW_CLUSTER = {"name": "new"}
CHOICE: dict[str, Any] = {
    "vpod": "jobs",
    "way": "dynamic",
    "hand_over": "",
    "ipu_partitions": [],
    "gres_types": [],
    "default_ipus": 0,
    "mapping": {},
    "directory": "/etc/slurm",
    "user": "slurm",
    "cluster": {},
    "hosts": [*CONTROLLERS, *SERVERS],
    "cred_expire": 0,
}
# What slurm_info returns of hosts with and without a slurm.conf.
FOUND: dict[str, Any] = site_from(
    {"/etc/slurm/slurm.conf": f"SlurmUser=slurm\nNodeName={','.join(SERVERS)}\n"}.get, "/etc/slurm"
).public()
NOTHING: dict[str, Any] = site_from({}.get, "/etc/slurm").public()
FOUR_EACH = {
    **{f"a{number}": {"ipus": 4, "poplar_servers": [SERVERS[0]]} for number in range(2)},
    "b": {"ipus": 16, "poplar_servers": [SERVERS[1]]},
    "c": {"ipus": 32, "gcds": 2, "poplar_servers": SERVERS[2:]},
}


def declared(mode: str = "insecure", **vpod: Any) -> dict[str, Any]:
    """The pods.yml, with some fields of its vPOD."""
    return {
        "plugin": "ipu.pod.pods",
        "schema": 1,
        "pods": {"pod001": {"model": "bow-pod64", "addressing": "multi-rack", "poplar_servers": 4}},
        "controllers": {"ctrl001": {"address": "10.3.1.200", "mode": mode}},
        "clusters": {"c001": {"controller": "ctrl001", "pods": ["pod001"]}},
        "vpods": {"jobs": {"cluster": "c001", "ipus": 64, "vlan": 101, "poplar_servers": SERVERS, **vpod}},
    }


def for_jobs(mode: str = "insecure") -> dict[str, Any]:
    """One whose jobs have allocations of their own."""
    return declared(mode, allocation="jobs", ipu_machines=MACHINES, users=["slurm"])


def planned(declaration: dict[str, Any], found: dict[str, Any] | None = None, **choice: Any) -> dict[str, Any]:
    """The plan of all files for the hosts; by default for those of an existing cluster."""
    return slurm_plan(declaration, {**CHOICE, **choice}, CONTROLLERS, found or FOUND)
