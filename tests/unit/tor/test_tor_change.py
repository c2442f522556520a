# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A change of a switch from beginning to end, and every way in which it can go wrong."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, Refused
from ansible_collections.ipu.pod.plugins.module_utils._tor.checks import Checks, missing
from ansible_collections.ipu.pod.plugins.module_utils._tor.confirmation import confirm_if_right
from ansible_collections.ipu.pod.plugins.module_utils._tor.expectation import Expectation
from ansible_collections.ipu.pod.plugins.module_utils._tor.observed import Observed
from ansible_collections.ipu.pod.plugins.module_utils._tor.pending import pending_of
from ansible_collections.ipu.pod.plugins.module_utils._tor.secrets import digests
from ansible_collections.ipu.pod.plugins.module_utils._tor.session import save
from ansible_collections.ipu.pod.plugins.module_utils._tor.session_name import Owner
from tests.support.in_memory.switch import SESSION, InProcessSwitch, Killed

VLANS = [{"vlan_id": 101, "name": "vpod-alice"}]
PORTS = [{"name": f"Et{number}/1", "mode": "access", "vlan": 101, "mtu": 9000} for number in range(9, 25)]
DECLARED = {"vlans": VLANS, "ports": PORTS}
NEIGHBOUR = {"device": "ipum1", "port": "rnic0", "mac": "0c:42:a1:00:00:01"}
MAC = {"mac": "0c:42:a1:00:00:01", "port": "Ethernet9/1"}


@pytest.fixture
def switch() -> InProcessSwitch:
    return InProcessSwitch()


def test_fresh_switch_becomes_what_is_declared(switch: InProcessSwitch) -> None:
    outcome = switch.change(**DECLARED)
    assert outcome.failure is None
    section = "interface Ethernet9/1\n   mtu 9000\n   switchport access vlan 101\n"
    assert section in switch.running
    assert "interface Ethernet8/1\n!" in switch.running


def test_change_is_confirmed_and_saved_and_leaves_no_session(switch: InProcessSwitch) -> None:
    switch.change(**DECLARED)
    assert switch.sessions == {}
    assert switch.startup == switch.running


def test_fresh_costs_seven_requests_and_no_change_one(switch: InProcessSwitch) -> None:
    """Beside the one with which the connection begins."""
    switch.change(**DECLARED)
    assert len(switch.requests) == 7
    assert not switch.change(**DECLARED).changed
    assert len(switch.requests) == 8


def test_switch_that_does_not_know_a_command_is_asked_without_it(switch: InProcessSwitch) -> None:
    switch.unknown = ["show priority-flow-control counters"]
    assert switch.change(**DECLARED).failure is None
    asked_after_the_commit = switch.requests[-3]
    assert "show vlan" in asked_after_the_commit
    assert "show priority-flow-control counters" not in asked_after_the_commit


def test_commit_timer_is_what_was_declared(switch: InProcessSwitch) -> None:
    switch.change(**DECLARED, confirm_within=125)
    assert [line for request in switch.requests for line in request if "timer" in line] == ["commit timer 00:02:05"]


@pytest.mark.parametrize("seconds", [9, 3601])
def test_useless_commit_timer_is_refused(switch: InProcessSwitch, seconds: int) -> None:
    with pytest.raises(Refused, match=f"confirm_within: {seconds} seconds .* give 10 to 3600"):
        switch.change(**DECLARED, confirm_within=seconds)
    assert switch.requests == []


def test_checks_that_outlast_the_timer_are_refused(switch: InProcessSwitch) -> None:
    with pytest.raises(Refused, match=r"checks.settle_within: 20 seconds do not fit .*; give 0 to 19, or"):
        switch.change(**DECLARED, confirm_within=20, checks=Checks(settle_within=20))


def test_check_mode_predicts_the_change_and_only_reads(switch: InProcessSwitch) -> None:
    predicted = switch.change(**DECLARED, check_mode=True)
    assert all(command.startswith("show ") for request in switch.requests for command in request)
    assert predicted.result() == switch.change(**DECLARED).result()


def test_only_what_is_declared_is_reported(switch: InProcessSwitch) -> None:
    outcome = switch.change(VLANS, PORTS[:1])
    assert outcome.before == {"vlan": {}, "port": {"Ethernet9/1": outcome.before["port"]["Ethernet9/1"]}}


def test_the_diff_of_the_switch_itself_is_kept_without_secrets(switch: InProcessSwitch) -> None:
    switch.configure("username joe secret sha512 s3cret", "vlan 100")
    switch.change([{"vlan_id": 99, "name": "first"}])
    assert switch.last
    (diff,) = switch.last.session_diffs
    assert "+vlan 99" in diff
    assert "s3cret" not in diff


def test_external_port_is_kept_whatever_is_declared_about_it(switch: InProcessSwitch) -> None:
    outcome = switch.change(VLANS, [{"name": "Et9/1", "owner": "external", "mode": "trunk", "enabled": False}])
    assert [step.name for step in outcome.steps] == ["101"]


@pytest.mark.parametrize("check_mode", [False, True])
def test_open_session_of_somebody_else_is_respected(switch: InProcessSwitch, check_mode: bool) -> None:
    switch.type("configure session joe")
    with pytest.raises(Refused, match=r"another configuration session is open on the switch: joe \(pending\); commit"):
        switch.change(**DECLARED, check_mode=check_mode)
    assert switch.sessions == {"joe": "pending"}


@pytest.mark.parametrize("release", ["4.28.3M", "4.33.1F"])
def test_running_commit_timer_of_somebody_else_is_respected(release: str) -> None:
    switch = InProcessSwitch(release=release)
    switch.type("configure session joe", "vlan 7", "commit timer 00:01:00")
    with pytest.raises(Refused, match=r"joe \(pendingCommitTimer\)"):
        switch.change(**DECLARED)


def test_open_session_does_not_matter_where_nothing_changes(switch: InProcessSwitch) -> None:
    switch.change(**DECLARED)
    switch.type("configure session joe")
    assert not switch.change(**DECLARED).changed


def left_over(host: str = "here", pid: int = 2**22 + 1, age: float = 0.0) -> str:
    """The name of a session of ours; no process has that number."""
    return Owner("root", host, pid, int(time.time() - age)).session


def at_now(switch: InProcessSwitch) -> InProcessSwitch:
    switch.seconds = time.time()
    return switch


def test_session_of_a_run_that_is_gone_is_reclaimed(switch: InProcessSwitch) -> None:
    switch.type(f"configure session {left_over()}", "vlan 999")
    assert at_now(switch).change(**DECLARED).failure is None
    assert switch.sessions == {}
    assert "vlan 999" not in switch.running


def test_old_session_of_another_host_is_reclaimed(switch: InProcessSwitch) -> None:
    switch.type(f"configure session {left_over('elsewhere', age=3700)}")
    assert at_now(switch).change(**DECLARED).failure is None


@pytest.mark.parametrize("name", [left_over(pid=os.getpid()), left_over("elsewhere")], ids=["alive", "elsewhere"])
def test_session_of_a_run_that_may_live_is_respected(switch: InProcessSwitch, name: str) -> None:
    switch.type(f"configure session {name}")
    with pytest.raises(Refused, match=name):
        at_now(switch).change(**DECLARED)


def test_commit_timer_of_a_run_of_ours_is_respected_even_if_its_process_is_gone(switch: InProcessSwitch) -> None:
    name = left_over()
    switch.type(f"configure session {name}", "vlan 7", "commit timer 00:01:00")
    with pytest.raises(Refused, match=name):
        at_now(switch).change(**DECLARED)


def failed(switch: InProcessSwitch, **more: Any) -> Outcome:
    """Run a change that fails, and make sure that the switch is as before or will be when the timer ends."""
    before, startup = switch.running, switch.startup
    outcome = switch.change(**{**DECLARED, **more})
    assert outcome.failure is not None
    switch.expire()
    switch.meanwhile = {}
    assert switch.running == before
    assert switch.startup == startup
    return outcome


@pytest.mark.parametrize("line", ["interface Ethernet24/1", "mtu 9000", "commit timer 00:02:00"])
def test_refused_line_leaves_no_session(switch: InProcessSwitch, line: str) -> None:
    switch.unknown = [line]
    outcome = failed(switch)
    assert str(outcome.failure).startswith(f"the change was not confirmed: Invalid input: {line}; session {SESSION} ")
    assert (switch.sessions, outcome.changed) == ({}, False)


def test_refused_confirmation_is_undone(switch: InProcessSwitch) -> None:
    switch.unknown = [f"configure session {SESSION} commit"]
    outcome = failed(switch)
    assert str(outcome.failure) == (
        f"the change was not confirmed: Invalid input: configure session {SESSION} commit; "
        f"session {SESSION} was aborted, which takes back what is not confirmed"
    )
    assert (switch.sessions, outcome.changed) == ({}, False)


def test_switch_out_of_reach_after_the_commit_goes_back_by_itself(switch: InProcessSwitch) -> None:
    switch.meanwhile = {"commit timer": switch.lose}
    outcome = failed(switch)
    assert "the switch undoes it by itself within 120 s" in str(outcome.failure)
    assert outcome.after is None


def test_switch_that_takes_no_new_connection_after_the_commit_is_taken_back(switch: InProcessSwitch) -> None:
    answers = iter([True, False])
    outcome = failed(switch, reachable=lambda: next(answers))
    assert "the switch takes no new connection any more" in str(outcome.failure)


def test_switch_that_took_no_new_connection_before_is_not_expected_to(switch: InProcessSwitch) -> None:
    assert switch.change(**DECLARED, reachable=lambda: False).failure is None


def test_lines_of_somebody_else_meanwhile_prevent_confirmation(switch: InProcessSwitch) -> None:
    switch.meanwhile = {"commit timer": lambda: switch.configure("ntp server 192.0.2.1", "snmp-server community x")}
    outcome = failed(switch)
    message = "lines that are not part of it changed meanwhile: 0 vanished, new are: ntp server ... | snmp-server"
    assert f"{message} community ...;" in str(outcome.failure)


def test_change_that_the_switch_did_not_keep_prevents_confirmation(switch: InProcessSwitch) -> None:
    switch.meanwhile = {"commit timer": lambda: switch.configure("interface Ethernet9/1", "mtu 8000")}
    assert "port Ethernet9/1: mtu is 8000, wanted 9000" in str(failed(switch).failure)


def test_change_that_could_not_be_saved_says_so(switch: InProcessSwitch) -> None:
    switch.unknown = ["copy running-config startup-config"]
    outcome = switch.change(**DECLARED)
    message = "the change is in force, but not saved, and lost at the next reload: Invalid input: copy"
    assert str(outcome.failure).startswith(message)
    assert outcome.changed
    assert len(outcome.result()["done"]) == len(outcome.steps)


def test_unreachable_switch_is_an_error_before_anything(switch: InProcessSwitch) -> None:
    switch.lose()
    with pytest.raises(DeviceError, match="no route to host"):
        switch.change(**DECLARED)


def test_neighbour_that_does_not_come_back_prevents_confirmation(switch: InProcessSwitch) -> None:
    switch.observe(neighbours={"Ethernet9/1": NEIGHBOUR})
    switch.meanwhile = {"commit timer": switch.observe}
    outcome = failed(switch, checks=Checks(settle_within=30))
    assert "neighbour ipum1 is not seen at Ethernet9/1 any more" in str(outcome.failure)
    assert switch.slept == 30


def test_neighbour_that_comes_back_in_time_is_waited_for(switch: InProcessSwitch) -> None:
    switch.observe(neighbours={"Ethernet9/1": NEIGHBOUR})

    def sleep_until_seen() -> None:
        if switch.slept == 3:
            switch.observe(neighbours={"Ethernet9/1": NEIGHBOUR})

    switch.meanwhile = {"commit timer": switch.observe, "show lldp neighbors": sleep_until_seen}
    assert switch.change(**DECLARED, checks=Checks(settle_within=30)).failure is None
    assert switch.slept == 4


@pytest.mark.parametrize(
    ("wish", "what"),
    [({"enabled": False}, {"lldp": True}), ({"lldp": False}, {"lldp": True}), ({"mtu": 9000}, {"lldp": False})],
    ids=["the port is disabled", "LLDP is off", "nobody wants to know"],
)
def test_neighbour_that_is_not_missed(switch: InProcessSwitch, wish: Any, what: Any) -> None:
    switch.observe(neighbours={"Ethernet9/1": NEIGHBOUR})
    switch.meanwhile = {"commit timer": switch.observe}
    assert switch.change((), [{"name": "Et9/1", **wish}], checks=Checks(settle_within=0, **what)).failure is None


def test_a_tenant_who_stops_lldp_does_not_undo_changes_of_other_ports(switch: InProcessSwitch) -> None:
    switch.observe(neighbours={"Ethernet9/1": NEIGHBOUR})
    switch.meanwhile = {"commit timer": switch.observe}
    assert switch.change(VLANS, PORTS[1:], checks=Checks(settle_within=0)).failure is None


def test_a_neighbour_behind_a_changed_port_channel_has_to_come_back(switch: InProcessSwitch) -> None:
    switch.configure("interface Port-Channel9", "interface Ethernet9/1", "channel-group 9 mode active")
    switch.type("copy running-config startup-config")
    switch.observe(neighbours={"Ethernet9/1": NEIGHBOUR})
    switch.meanwhile = {"commit timer": switch.observe}
    outcome = failed(switch, ports=[{"name": "Po9", "mtu": 9000}], checks=Checks(settle_within=0))
    assert "neighbour ipum1 is not seen at Ethernet9/1 any more" in str(outcome.failure)


def test_a_neighbour_at_the_management_port_has_to_come_back(switch: InProcessSwitch) -> None:
    switch.observe(neighbours={"Management1": NEIGHBOUR})
    switch.meanwhile = {"commit timer": switch.observe}
    outcome = failed(switch, checks=Checks(settle_within=0))
    assert "neighbour ipum1 is not seen at Management1 any more" in str(outcome.failure)


def test_address_that_is_silent_at_a_changed_port_prevents_confirmation(switch: InProcessSwitch) -> None:
    switch.observe(macs=[MAC])
    switch.meanwhile = {"commit timer": switch.observe}
    assert "address 0c:42:a1:00:00:01 is not seen at Ethernet9/1 any more" in str(failed(switch).failure)


def test_address_that_speaks_in_the_new_vlan_is_right(switch: InProcessSwitch) -> None:
    switch.observe(macs=[MAC])
    assert switch.change(**DECLARED).failure is None


@pytest.mark.parametrize(("native", "is_missed"), [({}, False), ({"native_vlan": 101}, True)])
def test_address_that_was_untagged_is_missed_at_a_trunk_that_takes_untagged_frames(
    switch: InProcessSwitch, native: dict[str, int], is_missed: bool
) -> None:
    switch.observe(macs=[MAC])
    switch.meanwhile = {"commit timer": switch.observe}
    uplink = {"name": "Et9/1", "mode": "trunk", "allowed_vlans": ["101"], **native}
    outcome = switch.change(VLANS, [uplink], checks=Checks(settle_within=0))
    assert (outcome.failure is not None) == is_missed


def test_address_that_aged_at_an_untouched_port_is_not_missed(switch: InProcessSwitch) -> None:
    switch.observe(macs=[{**MAC, "port": "Ethernet8/1"}])
    switch.meanwhile = {"commit timer": switch.observe}
    assert switch.change(**DECLARED).failure is None


def test_address_is_looked_for_at_the_channel_that_its_port_joins(switch: InProcessSwitch) -> None:
    switch.observe(macs=[MAC])
    channel = [{"name": "Po5", "mode": "access", "vlan": 101}, {"name": "Et9/1", "channel_group": 5}]
    assert switch.change(VLANS, channel).failure is None
    assert "channel-group 5 mode active" in switch.running


def test_port_that_stops_forwarding_prevents_confirmation(switch: InProcessSwitch) -> None:
    switch.meanwhile = {"commit timer": lambda: switch.observe(unplugged=["Ethernet9/1"])}
    assert "Ethernet9/1 does not forward in VLAN 101" in str(failed(switch).failure)


def test_a_tenant_who_takes_a_link_down_does_not_undo_changes_of_other_ports(switch: InProcessSwitch) -> None:
    switch.observe(macs=[{**MAC, "port": "Ethernet8/1"}])
    switch.meanwhile = {"commit timer": lambda: switch.observe(unplugged=["Ethernet8/1"])}
    assert switch.change(**DECLARED, checks=Checks(settle_within=0)).failure is None


def test_an_untouched_port_that_has_its_link_and_leaves_its_vlan_is_missed() -> None:
    nothing: dict[str, Any] = {"neighbours": [], "members": {}, "at_most": {}, "errors": {}, "pauses": {}, "time": 0.0}
    mac = {"mac": "0c:42:a1:00:00:01", "at": ["Ethernet8/1"], "vlan": "101"}
    expected = Expectation(macs=[mac], with_link={"Ethernet8/1": ["101"]}, **nothing)
    elsewhere = Observed(vlan_members={"1": ["Ethernet8/1"]})
    assert missing(expected, elsewhere) == "Ethernet8/1 does not forward in VLAN 101"
    assert (
        missing(replace(expected, with_link={}), elsewhere)
        == "address 0c:42:a1:00:00:01 is not seen at Ethernet8/1 any more"
    )
    assert missing(expected, Observed(vlan_members={"1": []})) is None


@pytest.mark.parametrize(("new", "is_refused"), [(10, False), (11, True)])
def test_new_errors_at_a_changed_port(switch: InProcessSwitch, new: int, is_refused: bool) -> None:
    switch.observe(counters={"Ethernet9/1": {"fcsErrors": 100}})
    switch.meanwhile = {"commit timer": lambda: switch.observe(counters={"Ethernet9/1": {"fcsErrors": 100 + new}})}
    outcome = switch.change(**DECLARED)
    assert (outcome.failure is not None) == is_refused
    assert ("Ethernet9/1 has 11 new fcsErrors" in str(outcome.failure)) == is_refused


@pytest.mark.parametrize(("received", "is_refused"), [(10_000, False), (10_011, True)])
def test_pause_storm_at_a_changed_port(switch: InProcessSwitch, received: int, is_refused: bool) -> None:
    switch.observe(counters={"Ethernet9/1": {"rxPause": 5}})

    def ten_seconds_later() -> None:
        switch.seconds += 10
        switch.observe(counters={"Ethernet9/1": {"rxPause": 5 + received}})

    switch.meanwhile = {"commit timer": ten_seconds_later}
    outcome = switch.change(**DECLARED)
    assert (outcome.failure is not None) == is_refused
    assert ("Ethernet9/1 gets 1001 PFC frames a second, a pause storm" in str(outcome.failure)) == is_refused


def confirmed(switch: InProcessSwitch, plain: Any, key: str = "") -> None:
    assert switch.last
    confirm_if_right(switch.send, lambda: True, switch.clock, pending_of(plain), key or switch.last.key)
    save(switch.send)


def test_change_that_waits_for_its_confirmation(switch: InProcessSwitch) -> None:
    assert switch.change(**DECLARED, confirms=False).failure is None
    assert switch.sessions == {SESSION: "pendingCommitTimer"}
    assert switch.startup != switch.running
    assert switch.last
    assert switch.last.pending
    confirmed(switch, switch.last.pending.plain())
    assert switch.sessions == {}
    assert switch.startup == switch.running


def test_pending_change_holds_no_secret(switch: InProcessSwitch) -> None:
    switch.configure("username joe secret sha512 s3cret")
    switch.change(**DECLARED, confirms=False)
    assert switch.last
    assert switch.last.pending
    assert "s3cret" not in str(switch.last.pending.plain())


def test_nobody_can_try_lines_of_others_on_a_pending_change(switch: InProcessSwitch) -> None:
    line = "username joe secret sha512 s3cret"
    switch.configure(line)
    switch.change(**DECLARED, confirms=False)
    assert switch.last
    assert switch.last.pending
    tried = {hashlib.sha256(line.encode()).hexdigest()[:16], *digests([line], ""), *digests([line], "another key")}
    assert tried.isdisjoint(switch.last.pending.foreign)
    assert set(digests([line], switch.last.key)) <= set(switch.last.pending.foreign)
    assert switch.last.key not in f"{switch.last} {switch.last.pending.plain()}"


def test_pending_change_is_confirmed_by_its_own_run_alone(switch: InProcessSwitch) -> None:
    switch.configure("username joe secret sha512 s3cret")
    switch.change(**DECLARED, confirms=False)
    assert switch.last
    assert switch.last.pending
    with pytest.raises(DeviceError, match="lines that are not part of it changed meanwhile"):
        confirmed(switch, switch.last.pending.plain(), key="another key")


def test_pending_change_is_undone_if_something_is_wrong_then(switch: InProcessSwitch) -> None:
    switch.observe(macs=[MAC])
    before = switch.running
    switch.change(**DECLARED, confirms=False)
    assert switch.last
    assert switch.last.pending
    switch.observe()
    with pytest.raises(DeviceError, match="address 0c:42:a1:00:00:01 is not seen"):
        confirmed(switch, switch.last.pending.plain())
    assert switch.running == before


def test_pending_change_that_was_undone_meanwhile_is_not_confirmed(switch: InProcessSwitch) -> None:
    switch.change(**DECLARED, confirms=False)
    assert switch.last
    assert switch.last.pending
    switch.expire()
    with pytest.raises(DeviceError, match="the change was not confirmed: vlan 101: name is None, wanted 'vpod-alice'"):
        confirmed(switch, switch.last.pending.plain())


def test_silence_is_right_only_at_a_port_that_nobody_could_wake(switch: InProcessSwitch) -> None:
    switch.observe(macs=[MAC])
    switch.change(**DECLARED, confirms=False)
    switch.observe()
    assert switch.last
    assert switch.last.pending
    elsewhere = switch.last.pending.without_addresses_at({"Ethernet8/1"})
    with pytest.raises(DeviceError, match="address 0c:42:a1:00:00:01 is not seen at Ethernet9/1 any more"):
        confirmed(switch, elsewhere.plain())
    switch.observe(macs=[MAC])
    switch.change(**DECLARED, confirms=False)
    switch.observe()
    confirmed(switch, switch.last.pending.without_addresses_at({"Ethernet9/1"}).plain())
    assert "switchport access vlan 101" in switch.running


def test_something_else_is_no_pending_change() -> None:
    with pytest.raises(Refused, match="pending: it is not what a call with confirm: false returned"):
        pending_of({"session": "joe"})


def test_canary_is_confirmed_before_the_rest_is_touched(switch: InProcessSwitch) -> None:
    outcome = switch.change(**DECLARED, canary=["Et12/1"])
    assert outcome.failure is None
    assert [step.name for step in outcome.steps[:2]] == ["101", "Ethernet12/1"]
    commits = [request for request in switch.requests if any("commit timer" in line for line in request)]
    assert [sum(line.startswith("interface ") for line in request) for request in commits] == [1, 15]
    assert commits[0][0] == f"configure session {SESSION}_canary"


def test_rest_stays_as_it_was_if_the_canary_dies(switch: InProcessSwitch) -> None:
    switch.observe(macs=[{**MAC, "port": "Ethernet12/1"}])
    switch.meanwhile = {"commit timer": switch.observe}
    outcome = failed(switch, canary=["Et12/1"])
    assert "address 0c:42:a1:00:00:01 is not seen at Ethernet12/1" in str(outcome.failure)
    assert outcome.result()["done"] == []


def test_canary_stays_if_the_rest_fails(switch: InProcessSwitch) -> None:
    switch.unknown = ["interface Ethernet24/1"]
    outcome = switch.change(**DECLARED, canary=["Et12/1"])
    assert [step["name"] for step in outcome.result()["done"]] == ["101", "Ethernet12/1"]
    assert [name for name, port in (outcome.after or {})["port"].items() if port["vlan"] == 101] == ["Ethernet12/1"]
    assert switch.startup == switch.running


@pytest.mark.parametrize("after_the_request", [False, True])
@pytest.mark.parametrize("number", range(1, 8))
def test_run_that_dies_at_any_request_is_followed_by_one_that_converges(
    switch: InProcessSwitch, number: int, after_the_request: bool
) -> None:
    before = switch.running
    switch.dies_at, switch.after_the_request = number, after_the_request
    with pytest.raises(Killed):
        switch.change(**DECLARED, session=left_over())
    switch.expire()
    confirms, undone = 6, switch.running == before
    assert undone == (number < confirms or (number, after_the_request) == (confirms, False))
    assert at_now(switch).change(**DECLARED, session=f"{left_over()}_canary").failure is None
    assert switch.startup == switch.running
    assert not switch.change(**DECLARED).changed
    assert switch.sessions == {}
