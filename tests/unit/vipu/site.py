# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two IPU-Machines with one tenant, as declared and as a controller holds it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State
from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import Policy
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import plan

Declared = dict[str, list[dict[str, Any]]]


def declared(**changes: Any) -> Declared:
    """The declared entities; `changes` replace whole lists."""
    return {
        "agent": [{"name": "a1", "host": "10.2.1.1", "port": 8080}, {"name": "a2", "host": "10.2.1.2", "port": 8080}],
        "cluster": [{"name": "c", "agents": ["a1", "a2"], "topology": None, "ipu_link_domains": 1}],
        "allocation": [{"name": "alice", "cluster": "c", "size": 8}],
        "user": [{"name": "alice", "allocations": ["alice"]}],
        "partition": [{"name": "train", "allocation": "alice", "size": 4, "reconfigurable": False}],
        **changes,
    }


def partition(**fields: Any) -> dict[str, Any]:
    """A partition as a controller shows it."""
    chosen = {"gcds": 1, "replicas": 1, "routing": "dnc", "gw_routing": "default", "sync_type": "pod-native-default"}
    return {"allocation": "alice", "size": 4, "reconfigurable": False, "status": "ACTIVE", **chosen, **fields}


def held() -> State:
    """The state of a controller once the declaration is carried out."""
    return {
        "agent": {name: {"host": f"10.2.1.{name[1]}", "port": 8080, "status": "Up"} for name in ("a1", "a2")},
        "cluster": {"c": {"agents": ["a1", "a2"], "topology": "torus", "ipu_link_domains": 1, "looped": False}},
        "allocation": {"alice": {"cluster": "c", "size": 8, "agents": ["a1", "a2"]}},
        "user": {"alice": {"allocations": ["alice"], "admin": False}},
        "partition": {"train": partition()},
    }


def refusal(actual: State, policy: Policy, **changes: Any) -> str:
    """The message with which the planner refuses a declaration."""
    with pytest.raises(Refused) as caught:
        plan(declared(**changes), actual, policy)
    return str(caught.value)
