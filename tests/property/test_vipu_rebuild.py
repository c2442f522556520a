# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A vPOD made again by several calls in one run: in check mode each predicts what the calls before it leave."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Outcome
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State
from ansible_collections.ipu.pod.plugins.module_utils._vipu.access import AccessKeys
from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import Policy
from ansible_collections.ipu.pod.plugins.module_utils._vipu.engine import Engine
from tests.support.in_memory.controller import InProcess

AGENTS = [f"a{number}" for number in range(8)]
Declared = dict[str, list[dict[str, Any]]]


def call(site: InProcess, declared: Declared, predicted: State | None = None) -> Outcome:
    """One task of a run; in check mode with what the tasks before it have predicted."""
    engine = Engine(
        site.client, declared, Policy(keeps_keys=True), AccessKeys(keep=True), wait_timeout=0, predicted=predicted
    )
    return engine.converge(check_mode=predicted is not None)


def base(size: int) -> Declared:
    return {
        "agent": [{"name": name, "host": f"10.2.1.{number}", "port": 8080} for number, name in enumerate(AGENTS, 1)],
        "cluster": [{"name": "c", "agents": AGENTS, "topology": "mesh", "ipu_link_domains": 1}],
        "allocation": [{"name": "alice", "cluster": "c", "size": size, "agents": AGENTS[: size // 4]}],
    }


def tenants(size: int) -> Declared:
    return {
        "user": [{"name": "alice", "allocations": ["alice"]}],
        "partition": [{"name": "train", "allocation": "alice", "size": min(size, 8), "reconfigurable": False}],
    }


def gone(*kinds: str) -> Declared:
    names = {"user": "alice", "partition": "train", "allocation": "alice"}
    return {kind: [{"name": names[kind], "state": "absent"}] for kind in kinds}


@given(st.sampled_from([4, 8, 16, 32]), st.sampled_from([4, 8, 16, 32]))
def test_a_rebuild_in_four_calls_is_what_check_mode_predicts(before: int, after: int) -> None:
    site = InProcess()
    call(site, {**base(before), **tenants(before)})
    calls = [gone("partition", "user"), gone("allocation"), base(after), tenants(after)]
    predicted: State = {}
    steps_of_calls = []
    writes = site.memory.writes
    for declared in calls:
        outcome = call(site, declared, predicted)
        steps_of_calls.append(list(outcome.steps))
        predicted = {**predicted, **(outcome.after or {})}
    assert site.memory.writes == writes
    assert [list(call(site, declared).steps) for declared in calls] == steps_of_calls
    assert [len(steps) for steps in steps_of_calls] == [2, 1, 1, 2]
