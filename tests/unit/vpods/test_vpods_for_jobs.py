# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""vPODs whose allocations are those of Slurm's jobs, through their life: these allocations are never touched."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import not_ours, vpods_view
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from tests.support.vpods_of_a_pod import ALICE, JOBS, document, held, machines, planned, seen
from tests.unit.vpods.test_changes import ports
from tests.unit.vpods.test_interruptions import IDLE, refused

GONE = {**JOBS, "state": "absent"}
OWN = {name: words for name, words in JOBS.items() if name != "allocation"}
# Its four ports and the server's in its VLAN.
UP = {f"_{number}": (110, "vpod-jobs") for number in (21, 22, 23, 24, 29)}
OPS: dict[str, list[str]] = {"ops": []}


def names(entities: Any, kind: str) -> list[str]:
    return [each["name"] for each in entities[kind]]


def test_all_layers_come_up_but_no_allocation_and_no_partition() -> None:
    plan = planned({"jobs": JOBS}, held())
    controller = plan.bring_up["vipu_controllers"]["v"]
    assert controller["allocations"] == controller["partitions"] == []
    assert controller["users"] == [{"name": "ops", "allocations": []}]
    wanted = ports(plan.bring_up["tor_switches"]["p-tor"])
    assert {name for name, vlan in wanted.items() if vlan == 110} == {f"Ethernet{n}/1" for n in (21, 22, 23, 24, 29)}
    server = plan.bring_up["poplar_servers"]["p-poplar3"]
    assert (server["owner"], server["vipu"]["user"], server["ipuof"]["partitions"]) == ("vpod jobs", "ops", [])
    assert list(server["peers"]) == machines(13, 16)
    assert not any(plan.teardown.values())


def test_with_jobs_in_it_nothing_changes_and_nobody_is_interrupted() -> None:
    there = held({"p7": "c7"}, {**OPS, "j7": ["c7"]}, c7=machines(13, 14))
    plan = planned({"jobs": JOBS}, there, seen(**UP))
    assert plan.changes["jobs"].kind == "keep"
    assert not any(plan.teardown.values())
    assert plan.impact == []
    listed = not_ours(plan, {})
    assert {(each["kind"], each["name"]) for each in listed} == {
        ("allocation", "c7"),
        ("partition", "p7"),
        ("user", "j7"),
    }
    assert {each["owner"] for each in listed} == {"named as Slurm names what it makes for a job"}


def test_a_user_of_it_may_have_an_allocation_elsewhere() -> None:
    plan = planned({"jobs": JOBS, "alice": {**ALICE, "users": ["ops"]}}, held())
    assert plan.bring_up["vipu_controllers"]["v"]["users"] == [{"name": "ops", "allocations": ["alice"]}]


def test_alone_it_is_about_its_own_devices_and_users() -> None:
    plan = planned({"jobs": JOBS, "alice": ALICE}, held(alice=machines(1, 4)), seen(**UP), only=["jobs"])
    wanted = plan.bring_up
    assert list(plan.changes) == ["jobs"]
    assert set(ports(wanted["tor_switches"]["p-tor"])) == {f"Ethernet{n}/1" for n in (21, 22, 23, 24, 29)}
    assert names(wanted["vipu_controllers"]["v"], "users") == ["ops"]
    assert list(wanted["poplar_servers"]) == ["p-poplar3"]


def test_it_keeps_its_place_when_the_run_is_about_another() -> None:
    whole = {**JOBS, "ipus": 32, "ipu_machines": machines(1, 8)}
    plan = planned({"jobs": whole, "alice": {**ALICE, "ipus": 32}}, held(), only=["alice"])
    assert plan.changes["alice"].after == tuple(machines(9, 16))
    assert names(plan.bring_up["vipu_controllers"]["v"], "users") == ["alice"]


def test_it_grows_beside_running_jobs() -> None:
    larger = {**JOBS, "ipus": 32, "ipu_machines": machines(9, 16)}
    plan = planned({"jobs": larger}, held(users=OPS, c7=machines(13, 14)), seen(**UP))
    assert refused(plan) == []
    assert not any(plan.teardown.values())
    assert ports(plan.bring_up["tor_switches"]["p-tor"])["Ethernet17/1"] == 110


def test_it_shrinks_when_no_job_has_what_it_leaves() -> None:
    smaller = {**JOBS, "ipus": 8, "ipu_machines": machines(13, 14)}
    plan = planned({"jobs": smaller}, held(users=OPS, c7=machines(13, 14)), seen(**UP), only=["jobs"])
    assert refused(plan) == []
    (sentence,) = refused(plan, {"p-poplar3": ["Slurm job 7 of ann"]})
    assert "p-ipum15 is to leave VLAN 110 of vPOD jobs for VLAN 999" in sentence
    assert refused(plan, {"p-poplar3": ["Slurm job 7 of ann"]}, allowed=["jobs"]) == []
    assert ports(plan.bring_up["tor_switches"]["p-tor"])["Ethernet23/1"] == 999


@pytest.mark.parametrize(
    "words",
    [
        {"ipus": 8, "ipu_machines": machines(13, 14)},
        {"ipu_machines": machines(9, 12)},
        {"state": "absent"},
        {"allocation": "own", "ipu_machines": machines(1, 4)},
    ],
)
@pytest.mark.parametrize("allowed", [[], ["jobs"]])
@pytest.mark.parametrize("uses", [IDLE, {"p-poplar3": ["Slurm job 7 of ann"]}])
def test_a_job_that_has_what_it_leaves_ends_first_whatever_may_be_interrupted(
    words: Any, allowed: Any, uses: Any
) -> None:
    plan = planned(
        {"jobs": {**JOBS, **words}}, held({"p7": "c7"}, OPS, c7=machines(15, 16)), seen(**UP), allowed=allowed
    )
    (sentence,) = refused(plan, uses, allowed)
    assert "p-ipum15 is to leave VLAN 110 of vPOD jobs for VLAN 999; p-ipum16 is" in sentence
    assert sentence.endswith(
        "; there Slurm's jobs have allocations, which nobody else removes: c7; end these jobs first"
    )
    going = plan.teardown["vipu_controllers"].get("v", {})
    assert not going or going["allocations"] == going["partitions"] == []


def test_another_vlan_may_be_told_although_jobs_run() -> None:
    plan = planned({"jobs": {**JOBS, "vlan": 111}}, held(users=OPS, c7=machines(15, 16)), seen(**UP))
    busy = {"p-poplar3": ["Slurm job 7 of ann"]}
    assert len(refused(plan, busy)) == 1
    assert refused(plan, busy, allowed=["jobs"]) == []


def test_when_it_goes_its_ports_server_vlan_and_users_go() -> None:
    there = held(users={**OPS, "root": []}, alice=machines(1, 4))
    there["v"]["users"]["root"]["admin"] = True
    gone = {**GONE, "users": ["ops", "root", "nobody"]}
    for only in (None, ["jobs"]):
        plan = planned({"jobs": gone, "alice": ALICE}, there, seen(**UP), only=only)
        assert names(plan.teardown["vipu_controllers"]["v"], "users") == ["ops"]
        switch = plan.bring_up["tor_switches"]["p-tor"]
        assert {n: vlan for n, vlan in ports(switch).items() if n[8:10] in ("21", "22", "23", "24", "29")} == {
            f"Ethernet{n}/1": 999 for n in (21, 22, 23, 24, 29)
        }
        assert {vlan["vlan_id"]: vlan.get("state") for vlan in switch["vlans"]}[110] == "absent"
        assert plan.bring_up["poplar_servers"]["p-poplar3"]["vipu"] is None
        assert refused(plan) == []
    down = seen(_21=(999, "quarantine"))
    again = planned({"jobs": gone}, held(alice=machines(1, 4)), down)
    assert not any(again.teardown.values())
    assert refused(again, {}) == []


def test_its_pins_go_to_rest_also_where_the_switch_does_not_say_whose_they_are() -> None:
    plan = planned({"jobs": GONE, "alice": ALICE}, held(alice=machines(13, 16)), only=["jobs"])
    assert set(ports(plan.bring_up["tor_switches"]["p-tor"])) == {"Ethernet29/1"}
    plan = planned({"jobs": GONE}, held(), only=["jobs"])
    assert set(ports(plan.bring_up["tor_switches"]["p-tor"])) == {f"Ethernet{n}/1" for n in (21, 22, 23, 24, 29)}


def test_a_user_whom_another_vpod_has_stays() -> None:
    other = {**JOBS, "vlan": 111, "poplar_servers": [], "ipu_machines": machines(1, 4)}
    for only in (None, ["jobs"]):
        plan = planned({"jobs": GONE, "other": other}, held(users=OPS), only=only)
        assert plan.teardown["vipu_controllers"] == {}


def test_an_allocation_of_its_own_goes_when_jobs_are_to_have_theirs() -> None:
    there = held({"train": "jobs", "slurm_4": "jobs"}, {"ops": ["jobs"]}, jobs=machines(13, 16))
    plan = planned({"jobs": JOBS}, there, seen(**UP))
    change = plan.changes["jobs"]
    assert (change.kind, change.goes_down) == ("release", True)
    going = plan.teardown["vipu_controllers"]["v"]
    assert [names(going, kind) for kind in ("users", "partitions", "allocations")] == [
        ["ops"],
        ["train", "slurm_4"],
        ["jobs"],
    ]
    assert ports(plan.teardown["tor_switches"].get("p-tor", {"ports": []})) == {}
    assert plan.bring_up["vipu_controllers"]["v"]["allocations"] == []
    assert refused(plan) == [
        "vPOD jobs is to leave its allocation (p-ipum13, p-ipum14, p-ipum15, p-ipum16) to Slurm's jobs; user ops is to "
        "have other vPODs than jobs, and so another access key; that would end what runs there: partition train, "
        "partition slurm_4, the access key of user ops; end it first, or say with -e "
        '\'{"vpods_interrupt": ["jobs"]}\' that it may'
    ]
    assert refused(plan, allowed=["jobs"]) == []


def test_it_gets_an_allocation_of_its_own_when_no_job_is_left() -> None:
    plan = planned({"jobs": OWN}, held(users=OPS), seen(**UP))
    assert plan.changes["jobs"].kind == "create"
    going = plan.teardown["vipu_controllers"]["v"]
    assert (names(going, "users"), names(going, "allocations")) == (["ops"], [])
    assert refused(plan) == []
    with pytest.raises(DeclarationError, match=r"'p-ipum13' belongs to c7 \(.*; pin a free one, or end the job"):
        planned({"jobs": OWN}, held(users=OPS, c7=machines(13, 13)), seen(**UP))


def test_who_has_the_allocation_is_said_where_the_vpods_stand() -> None:
    (_, row) = vpods_view({"steps": [], "findings": []}, parse_declaration(document({"jobs": JOBS})), None).lines
    assert [cell.strip() for cell in row.split("  ") if cell] == [
        "jobs",
        "by jobs",
        *["done"] * 3,
        "by jobs",
        "done",
    ]
