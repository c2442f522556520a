# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fate of the vPODs in a run, and the devices concerned. The changes themselves are in tests/unit/vpods."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import (
    hosts_of,
    known,
    refused_interruptions,
    switches_seen,
    tenancy_of,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from tests.support.in_memory.pod import CONTROLLER, declared
from tests.support.vpods_of_a_pod import document, held
from tests.unit.decision.two_vpods import ALICE, ALICE_GOES, BOB, VPODS

Looks = dict[str, Any]
LIE = {"alice": [f"p-ipum{n}" for n in (1, 2, 3, 4)], "bob": ["p-ipum5", "p-ipum6"]}
HELD = {CONTROLLER: held({"train": "alice"}, **LIE)["v"]}


def test_everything_about_the_vpods_in_one_place() -> None:
    found = tenancy_of(declared(ALICE_GOES), HELD, {})
    assert found.allocations[CONTROLLER]["bob"] == ["p-ipum5", "p-ipum6"]
    assert found.placement == {"bob": ["p-ipum5", "p-ipum6"]}
    assert {name: change.kind for name, change in found.changes.items()} == {"alice": "remove", "bob": "keep"}
    assert [one.vpod for one in found.impact] == ["alice"]
    assert list(found.teardown["poplar_servers"]) == found.converged == ["p-poplar1"]
    assert found.held is HELD
    assert found.bring_up["poplar_servers"] == found.wanted["poplar_servers"]


def test_one_vpod_alone_leaves_the_others_aside() -> None:
    found = tenancy_of(declared(ALICE_GOES), HELD, {}, only=["bob"])
    assert list(found.changes) == ["bob"]
    assert not any(found.teardown.values())
    assert list(found.wanted["poplar_servers"]) == ["p-poplar2"]


def test_a_run_on_some_vpods_keeps_the_clients_of_those_that_share_their_servers() -> None:
    shared = {"poplar_servers": ["p-poplar3"], "ipuof": "files", "containers": "macvlan"}
    vpods = {
        "alice": {**ALICE, **shared, "virtual_function": 0},
        "bob": {**BOB, **shared, "virtual_function": 1},
    }
    words = {"hypervisors": ["p-poplar3"], "rnic": {"vlan": 99}, "virtual_functions": 2}
    both = tenancy_of(declared(vpods, **words), HELD, {})
    alone = tenancy_of(declared(vpods, **words), HELD, {}, only=["alice"])
    goes = {**vpods, "alice": {**vpods["alice"], "state": "absent"}}
    torn_down = tenancy_of(declared(goes, **words), HELD, {}, only=["alice"]).teardown
    kept = [
        [(each["name"], each["vipu_kept"]) for each in servers["p-poplar3"]["containers"]]
        for servers in (both.wanted["poplar_servers"], alone.wanted["poplar_servers"], torn_down["poplar_servers"])
    ]
    assert kept == [[("alice", False), ("bob", False)], [("alice", False), ("bob", True)], [("bob", True)]]


def test_where_a_vpod_lies_has_to_be_known() -> None:
    with pytest.raises(DeclarationError, match=r"vpods\.alice: the controller on ctrl says where it lies and"):
        tenancy_of(declared(VPODS), {}, {})


def test_a_vpod_that_may_be_interrupted_leaves_a_dead_machine() -> None:
    declaration = declared({"bob": BOB}, excluded=["p-ipum5"])
    there = {CONTROLLER: held(bob=["p-ipum5", "p-ipum6"])["v"]}
    assert tenancy_of(declaration, there, {}).placement == {"bob": ["p-ipum5", "p-ipum6"]}
    assert "p-ipum5" not in tenancy_of(declaration, there, {}, allowed=["bob"]).placement["bob"]


@pytest.mark.parametrize(
    ("use", "allowed", "is_refused"),
    [
        ({"in_use": [], "unknown": []}, [], False),
        ({"in_use": ["Slurm job 7 of ann"], "unknown": []}, [], True),
        ({"in_use": ["Slurm job 7 of ann"], "unknown": []}, ["alice"], False),
        ({"message": "squeue does not answer"}, [], True),
    ],
)
def test_what_runs_on_servers_counts_and_what_is_not_known_counts_too(
    looks: Looks, use: Any, allowed: list[str], is_refused: bool
) -> None:
    looks["p-poplar1"]["parts"]["use"] = use
    there = {CONTROLLER: held(**LIE)["v"]}
    tenancy = tenancy_of(declared(ALICE_GOES), there, looks)
    refusals = refused_interruptions(tenancy, looks, allowed)
    assert [each.startswith("it would end what runs: vPOD alice") for each in refusals] == [True] * is_refused


def test_only_switches_that_could_be_read_are_seen(looks: Looks) -> None:
    assert list(switches_seen(looks)) == ["p-tor"]
    looks["p-tor"]["parts"]["info"] = {"message": "Invalid input"}
    assert switches_seen(looks) == {}


def test_a_run_on_some_vpods_is_about_their_devices_and_the_switches_of_their_clusters() -> None:
    declaration = declared(ALICE_GOES)
    assert hosts_of(declaration, ["bob"]) == ["p-poplar2", CONTROLLER, "p-tor"]
    assert hosts_of(declaration, ["alice", "bob"]) == ["p-poplar1", CONTROLLER, "p-tor", "p-poplar2"]
    assert hosts_of(declaration, []) == []
    two_pods = document({"alice": ALICE})
    two_pods["pods"] = {
        name: {"model": "bow-pod64", "addressing": "multi-rack", "lrack": number}
        for number, name in enumerate("pqr", 1)
    }
    two_pods["clusters"]["c"]["pods"] = ["p", "q"]
    assert hosts_of(parse_declaration(two_pods), ["alice"])[2:] == ["p-tor", "q-tor"]


def test_a_vpod_has_to_be_declared() -> None:
    known(declared(ALICE_GOES), ["alice", "bob"])
    with pytest.raises(DeclarationError, match=r"'al' is no vPOD of pods.yml, which has alice, bob"):
        hosts_of(declared(ALICE_GOES), ["bob", "al"])
