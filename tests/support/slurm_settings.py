# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of Slurm's hooks, as the role writes them."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._slurm_program.settings import Settings, settings_from

DYNAMIC: dict[str, Any] = {
    "way": "dynamic",
    "vpod": "jobs",
    "ipus": 64,
    "cluster": "c001",
    "allocation": "jobs",
    "api_host": "10.3.1.200",
    "api_port": 8090,
    "admin_port": 8091,
    "secure": False,
    "vipu_config": "",
    "node_vipu_config": "",
    "node_certificates": "",
    "hand_over": "environment",
    "slurm_partitions": [],
    "gres_types": ["pod64"],
    "default_ipus": 64,
    "mapping": {},
    "job_users": False,
    "partitions": [],
    "chained": {},
    "state": "/var/lib/ipu-pod/slurm",
    "run": "/run/ipu-pod/slurm",
}


def settings(**changes: Any) -> Settings:
    """The settings of the way dynamic, changed."""
    return settings_from(json.dumps({**DYNAMIC, **changes}))
