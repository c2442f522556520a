# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The course of every module: what is reported when all goes well, when a step fails, and when nobody can look."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import (
    DeviceError,
    Refused,
    converge,
    one_by_one,
)
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import (
    CREATE,
    REMOVE,
    UPDATE,
    State,
    Step,
    diff_of,
    predict,
)

WANTED: State = {"vlan": {"101": {"name": "alice"}, "102": {"name": "bob"}, "103": {"name": "carol"}}}


class Device:
    """Holds VLANs, and can be made to fail."""

    def __init__(self, fails_at: str = "", deaf: bool = False, dies: bool = False) -> None:
        self.state: State = {"vlan": {}}
        self.fails_at, self.deaf, self.dies = fails_at, deaf, dies
        self.reads = 0

    def read(self) -> State:
        self.reads += 1
        if self.dies and self.reads > 1:
            raise DeviceError("no route to switch")
        return {"vlan": dict(self.state["vlan"])}

    def carry_out(self, step: Step) -> None:
        if step.name == self.fails_at:
            raise DeviceError("out of VLANs")
        if not self.deaf:
            self.state = predict(self.state, [step])

    def run(self, check_mode: bool = False) -> dict[str, Any]:
        return converge(self.read, plan, one_by_one(self.carry_out), check_mode).result()


def plan(actual: State) -> list[Step]:
    return [
        Step(CREATE, "vlan", name, "is not there", after=fields)
        for name, fields in WANTED["vlan"].items()
        if name not in actual["vlan"]
    ]


def names(steps: list[dict[str, str]]) -> list[str]:
    return [step["name"] for step in steps]


def test_apply_reads_twice_and_returns_what_was_read() -> None:
    device = Device()
    result = device.run()
    assert (result["changed"], result["before"], result["after"]) == (True, {"vlan": {}}, WANTED)
    assert (names(result["plan"]), device.reads) == (["101", "102", "103"], 2)


def test_check_mode_predicts_the_same_and_touches_nothing() -> None:
    device = Device()
    predicted = device.run(check_mode=True)
    assert (device.state, device.reads) == ({"vlan": {}}, 1)
    assert predicted == device.run()


def test_nothing_to_do_reads_once() -> None:
    device = Device()
    device.run()
    device.reads = 0
    assert (device.run()["changed"], device.reads) == (False, 1)


def test_a_failed_step_is_accounted_for() -> None:
    result = Device(fails_at="102").run()
    assert names(result["done"]) == ["101"]
    assert (result["failed_step"]["name"], result["failed_step"]["error"]) == ("102", "out of VLANs")
    assert names(result["not_tried"]) == ["103"]
    assert (result["changed"], result["after"]) == (True, {"vlan": {"101": {"name": "alice"}}})


def test_a_failure_before_anything_was_done_is_no_change() -> None:
    assert Device(fails_at="101").run()["changed"] is False


def test_a_device_that_says_yes_and_does_nothing_is_found_out() -> None:
    result = Device(deaf=True).run()
    assert result["failed_step"]["error"] == "vlan 101 is still not as wanted after the change: is not there"
    assert result["changed"] is False


def test_a_device_that_dies_leaves_after_unknown() -> None:
    result = Device(dies=True).run()
    assert result["after"] is None
    assert result["changed"] is True
    assert "could not be read again: no route to switch" in result["failed_step"]["error"]


def test_a_refusal_comes_before_anything_is_touched() -> None:
    device = Device()

    def refuse(_actual: State) -> list[Step]:
        raise Refused("vlans[0].vlan_id: 0 is no VLAN; use 2 to 4094")

    with pytest.raises(Refused):
        converge(device.read, refuse, one_by_one(device.carry_out), check_mode=False)
    assert device.state == {"vlan": {}}


def test_the_diff_holds_only_the_fields_that_differ() -> None:
    steps = [
        Step(UPDATE, "port", "a", "", before={"mtu": 1500, "mode": "access"}, after={"mtu": 9214, "mode": "access"}),
        Step(REMOVE, "port", "b", "", before={"mtu": 1500}),
        Step(CREATE, "port", "c", "", after={"mtu": 9214}),
    ]
    assert diff_of(steps) == {
        "before": {"port": {"a": {"mtu": 1500}, "b": {"mtu": 1500}}},
        "after": {"port": {"a": {"mtu": 9214}, "c": {"mtu": 9214}}},
    }
