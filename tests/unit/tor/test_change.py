# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A change of a switch from beginning to end, and every way in which it can go wrong."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, Refused, converge
from ansible_collections.ipu.pod.plugins.module_utils._tor.change import Change
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from tests.unit.tor.tiny_eos import TinyEos

VLANS = [{"vlan_id": 101, "name": "vpod-alice"}]
PORTS = [{"name": f"Et{number}/1", "mode": "access", "vlan": 101, "mtu": 9000} for number in range(9, 25)]


def change(
    switch: TinyEos, vlans: Any = VLANS, ports: Any = PORTS, check_mode: bool = False, confirm_within: int = 120
) -> Outcome:
    one = Change(declare(vlans, ports), switch.send, "ipu-pod-test", confirm_within)
    return converge(one.read, one.plan, one.apply, check_mode)


@pytest.fixture
def switch() -> TinyEos:
    return TinyEos()


def test_fresh_switch_becomes_what_is_declared(switch: TinyEos) -> None:
    outcome = change(switch)
    assert outcome.failure is None
    assert switch.running.vlans == {101: ("name vpod-alice",)}
    assert list(switch.running.ports["Ethernet9/1"].values()) == ["mtu 9000", "switchport access vlan 101"]
    assert list(switch.running.ports["Ethernet8/1"].values()) == []


def test_change_is_confirmed_and_saved_and_leaves_no_session(switch: TinyEos) -> None:
    change(switch)
    assert (switch.timed, switch.sessions, switch.startup) == (None, {}, switch.running)


def test_fresh_costs_seven_requests_and_no_change_one(switch: TinyEos) -> None:
    """Beside the one with which the connection begins."""
    change(switch)
    assert len(switch.requests) == 7
    assert not change(switch).changed
    assert len(switch.requests) == 8


def test_commit_timer_is_what_was_declared(switch: TinyEos) -> None:
    change(switch, confirm_within=125)
    assert switch.timer == "00:02:05"


@pytest.mark.parametrize("seconds", [9, 3601])
def test_useless_commit_timer_is_refused(switch: TinyEos, seconds: int) -> None:
    with pytest.raises(Refused, match=f"confirm_within: {seconds} seconds .* give 10 to 3600"):
        change(switch, confirm_within=seconds)
    assert switch.requests == []


def test_check_mode_predicts_the_change_and_only_reads(switch: TinyEos) -> None:
    predicted = change(switch, check_mode=True)
    assert all(command.startswith("show ") for request in switch.requests for command in request)
    assert predicted.result() == change(switch).result()


def test_only_what_is_declared_is_reported(switch: TinyEos) -> None:
    outcome = change(switch, ports=PORTS[:1])
    assert outcome.before == {"vlan": {}, "port": {"Ethernet9/1": outcome.before["port"]["Ethernet9/1"]}}


def test_external_port_is_kept_whatever_is_said_about_it(switch: TinyEos) -> None:
    outcome = change(switch, ports=[{"name": "Ethernet9/1", "owner": "external", "mode": "trunk", "enabled": False}])
    assert [step.name for step in outcome.steps] == ["101"]


@pytest.mark.parametrize("check_mode", [False, True])
def test_open_session_of_somebody_else_is_respected(switch: TinyEos, check_mode: bool) -> None:
    switch.send(["configure session joe"], "text")
    with pytest.raises(Refused, match=r"another configuration session is open on the switch: joe \(pending\); commit"):
        change(switch, check_mode=check_mode)
    assert switch.sessions.keys() == {"joe"}


def test_running_commit_timer_of_somebody_else_is_respected(switch: TinyEos) -> None:
    switch.send(["configure session joe", "vlan 7"], "text")
    switch.send(["configure session joe commit timer 00:01:00"], "text")
    with pytest.raises(Refused, match=r"joe \(pendingCommitTimer\)"):
        change(switch)


def test_commit_timer_as_newer_releases_show_it(switch: TinyEos) -> None:
    def send(commands: Any, output: str) -> list[str]:
        if output == "json":
            return ['{"sessions": {}, "commitTimerSessionName": "joe", "commitTimerExpireTime": 4711.0}']
        return switch.send(commands, output)

    one = Change(declare(VLANS, []), send, "ipu-pod-test", 120)
    with pytest.raises(Refused, match="joe"):
        converge(one.read, one.plan, one.apply, check_mode=False)


def test_open_session_does_not_matter_where_nothing_changes(switch: TinyEos) -> None:
    change(switch)
    switch.send(["configure session joe"], "text")
    assert not change(switch).changed


def failed(switch: TinyEos) -> Outcome:
    """Run a change that fails, and make sure that the switch is as before or will be when the timer ends."""
    before = copy.deepcopy(switch.running)
    outcome = change(switch)
    assert outcome.failure is not None
    switch.expire()
    assert switch.running == before
    assert switch.startup == before
    return outcome


@pytest.mark.parametrize("command", ["configure session ipu", "interface Ethernet24/1", "mtu", "commit timer"])
def test_refused_line_leaves_no_session(switch: TinyEos, command: str) -> None:
    switch.refuse = {command + "(?!.*abort)": "Invalid input"}
    outcome = failed(switch)
    assert str(outcome.failure).startswith("the change was not confirmed: Invalid input; session ipu-pod-test ")
    assert switch.sessions == {}
    assert not outcome.changed


def test_refused_confirmation_is_undone(switch: TinyEos) -> None:
    switch.refuse = {"configure session ipu-pod-test commit": "Cannot commit"}
    outcome = failed(switch)
    assert str(outcome.failure) == (
        "the change was not confirmed: Cannot commit; "
        "session ipu-pod-test was aborted, which takes back what is not confirmed"
    )
    assert (switch.sessions, outcome.changed) == ({}, False)


def test_switch_out_of_reach_after_the_commit_goes_back_by_itself(switch: TinyEos) -> None:
    def lose(lost: TinyEos) -> None:
        lost.refuse = {"": "no route to host"}

    switch.meanwhile = {"commit timer": lose}
    outcome = failed(switch)
    assert "the switch undoes it by itself within 120 s" in str(outcome.failure)
    assert outcome.after is None


def test_lines_of_somebody_else_meanwhile_prevent_confirmation(switch: TinyEos) -> None:
    def meddle(changed: TinyEos) -> None:
        changed.running.tail = ["ntp server 192.0.2.1"]

    switch.meanwhile = {"commit timer": meddle}
    assert "lines that are not part of it changed meanwhile: +ntp server 192.0.2.1" in str(failed(switch).failure)


def test_change_that_the_switch_did_not_keep_prevents_confirmation(switch: TinyEos) -> None:
    def forget(changed: TinyEos) -> None:
        changed.running.ports["Ethernet9/1"]["mtu"] = "mtu 1500"

    switch.meanwhile = {"commit timer": forget}
    assert "port Ethernet9/1: mtu is 1500, wanted 9000" in str(failed(switch).failure)


def test_change_that_could_not_be_saved_says_so(switch: TinyEos) -> None:
    switch.refuse = {"copy": "flash is full"}
    outcome = change(switch)
    assert str(outcome.failure) == "the change is in force, but not saved, and lost at the next reload: flash is full"
    assert outcome.changed
    assert len(outcome.result()["done"]) == len(outcome.steps)


def test_unreachable_switch_is_an_error_before_anything(switch: TinyEos) -> None:
    switch.refuse = {"show": "no route to host"}
    with pytest.raises(DeviceError, match="no route to host"):
        change(switch)
