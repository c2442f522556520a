# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine that leaves a vPOD and would stay in its VLAN is refused. All ways are in the property tests."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision
from tests.support.in_memory.pod import CONTROLLER
from tests.unit.decision.two_vpods import ALICE, ALICE_GOES, BOB, CAROL, DEVICES, VPODS, brief_steps, decided

Looks = dict[str, Any]

NO_HOME: dict[str, Any] = {"vlans": {}}
DECLARE = "declare a VLAN for what no vPOD has, pods.p.rnic.vlan or pods.p.vlans.quarantine"
CHANGE = "let the run change p-tor, too, and all else that playbooks/vpods.yml does"
SMALLER = {**VPODS, "alice": {**ALICE, "ipus": 8}}
MOVED = {**VPODS, "alice": {**ALICE, "ipu_machines": [f"p-ipum{number}" for number in range(9, 13)]}}
OF_ANOTHER_SERVER = {**VPODS, "alice": {**ALICE, "poplar_servers": ["p-poplar3"]}}


def told(looks: Looks, vpods: Any = VPODS, pod: Any = None, **words: Any) -> list[str]:
    """The refusals because a VLAN would reach too far; everybody may be interrupted."""
    found = decided(looks, vpods, pod or {}, **{"allowed": ("alice", "bob"), **words})
    return [each for each in found.refusals if "VLAN of vPOD" in each]


def put_into(looks: Looks, vlan: int, *numbers: int) -> None:
    """Somebody puts ports into a VLAN."""
    for name in ("gathered", "info"):
        for port in looks["p-tor"]["parts"][name]["ports"]:
            if port["name"] in [f"Ethernet{number}/1" for number in numbers]:
                port["vlan"] = vlan
    config = looks["p-tor"]["parts"]["running_config"]
    for number in numbers:
        before, header, after = config["text"].partition(f"interface Ethernet{number}/1\n")
        block, bang, rest = after.partition("!")
        lines = [line for line in block.splitlines() if "switchport access vlan" not in line]
        config["text"] = before + header + "\n".join([*lines, f"   switchport access vlan {vlan}", ""]) + bang + rest


def allocations(looks: Looks) -> dict[str, Any]:
    found: dict[str, Any] = looks[CONTROLLER]["parts"]["controllers"][""]["allocations"]
    return found


def stage_of(found: Decision, name: str) -> list[str]:
    """The stages in which a thing has a step."""
    return [stage for stage, _device, _kind, thing in brief_steps(found) if thing == name]


@pytest.mark.parametrize(
    ("vpods", "pod", "reached"),
    [
        (SMALLER, {}, "p-ipum3..4"),
        (MOVED, {}, "p-ipum1..4"),
        (VPODS, {"excluded": ["p-ipum2"]}, "p-ipum1..4"),
        (ALICE_GOES, {}, "p-ipum1..4, p-poplar1"),
        (OF_ANOTHER_SERVER, {}, "p-poplar1"),
    ],
    ids=["shrink", "move", "exclude", "remove", "another server"],
)
def test_what_leaves_a_vpod_and_has_no_vlan_to_go_to_is_refused_and_with_one_it_goes(
    looks: Looks, vpods: Any, pod: Any, reached: str
) -> None:
    sentence = f"p-tor: the VLAN of vPOD alice would reach {reached}, which no vPOD has; {DECLARE}"
    assert told(looks, vpods, {**NO_HOME, **pod}) == [sentence]
    assert told(looks, vpods, pod) == []


def test_placed_anew_it_leaves_the_old_place_first_although_no_allocation_remembers_that(looks: Looks) -> None:
    del allocations(looks)["alice"]
    bob = {**BOB, "ipus": 16, "ipu_machines": [f"p-ipum{number}" for number in range(1, 5)]}
    anew = {**MOVED, "bob": bob}
    assert told(looks, anew, NO_HOME) != []
    found = decided(looks, anew, allowed=("alice", "bob"))
    assert found.refusals == []
    assert stage_of(found, "Ethernet9/1") == ["switches_down", "switches"]


def test_what_was_left_in_a_vlan_is_reported_and_put_right_where_that_can_be(looks: Looks) -> None:
    put_into(looks, 101, 16, 17)
    assert told(looks, pod=NO_HOME) == [
        f"p-tor: the VLAN of vPOD alice would reach p-ipum8..9, which no vPOD has; {DECLARE}"
    ]
    found = decided(looks, allowed=("alice", "bob"))
    assert (found.refusals, stage_of(found, "Ethernet16/1")) == ([], ["switches"])


def test_so_is_what_somebody_else_has_got_meanwhile(looks: Looks) -> None:
    put_into(looks, 101, 16)
    allocations(looks)["theirs"] = {"agents": ["p-ipum8"], "cluster": "c", "size": 4}
    assert told(looks, pod=NO_HOME) == [
        f"p-tor: the VLAN of vPOD alice would reach p-ipum8, which allocation theirs has; {DECLARE}"
    ]
    # What the run does not change may stay as it is, and so may what pods.yml does not know.
    assert told(looks, pod=NO_HOME, hosts=("p-poplar1", CONTROLLER)) == []
    assert told(looks, {"bob": BOB}, NO_HOME) == []


def test_a_dead_machine_leaves_the_vlan_too(looks: Looks) -> None:
    found = decided(looks, pod={"excluded": ["p-ipum2"]}, allowed=("alice",))
    assert stage_of(found, "Ethernet10/1") == ["switches_down"]
    # Until its vPOD leaves it, it is kept as it is.
    assert stage_of(decided(looks, pod={"excluded": ["p-ipum2"]}), "Ethernet10/1") == []


def test_a_run_that_leaves_the_switch_out_takes_no_allocation_away(looks: Looks) -> None:
    del looks["p-tor"]
    (sentence,) = told(looks, SMALLER, hosts=(CONTROLLER, "p-poplar1"))
    assert sentence == f"the VLAN of vPOD alice would reach p-ipum3..4, which no vPOD has; {CHANGE}"
    assert told(looks, hosts=(CONTROLLER, "p-poplar1")) == []
    # On the switch, the vPOD still has the VLAN that it is declared without since the last run.
    without_one = {**SMALLER, "alice": {key: value for key, value in SMALLER["alice"].items() if key != "vlan"}}
    assert told(looks, without_one, hosts=(CONTROLLER, "p-poplar1")) == [sentence]


def test_nor_does_one_give_an_allocation_that_another_vlan_reaches(looks: Looks) -> None:
    put_into(looks, 101, 17)
    vpods = {**VPODS, "carol": {**CAROL, "ipu_machines": ["p-ipum9"]}}
    (sentence,) = told(looks, vpods, parts=("controllers",))
    assert sentence == f"the VLAN of vPOD alice would reach p-ipum9, which vPOD carol has; {CHANGE}"
    # Where nobody gets one, ports are put right by themselves.
    assert told(looks, vpods, parts=("switches",)) == []


def test_where_the_owner_of_a_port_pins_its_vlan_the_sentence_says_where(looks: Looks) -> None:
    ports = {"tor": {"ports": {f"Et{number}/1": {"vlan": 101} for number in (11, 12)}}}
    sentences = told(looks, SMALLER, ports)
    assert [each.rpartition("; ")[2] for each in sentences] == [
        "take that from pods.p.tor.ports.Et11/1",
        "take that from pods.p.tor.ports.Et12/1",
    ]


def test_other_settings_of_a_port_are_not_in_the_way_and_an_external_port_is_its_owners(
    looks: Looks,
) -> None:
    ports = {"Et11/1": {"description": "to the lab"}, "Et12/1": {"owner": "external"}}
    sentences = told(looks, SMALLER, {**NO_HOME, "tor": {"ports": ports}})
    assert sentences == [f"p-tor: the VLAN of vPOD alice would reach p-ipum3, which no vPOD has; {DECLARE}"]


def test_a_vpod_without_a_vlan_needs_one_where_its_machines_are_in_somebody_elses(looks: Looks) -> None:
    put_into(looks, 101, 13)
    bob = {key: value for key, value in BOB.items() if key != "vlan"}
    ports = {"controller_ports": {"user": 10408, "admin": 10409, "metrics": 10410}}
    sentences = told(looks, {**VPODS, "bob": {**bob, **ports}})
    assert sentences == [
        "p-tor: the VLAN of vPOD alice would reach p-ipum5, which vPOD bob has; declare a VLAN for it, vpods.bob.vlan "
        "or pods.p.rnic.vlan"
    ]


def test_what_the_controller_may_give_to_anybody_is_in_nobodys_vlan_before(looks: Looks) -> None:
    looks[CONTROLLER]["parts"]["controllers"][""]["allocates_by_agents"] = False
    would_reach = "p-tor: the VLAN of vPOD alice would reach"
    assert told(looks, SMALLER, NO_HOME) == [
        f"{would_reach} p-ipum3..4, which no vPOD has; {DECLARE}",
        f"{would_reach} p-ipum1..2, which the controller may give to another one; {DECLARE}",
    ]
    found = decided(looks, SMALLER, allowed=("alice",))
    assert found.refusals == []
    assert stage_of(found, "Ethernet9/1") == ["switches_down", "switches"]


def test_a_run_on_one_vpod_is_about_what_that_one_leaves_or_gets(looks: Looks) -> None:
    put_into(looks, 101, 16)
    assert told(looks, pod=NO_HOME, only=("bob",)) == []
    assert told(looks, pod=NO_HOME, only=("alice",)) != []


def test_ports_that_are_not_managed_are_their_owners_business(looks: Looks) -> None:
    del looks["p-tor"]
    others = tuple(name for name in DEVICES if name != "p-tor")
    assert told(looks, SMALLER, {"managed": ["servers", "controller"]}, hosts=others) == []
