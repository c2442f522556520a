# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pods.yml whose vPOD has Backend.AI's agents, what its owner chose, and what a server has."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._backend_ai_files.agents import Agent, agents_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration

FIRST, SECOND = "pod001-poplar1", "pod001-poplar2"
PARTITIONS = {
    "ml-1": {"ipus": 16, "reconfigurable": True, "poplar_servers": [FIRST]},
    "ml-2": {"ipus": 16, "reconfigurable": True, "poplar_servers": [SECOND]},
}
CHOICE: dict[str, Any] = {
    "vpod": "ml",
    "plugin": "",
    "python": "/opt/backend.ai/venv/bin/python",
    "service": "backendai-agent.service",
    "environment": {},
}
PLUGIN = {"value": "ai.backend.accelerator.ipu.plugin:IPUPlugin", "version": "26.9.6", "sha256": ""}
FOUND: dict[str, Any] = {
    "unit": {"is_installed": True, "is_active": True, "newer": [], "hidden_by": []},
    "plugin": PLUGIN,
    "docker": {"security": ["name=seccomp,profile=default"], "networks": {"ipu-ml": ["10.5.0.0/16"]}, "sessions": []},
    "ipus": {"in_file": ["10.5.1.1:0", "10.5.1.1:1"], "shown": ["10.5.1.1:0", "10.5.1.1:1"]},
    "has_rdma": True,
}


def declared(pod: dict[str, Any] | None = None, **vpod: Any) -> dict[str, Any]:
    """The pods.yml, with some fields of its pod and of its vPOD."""
    ml = {"cluster": "c001", "ipus": 32, "vlan": 203, "poplar_servers": [FIRST, SECOND], "users": ["ml"]}
    ml |= {"ipuof": "files", "containers": "macvlan", "partitions": PARTITIONS}
    rack = {"model": "bow-pod64", "addressing": "multi-rack", "poplar_servers": 4, **(pod or {})}
    return {
        "plugin": "ipu.pod.pods",
        "schema": 1,
        "pods": {"pod001": rack},
        "controllers": {"ctrl001": {"address": "10.3.1.200", "mode": "secure"}},
        "clusters": {"c001": {"controller": "ctrl001", "pods": ["pod001"]}},
        "vpods": {"ml": {key: value for key, value in {**ml, **vpod}.items() if value is not None}},
    }


def agents(document: dict[str, Any] | None = None, **choice: Any) -> dict[str, Agent]:
    """The agents of a pods.yml."""
    return agents_of(parse_declaration(document or declared()), {**CHOICE, **choice})
