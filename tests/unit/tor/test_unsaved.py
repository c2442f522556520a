# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings in force and not saved: ours is saved by the next run, and nothing of others ever is."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from ansible_collections.ipu.pod.plugins.module_utils._tor.unsaved import Unsaved, startup_of, unsaved
from tests.support.in_memory.switch import SESSION, InProcessSwitch, Killed

VLANS = [{"vlan_id": 101, "name": "vpod-alice"}]
PORTS = [{"name": f"Et{number}/1", "mode": "access", "vlan": 101} for number in (9, 10)]
DECLARED: dict[str, Any] = {"vlans": VLANS, "ports": PORTS}
OURS = ["vlan 101", "port Ethernet9/1", "port Ethernet10/1"]
TRIAL = ["interface Ethernet30/1", "switchport access vlan 7", "ntp server 192.0.2.1"]
SAVES = [("update", "startup_config", "startup-config")]
SAVE_REQUEST = ["copy running-config startup-config", "show running-config", "show startup-config"]


@pytest.fixture
def switch() -> InProcessSwitch:
    """A switch on which a run was killed after it had confirmed its change, and before it saved it."""
    switch = InProcessSwitch("configure", "vlan 7")
    switch.dies_at = 7
    with pytest.raises(Killed):
        switch.change(**DECLARED, session=f"{SESSION}_canary")
    switch.dies_at = 0
    assert "vlan 101" in switch.running
    assert "vlan 101" not in switch.startup
    return switch


def steps_of(outcome: Any) -> list[tuple[str, str, str]]:
    return [(step.action, step.kind, step.name) for step in outcome.steps]


def left_on(switch: InProcessSwitch, declared: Any = None) -> Unsaved:
    wanted = declare(**(declared or DECLARED))
    return unsaved(wanted, parse(switch.running), startup_of(switch.startup))


def test_what_was_not_saved_is_a_step_and_saved(switch: InProcessSwitch) -> None:
    predicted = switch.change(**DECLARED, check_mode=True)
    asked = len(switch.requests)
    outcome = switch.change(**DECLARED)
    assert outcome.failure is None
    assert steps_of(outcome) == SAVES
    assert outcome.steps[0].reason == f"in force, but not saved, and lost at the next reload: {', '.join(OURS)}"
    assert predicted.result() == outcome.result()
    assert len(switch.requests) == asked + 4
    switch.reload()
    assert "switchport access vlan 101" in switch.running
    assert not switch.change(**DECLARED).changed


def test_what_is_changed_besides_is_saved_with_it(switch: InProcessSwitch) -> None:
    more = {**DECLARED, "vlans": [*VLANS, {"vlan_id": 102}]}
    predicted = switch.change(**more, check_mode=True)
    outcome = switch.change(**more)
    assert [step.kind for step in outcome.steps] == ["vlan", "startup_config"]
    assert predicted.result() == outcome.result()
    assert switch.startup == switch.running
    assert not switch.change(**more).changed


def test_lines_of_others_are_never_saved_and_shown_by_their_headers(switch: InProcessSwitch) -> None:
    startup = switch.startup
    switch.configure(*TRIAL, "username joe secret sha512 s3cret")
    outcome = switch.change(**DECLARED)
    assert (outcome.steps, outcome.failure) == ([], None)
    left = left_on(switch)
    assert left.ours == OURS
    assert set(left.foreign) == {"interface Ethernet30/1", "ntp server ...", "username joe ..."}
    assert "lines of others, which are not saved either:" in left.problem
    assert "s3cret" not in left.problem
    assert "7" not in left.problem.split("either: ")[1]
    changed = switch.change([*VLANS, {"vlan_id": 102}], PORTS)
    assert changed.failure is None
    assert "102" in parse(switch.running).vlans
    assert switch.startup == startup


def test_lines_that_others_took_away_are_theirs_too(switch: InProcessSwitch) -> None:
    switch.configure("no vlan 7")
    assert left_on(switch).foreign == ["vlan 7"]
    assert switch.change(**DECLARED).steps == []


def test_what_nobody_declared_of_our_port_is_no_line_of_ours(switch: InProcessSwitch) -> None:
    """A port that somebody has shut for an hour is not shut for good."""
    switch.configure("interface Ethernet9/1", "shutdown")
    assert left_on(switch).foreign == ["interface Ethernet9/1"]
    assert switch.change(**DECLARED).steps == []


@pytest.mark.parametrize(("added", "is_ours"), [("102", True), ("7", False)])
def test_a_vlan_that_a_trunk_keeps_is_whose_the_vlan_is(added: str, is_ours: bool) -> None:
    switch = InProcessSwitch("configure", "vlan 7,101,102")
    trunk = {"name": "Et25/1", "mode": "trunk", "allowed_vlans": ["101"]}
    declared = {"vlans": [*VLANS, {"vlan_id": 102}], "ports": [trunk]}
    switch.change(**declared)
    switch.configure("interface Ethernet25/1", f"switchport trunk allowed vlan add {added}")
    assert left_on(switch, declared).foreign == ([] if is_ours else ["interface Ethernet25/1"])


def test_lines_of_others_alone_are_no_matter_of_ours(switch: InProcessSwitch) -> None:
    switch.change(**DECLARED)
    switch.configure(*TRIAL)
    assert switch.change(**DECLARED).steps == []
    assert left_on(switch).ours == []
    assert left_on(switch).problem == ""


def test_a_drift_that_a_reload_would_undo_is_no_unsaved_change(switch: InProcessSwitch) -> None:
    switch.change(**DECLARED)
    switch.configure("interface Ethernet9/1", "switchport access vlan 1")
    assert left_on(switch) == Unsaved([], [])
    assert steps_of(switch.change(**DECLARED)) == [("update", "port", "Ethernet9/1")]
    assert switch.startup == switch.running


def test_a_removal_that_was_not_saved_is_ours(switch: InProcessSwitch) -> None:
    switch.change(**DECLARED)
    gone = {"vlans": [{"vlan_id": 101, "name": "vpod-alice", "state": "absent"}], "ports": []}
    gone["ports"] = [{**port, "vlan": 1} for port in PORTS]
    switch.dies_at = len(switch.requests) + 7
    with pytest.raises(Killed):
        switch.change(**gone)
    switch.dies_at = 0
    assert "vlan 101" not in switch.running
    assert set(left_on(switch, gone).ours) == set(OURS)
    assert steps_of(switch.change(**gone)) == SAVES
    assert switch.startup == switch.running


def test_what_is_ours_beside_the_declared_part_may_be_saved(switch: InProcessSwitch) -> None:
    part = {"vlans": [{"vlan_id": 102}], "ports": []}
    assert set(left_on(switch, part).foreign) == {"vlan 101", "interface Ethernet9/1", "interface Ethernet10/1"}
    assert switch.change(**part, owned={"vlans": [*VLANS, *part["vlans"]], "ports": PORTS}).failure is None
    assert "102" in parse(switch.running).vlans
    assert switch.startup == switch.running


def test_lines_of_others_that_come_between_confirmation_and_saving() -> None:
    switch = InProcessSwitch()
    startup = switch.startup
    # The request that confirms also reads.
    once = iter([lambda: switch.configure(*TRIAL)])
    switch.meanwhile = {"show vlan": lambda: next(once, lambda: None)() if len(switch.requests) == 5 else None}
    outcome = switch.change(**DECLARED)
    assert outcome.failure is None
    assert "ntp server 192.0.2.1" in switch.running
    assert switch.startup == startup
    assert "ntp server ..." in left_on(switch).foreign


def test_lines_of_others_that_come_before_saving_alone(switch: InProcessSwitch) -> None:
    startup = switch.startup
    switch.meanwhile = {"show configuration sessions": lambda: switch.configure(*TRIAL)}
    outcome = switch.change(**DECLARED)
    assert "which are not saved either: ntp server ..., interface Ethernet30/1; ask" in str(outcome.failure)
    assert switch.startup == startup
    assert not outcome.changed


@pytest.mark.parametrize("is_committed", [False, True])
def test_nothing_is_saved_while_somebody_else_changes_the_switch(switch: InProcessSwitch, is_committed: bool) -> None:
    """A reload during a commit timer would else bring what nobody has confirmed."""
    switch.type("configure session joe", *(["vlan 101", "name other", "commit timer 00:01:00"] if is_committed else []))
    if is_committed:
        # Ours is changed back on the running switch, as far as the run sees.
        switch.configure("vlan 101", "name vpod-alice")
    with pytest.raises(Refused, match="another configuration session is open on the switch: joe"):
        switch.change(**DECLARED)
    assert "vlan 101" not in switch.startup


def test_saving_that_fails_says_so(switch: InProcessSwitch) -> None:
    switch.unknown = ["copy running-config startup-config"]
    outcome = switch.change(**DECLARED)
    assert str(outcome.failure).startswith(
        "the change is in force, but not saved, and lost at the next reload: Invalid"
    )
    assert not outcome.changed
    switch.unknown = []
    assert steps_of(switch.change(**DECLARED)) == SAVES


def test_a_switch_that_does_not_show_its_startup_config_is_changed_and_nothing_saved() -> None:
    switch = InProcessSwitch()
    startup = switch.startup
    switch.unknown = ["show startup-config"]
    assert switch.change(**DECLARED).failure is None
    assert switch.last
    assert switch.last.unsaved().problem == (
        "whether its configuration is saved cannot be told: Invalid input: show startup-config"
    )
    switch.unknown = []
    assert switch.startup == startup
    assert SAVE_REQUEST not in switch.requests


def test_a_startup_config_that_was_written_by_hand(switch: InProcessSwitch) -> None:
    """Without its last line."""
    written = switch.running.replace("\nend\n", "\n")
    assert not written.endswith("end\n")
    assert unsaved(declare(**DECLARED), parse(switch.running), startup_of(written)) == Unsaved()


def test_a_startup_config_that_the_declaration_does_not_fit(switch: InProcessSwitch) -> None:
    lacking = switch.running.replace("interface Ethernet9/1\n   switchport access vlan 101\n!\n", "")
    left = unsaved(declare(**DECLARED), parse(switch.running), startup_of(lacking))
    assert left.unknown.startswith("what is declared does not fit the startup-config: Ethernet9/1: the switch has no")
    assert not left.may_be_saved


def test_only_some_of_many_lines_are_shown() -> None:
    left = Unsaved(["vlan 5"], [f"ntp server 192.0.2.{number} {'x' * 100}" for number in range(9)])
    assert left.problem.endswith("and 5 more")
    assert len(left.problem) < 500
