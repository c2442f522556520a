# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fate of a vPOD, the devices concerned, and their state between teardown and bring-up."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from tests.support.vpods_of_a_pod import ALICE, BOB, held, machines, planned, seen

GONE = {**ALICE, "state": "absent"}


def ports(switch: dict[str, Any]) -> dict[str, Any]:
    return {port["name"]: port.get("vlan", port.get("native_vlan")) for port in switch["ports"]}


@pytest.mark.parametrize(
    ("declared", "there", "kind"),
    [
        (ALICE, {}, "create"),
        (ALICE, {"alice": machines(1, 4)}, "keep"),
        ({**ALICE, "ipus": 32}, {"alice": machines(1, 4)}, "grow"),
        ({**ALICE, "ipus": 8}, {"alice": machines(1, 4)}, "shrink"),
        ({**ALICE, "ipu_machines": machines(5, 8)}, {"alice": machines(1, 4)}, "move"),
        (GONE, {"alice": machines(1, 4)}, "remove"),
        (GONE, {}, "remove"),
    ],
)
def test_each_kind_of_change(declared: Any, there: Any, kind: str) -> None:
    assert planned({"alice": declared}, held(**there)).changes["alice"].kind == kind


def test_an_excluded_machine_is_replaced_when_its_vpod_may_be_interrupted() -> None:
    plan = planned({"alice": ALICE}, held(alice=machines(1, 4)), allowed=["alice"], excluded=["p-ipum2"])
    change = plan.changes["alice"]
    assert change.kind == "replace"
    assert "p-ipum2" not in change.after
    assert plan.wanted["degraded"] == ["p-ipum2 is excluded"]


def test_until_then_its_vpod_stays_and_nobody_is_asked() -> None:
    there = held({"train": "alice"}, alice=machines(1, 4))
    plan = planned({"alice": ALICE, "bob": BOB}, there, allowed=["bob"], excluded=["p-ipum2"])
    assert {name: change.kind for name, change in plan.changes.items()} == {"alice": "keep", "bob": "create"}
    assert plan.impact == []
    assert not any(plan.teardown.values())
    assert "vPOD alice has p-ipum2 " in plan.wanted["degraded"][1]


def test_what_stays_or_comes_takes_nothing_down() -> None:
    plan = planned({"alice": ALICE, "bob": BOB}, held(alice=machines(1, 4)))
    assert not any(plan.teardown.values())


def test_a_vpod_that_goes_takes_its_ports_servers_users_and_partitions_with_it_and_nothing_of_others() -> None:
    there = held({"train": "alice", "hers": "alice", "bobs": "bob"}, alice=machines(1, 4), bob=machines(5, 6))
    plan = planned({"alice": GONE, "bob": BOB}, there)
    down = plan.teardown
    assert ports(down["tor_switches"]["p-tor"]) == {f"Ethernet{n}/1": 999 for n in (*range(9, 13), 25)}
    assert {vlan["vlan_id"]: vlan.get("state") for vlan in down["tor_switches"]["p-tor"]["vlans"]} == {
        999: None,
        101: "absent",
    }
    assert list(down["poplar_servers"]) == ["p-poplar1"]
    entities = down["vipu_controllers"]["v"]
    assert {kind: [each["name"] for each in entities[kind]] for kind in ("users", "partitions", "allocations")} == {
        "users": ["alice"],
        "partitions": ["train", "hers"],
        "allocations": ["alice"],
    }
    assert all(each["state"] == "absent" for kind in ("users", "partitions", "allocations") for each in entities[kind])


def test_what_the_teardown_has_made_right_is_not_done_again() -> None:
    plan = planned({"alice": GONE, "bob": BOB}, held(alice=machines(1, 4), bob=machines(5, 6)))
    left = ports(plan.bring_up["tor_switches"]["p-tor"])
    assert not {f"Ethernet{n}/1" for n in (*range(9, 13), 25)} & left.keys()
    assert left["Ethernet13/1"] == 102
    assert plan.converged == ["p-poplar1"]


def test_a_server_that_somebody_else_gets_is_not_settled() -> None:
    plan = planned({"alice": GONE, "bob": {**BOB, "poplar_servers": ["p-poplar1"]}}, held(alice=machines(1, 4)))
    assert plan.converged == []
    assert ports(plan.teardown["tor_switches"]["p-tor"])["Ethernet25/1"] == 999
    assert ports(plan.bring_up["tor_switches"]["p-tor"])["Ethernet25/1"] == 102


def test_of_a_vpod_that_moves_only_what_it_leaves_goes_to_rest() -> None:
    plan = planned({"alice": {**ALICE, "ipus": 8}}, held({"train": "alice"}, alice=machines(1, 4)))
    change, down = plan.changes["alice"], plan.teardown
    leaving = {f"Ethernet{8 + int(name[6:])}/1" for name in set(change.before) - set(change.after)}
    assert ports(down["tor_switches"]["p-tor"]) == dict.fromkeys(sorted(leaving), 999)
    assert down["poplar_servers"] == {}
    assert [each["name"] for each in down["vipu_controllers"]["v"]["partitions"]] == ["train"]


def test_a_user_of_two_vpods_loses_one_and_is_made_again_with_the_other() -> None:
    both = {"alice": {**ALICE, "users": ["ann"], "state": "absent"}, "bob": {**BOB, "users": ["ann"]}}
    there = held(users={"ann": ["alice", "bob"]}, alice=machines(1, 4), bob=machines(5, 6))
    plan = planned(both, there)
    assert [each["name"] for each in plan.teardown["vipu_controllers"]["v"]["users"]] == ["ann"]
    assert plan.bring_up["vipu_controllers"]["v"]["users"] == [{"name": "ann", "allocations": ["bob"]}]


def test_a_user_whom_pods_yml_does_not_name_is_not_touched() -> None:
    there = held(users={"somebody": ["alice"]}, alice=machines(1, 4))
    assert planned({"alice": GONE}, there).teardown["vipu_controllers"]["v"]["users"] == []


def test_one_vpod_alone_is_about_its_own_devices() -> None:
    plan = planned({"alice": ALICE, "bob": BOB}, held(bob=machines(1, 2)), only=["alice"])
    wanted = plan.bring_up
    after = plan.changes["alice"].after
    assert list(plan.changes) == ["alice"]
    assert not set(after) & set(machines(1, 2))
    assert ports(wanted["tor_switches"]["p-tor"]) == {
        **{f"Ethernet{8 + int(name[6:])}/1": 101 for name in after},
        "Ethernet25/1": 101,
    }
    assert [vlan["vlan_id"] for vlan in wanted["tor_switches"]["p-tor"]["vlans"]] == [101]
    assert list(wanted["poplar_servers"]) == ["p-poplar1"]
    controller = wanted["vipu_controllers"]["v"]
    assert [each["name"] for each in (*controller["allocations"], *controller["users"])] == ["alice", "alice"]


def test_one_vpod_alone_does_not_take_another_away() -> None:
    plan = planned({"alice": ALICE, "bob": {**BOB, "state": "absent"}}, held(bob=machines(1, 2)), only=["alice"])
    assert not any(plan.teardown.values())
    assert not set(plan.changes["alice"].after) & set(machines(1, 2))


def test_one_vpod_alone_gives_back_the_server_that_it_had_and_nobody_has() -> None:
    moved = {**ALICE, "poplar_servers": ["p-poplar3"]}
    on_switch = seen(_25=(101, "vpod-alice"), _29=(999, "quarantine"))
    plan = planned({"alice": moved, "bob": BOB}, held(alice=machines(1, 4)), on_switch, only=["alice"])
    assert set(plan.bring_up["poplar_servers"]) == {"p-poplar1", "p-poplar3"}
    assert ports(plan.bring_up["tor_switches"]["p-tor"])["Ethernet25/1"] == 999


def test_an_unknown_vpod_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(DeclarationError, match=r"vpods_only: 'al' is no vPOD of pods.yml, which has alice"):
        planned({"alice": ALICE}, held(), only=["al"])


def test_one_vpod_alone_does_not_get_the_place_of_one_that_is_yet_to_go() -> None:
    vpods = {"alice": ALICE, "bob": {**BOB, "ipus": 64, "state": "absent"}}
    with pytest.raises(DeclarationError, match=r"vpods\.alice\.ipus"):
        planned(vpods, held(bob=machines(1, 16)), only=["alice"])
    assert planned(vpods, held(bob=machines(1, 16))).changes["alice"].kind == "create"


def test_what_has_gone_is_not_taken_down_again() -> None:
    plan = planned({"alice": GONE}, held({"bobs": "bob"}))
    assert not any(plan.teardown.values())
    assert plan.impact == []
    assert not plan.changes["alice"].goes_down


def test_a_canary_that_is_settled_is_no_canary_any_more() -> None:
    vpods = {"alice": GONE, "bob": BOB}
    there = held(alice=machines(1, 4), bob=machines(5, 6))
    plan = planned(vpods, there, tor={"canary": ["p-ipum1", "p-ipum5"]})
    assert plan.teardown["tor_switches"]["p-tor"]["canary"] == ["Ethernet9/1"]
    assert plan.bring_up["tor_switches"]["p-tor"]["canary"] == ["Ethernet13/1"]


def test_nobody_is_asked_to_wake_what_goes_to_rest_and_nobody_else_is_expected_to_be_silent() -> None:
    switch = planned({"alice": GONE}, held(alice=machines(1, 4))).teardown["tor_switches"]["p-tor"]
    assert switch["arp_probes"] == {}
    assert {cable["port"] for cable in switch["cables"]} == {f"Ethernet{n}/1" for n in (*range(9, 13), 25)}


def test_a_vpod_that_gets_another_vlan_leaves_the_former_one() -> None:
    on_switch = seen(_9=(101, "vpod-alice"), _25=(101, "vpod-alice"), _13=(102, "vpod-bob"))
    vpods = {"alice": {**ALICE, "vlan": 111}, "bob": BOB}
    there = held(alice=machines(1, 4), bob=machines(5, 6))
    for only in (None, ["alice"]):
        switch = planned(vpods, there, on_switch, only).bring_up["tor_switches"]["p-tor"]
        vlans = {vlan["vlan_id"]: vlan.get("state") for vlan in switch["vlans"]}
        assert (vlans[101], vlans[111]) == ("absent", None)
        assert vlans.get(102) is None
        (server,) = (port for port in switch["ports"] if port["name"] == "Ethernet25/1")
        assert server["not_allowed_vlans"] == ["101-102", "999"]


def test_before_anything_is_touched_the_whole_desired_state_is_known() -> None:
    plan = planned({"alice": GONE}, held(alice=machines(1, 4)))
    assert ports(plan.wanted["tor_switches"]["p-tor"])["Ethernet25/1"] == 999
    assert "Ethernet25/1" not in ports(plan.bring_up["tor_switches"]["p-tor"])


def test_a_former_vlan_on_the_switch_leaves_nothing_to_do_twice() -> None:
    on_switch = seen(_25=(101, "vpod-alice"), _32=(91, "vpod-bob"))
    plan = planned({"alice": GONE, "bob": BOB}, held(alice=machines(1, 4), bob=machines(5, 6)), on_switch)
    (server,) = (port for port in plan.teardown["tor_switches"]["p-tor"]["ports"] if port["name"] == "Ethernet25/1")
    assert server["not_allowed_vlans"] == ["91", "101-102"]
    assert "Ethernet25/1" not in ports(plan.bring_up["tor_switches"]["p-tor"])


def test_a_vpod_that_goes_takes_its_former_vlan_with_it() -> None:
    plan = planned({"alice": GONE}, held(alice=machines(1, 4)), seen(_25=(101, "vpod-alice"), _32=(91, "vpod-alice")))
    gone = [vlan["vlan_id"] for vlan in plan.teardown["tor_switches"]["p-tor"]["vlans"] if "state" in vlan]
    assert gone == [101, 91]
