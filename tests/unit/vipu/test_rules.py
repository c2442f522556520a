# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals of V-IPU come before anything is sent: every rule with its message."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._vipu.declared import Policy
from ansible_collections.ipu.pod.plugins.module_utils._vipu.planner import plan
from ansible_collections.ipu.pod.plugins.module_utils._vipu.rules import Rules
from tests.unit.vipu.site import declared, held, refusal

KEYS = Policy(keeps_keys=True)
STRICT = Policy(rules=Rules(strict_sizes=True))

NAMES = "a name has letters, digits, '.', '_' and '-', at most 64 of them, and begins with a letter or a digit"


def rack(machines: int, ilds: int = 1) -> dict[str, Any]:
    """A site of its own: agents, a cluster of them, and an allocation that takes them all."""
    agents = [f"m{number}" for number in range(machines)]
    return {
        "agent": [{"name": name, "host": f"10.2.2.{index}", "port": 8080} for index, name in enumerate(agents)],
        "cluster": [{"name": "big", "agents": agents, "ipu_link_domains": ilds}],
        "allocation": [{"name": "all", "cluster": "big", "size": 4 * machines}],
        "user": [],
    }


def of_all(size: int, **fields: Any) -> list[dict[str, Any]]:
    """One partition of the allocation that has everything."""
    return [{"name": "p", "allocation": "all", "size": size, **fields}]


def of_alice(size: int, **fields: Any) -> list[dict[str, Any]]:
    """One more partition for Alice, who has 8 IPUs, 4 of them free."""
    return [{"name": "p", "allocation": "alice", "size": size, **fields}]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"agent": [{"name": "a 3", "host": "10.2.1.3", "port": 8080}]},
            f"agent 'a 3': {NAMES}",
        ),
        (
            {"agent": [{"name": "a3", "host": "", "port": 8080}]},
            "agent a3: host is empty; give the management address or name of the IPU-Machine's gateway",
        ),
        (
            {"agent": [{"name": "a3", "host": "10.2.1.3", "port": 70000}]},
            "agent a3: port: 70000 is no TCP port; use 1 to 65535, usually 8080",
        ),
        (
            {"agent": [{"name": "a3", "host": "10.2.1.3", "port": 0}]},
            "agent a3: port: 0 is no TCP port; use 1 to 65535, usually 8080",
        ),
        (
            {"agent": [{"name": "a3", "host": "10.2.1.1", "port": 8080}]},
            "agent a3: 10.2.1.1:8080 is already agent a1; correct the host or leave one out",
        ),
        ({"cluster": [{"name": "d", "agents": []}]}, "cluster d: agents is empty; list at least one agent"),
        (
            {"cluster": [{"name": "d", "agents": ["a1", "a1"]}]},
            "cluster d: agents: a1 is listed twice; keep one",
        ),
        (
            {"cluster": [{"name": "d", "agents": ["a9"]}]},
            "cluster d: agents names agent 'a9', which is neither on the controller nor declared; declare it under "
            "agents or correct the name",
        ),
        (
            {"cluster": [{"name": "d", "agents": ["a1"]}]},
            "cluster d: agent a1 is already in cluster c; an agent belongs to one cluster",
        ),
        (
            {"cluster": [{"name": "d", "agents": ["a1", "a2"], "ipu_link_domains": 3}]},
            "cluster d: ipu_link_domains: 2 agents cannot be split into 3 equal IPU-Link domains; use a divisor of 2",
        ),
        (
            {"cluster": [{"name": "d", "agents": ["a1", "a2"], "ipu_link_domains": 0}]},
            "cluster d: ipu_link_domains: 2 agents cannot be split into 0 equal IPU-Link domains; use a divisor of 2",
        ),
        (
            {"cluster": [{"name": "d", "agents": [f"m{n}" for n in range(32)]}]},
            "cluster d: ipu_link_domains: 32 agents in one IPU-Link domain are more than 16; use at least 2 domains",
        ),
        (
            {"allocation": [{"name": "bob", "cluster": "c", "size": 12}]},
            "allocation bob: size: 12 IPUs do not exist as an allocation; use 4, 8, 16, 32, 64 and multiples of 64",
        ),
        (
            {"allocation": [{"name": "bob", "cluster": "x", "size": 4}]},
            "allocation bob: cluster names cluster 'x', which is neither on the controller nor declared; declare it "
            "under clusters or correct the name",
        ),
        (
            {"allocation": [{"name": "bob", "cluster": "c", "size": 4, "agents": ["a1", "a2"]}]},
            "allocation bob: agents: 2 agents have 8 IPUs, not 4; correct the list or the size",
        ),
        (
            {"allocation": [{"name": "bob", "cluster": "c", "size": 8, "agents": ["a1", "a1"]}]},
            "allocation bob: agents: a1 is listed twice; keep one",
        ),
        (
            {"allocation": [{"name": "bob", "cluster": "c", "size": 4, "agents": ["a9"]}]},
            "allocation bob: agents names agent 'a9', which is neither on the controller nor declared; declare it "
            "under agents or correct the name",
        ),
        (
            {"allocation": [{"name": "bob", "cluster": "c", "size": 4, "agents": ["a1"]}]},
            "allocation bob: agent a1 is already in allocation alice; an agent belongs to one allocation",
        ),
        (
            {
                "agent": [{"name": "a3", "host": "10.2.1.3", "port": 8080}],
                "allocation": [{"name": "bob", "cluster": "c", "size": 4, "agents": ["a3"]}],
            },
            "allocation bob: agent a3 is not in cluster c; use agents of that cluster",
        ),
        (
            {"allocation": [{"name": "bob", "cluster": "c", "size": 4}]},
            "cluster c: its allocations alice (8), bob (4) need 12 IPUs, but it has 8; enlarge it or remove one",
        ),
        (
            {"user": [{"name": "bob", "allocations": ["x"]}]},
            "user bob: allocations names allocation 'x', which is neither on the controller nor declared; declare it "
            "under allocations or correct the name",
        ),
        (
            {"user": [{"name": "bob", "allocations": ["alice", "alice"]}]},
            "user bob: allocations: alice is listed twice; keep one",
        ),
        (
            {"partition": of_alice(3)},
            "partition p: size: 3 IPUs do not exist as a partition; use 1, 2, 4, 8, 16, 32, 64 and multiples of 64",
        ),
        (
            {"partition": of_alice(8)},
            "allocation alice: its partitions p (8), train (4) need 12 IPUs, but it has 8; enlarge it or remove one",
        ),
        (
            {"partition": [{"name": "p", "allocation": "x", "size": 4}]},
            "partition p: allocation names allocation 'x', which is neither on the controller nor declared; declare it "
            "under allocations or correct the name",
        ),
        (
            {"partition": [{"name": "p" * 65, "allocation": "alice", "size": 4}]},
            f"partition '{'p' * 65}': {NAMES}",
        ),
        (
            {"partition": of_alice(4, gcds=0)},
            "partition p: gcds: 4 IPUs cannot be split into 0 equal GCDs; use a divisor of 4",
        ),
        (
            {"partition": of_alice(4, replicas=0)},
            "partition p: replicas: 4 IPUs cannot be split into 0 equal replicas; use a divisor of 4",
        ),
        (
            {"partition": of_alice(4, gcds=3)},
            "partition p: gcds: 4 IPUs cannot be split into 3 equal GCDs; use a divisor of 4",
        ),
        (
            {"partition": of_alice(4, replicas=3)},
            "partition p: replicas: 4 IPUs cannot be split into 3 equal replicas; use a divisor of 4",
        ),
        (
            {"partition": of_alice(4, gcds=4, replicas=2)},
            "partition p: replicas: 2 replicas cannot be spread over 4 GCDs; use a multiple of 4",
        ),
        (
            {**rack(2), "partition": of_all(8, replicas=1)},
            "partition p: replicas: 1 replicas of 8 IPUs each do not exist; a replica has 1, 2 or 4 IPUs: leave "
            "replicas out for one per GCD, or set any_replica_size",
        ),
        (
            {**rack(32, ilds=2), "partition": of_all(128)},
            "partition p: gcds: 128 IPUs in 1 GCDs are 128 each, but a GCD has 1, 2, 4, 8, 16, 32 or 64; use a number "
            "of GCDs that gives one of these",
        ),
        (
            {**rack(16, ilds=4), "partition": of_all(64, gcds=2)},
            "partition p: gcds: a GCD lies in one IPU-Link domain, and those of cluster big have 16 IPUs; use at least "
            "4 GCDs",
        ),
        (
            {**rack(32, ilds=2), "partition": of_all(128, gcds=2, reconfigurable=True)},
            "partition p: reconfigurable: a reconfigurable partition has at most 64 IPUs, not 128; partition p: gcds: "
            "a reconfigurable partition has one GCD, not 2; leave it out",
        ),
        (
            {"partition": of_alice(4, gcds=2, reconfigurable=True)},
            "partition p: gcds: a reconfigurable partition has one GCD, not 2; leave it out",
        ),
        (
            {"partition": of_alice(4, reconfigurable=True, sync_type="pod-native-default")},
            "partition p: sync_type: a reconfigurable partition has sync type c2-compatible, not pod-native-default; "
            "leave it out",
        ),
        (
            {"partition": of_alice(4, index=-1)},
            "partition p: index: -1 is no place; places are counted from 0",
        ),
        ({"partition": of_alice(1) * 2}, "partitions: 'p' is declared twice; keep one"),
    ],
)
def test_one_sentence_for_what_cannot_be(changes: dict[str, Any], message: str) -> None:
    assert refusal(held(), KEYS, **changes).startswith(message)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32, 64])
def test_sizes_that_exist(size: int) -> None:
    assert plan(declared(**rack(16), partition=of_all(size)), held(), KEYS)


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        (of_all(32), "partition p: size: 32 is not in the guide's list (1, 2, 4, 8, 16, 64 and multiples of 64); "),
        (of_all(64, gcds=2), "partition p: gcds: GCDs of 32 IPUs are not in the guide's list; "),
    ],
)
def test_strict_sizes_leave_out_what_the_guide_leaves_out(partition: list[dict[str, Any]], message: str) -> None:
    changes = {**rack(16), "partition": partition}
    assert plan(declared(**changes), held())
    assert refusal(held(), STRICT, **changes).startswith(message + "unset strict_sizes to use ")


def test_the_replica_rule_can_be_overridden_and_is_for_an_explicit_number_only() -> None:
    changes = {**rack(2), "partition": of_all(8, replicas=1)}
    assert plan(declared(**changes), held(), Policy(rules=Rules(any_replica_size=True)))
    assert plan(declared(**rack(2), partition=of_all(8)), held())


def test_all_errors_are_reported_at_once() -> None:
    message = refusal(held(), KEYS, partition=of_alice(3), allocation=[{"name": "bob", "cluster": "c", "size": 5}])
    assert "allocation bob: size" in message
    assert "partition p: size" in message


def test_what_is_there_and_not_ours_is_not_judged() -> None:
    actual = held()
    actual["partition"]["odd"] = {"allocation": "alice", "size": 3, "status": "ACTIVE"}
    assert plan(declared(), actual) == []
