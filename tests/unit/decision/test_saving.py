# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A setting in force and not saved is a step, or a finding where it cannot be saved alone, in every view."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.views import (
    View,
    document_of,
    drift_view,
    plan_view,
    vpods_view,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.run_report import line_of
from tests.support.in_memory.pod import CONTROLLER, PodInMemory, declared, pod
from tests.support.in_memory.switch import InProcessSwitch
from tests.unit.decision.two_vpods import ALICE, ALICE_GOES, BOB, CAROL, VPODS

DECLARATION = declared(VPODS)
TRIAL = ("interface Ethernet31/1", "description trial", "exit", "ntp server 192.0.2.1")


def unsaved(vpods: Any = VPODS, before: Any = None) -> PodInMemory:
    """A pod whose switch would start as before these vPODs: a run was killed when it had confirmed their change."""
    there = pod()
    if before is not None:
        there.carry_out(there.decide(declared(before)))
    switch_of(there).type("copy running-config flash:before")
    there.carry_out(there.decide(declared(vpods)))
    switch_of(there).type("copy flash:before startup-config")
    there.touch(*there.devices)
    return there


def switch_of(there: PodInMemory) -> InProcessSwitch:
    return there.switch.switch


def steps_of(decision: Decision) -> list[tuple[str, str, str]]:
    return [(step["stage"], step["device"], step["name"]) for step in decision.plan.steps]


def views_of(there: PodInMemory, decision: Decision) -> tuple[View, View, View]:
    """Plan, drift, and where the vPODs stand."""
    document = document_of(decision, there.looks(), DECLARATION, "2026-11-21T15:00:00Z", "me@here")
    return (
        plan_view(document, DECLARATION, {}),
        drift_view(document, decision.plan.compared, [], "2026-11-21"),
        vpods_view(document, DECLARATION, None),
    )


def test_what_is_ours_alone_is_one_step_in_every_view_and_then_saved() -> None:
    there = unsaved()
    decision = there.decide(DECLARATION)
    assert (decision.refusals, decision.findings) == ([], [])
    assert steps_of(decision) == [("switches", "p-tor", "startup-config")]
    plan, drift, stand = views_of(there, decision)
    for view in (plan, drift):
        assert "in force, but not saved, and lost at the next reload: vlan 101, vlan 102" in " ".join(
            line.strip() for line in view.lines
        )
    assert drift.exit_code == 2
    assert 'classname="p-tor.startup_config" name="startup-config"' in drift.files["junit.xml"]
    assert [line.split()[:4] for line in stand.lines[1:]] == [[name, "done", "not", "saved"] for name in VPODS]
    assert line_of("p-tor", decision.plan.steps) == "p-tor: startup-config saved false -> true"
    there.carry_out(decision)
    switch_of(there).reload()
    there.touch(*there.devices)
    after = there.decide(DECLARATION)
    assert (after.plan.steps, after.findings) == ([], [])
    assert views_of(there, after)[1].exit_code == 0


def test_lines_of_others_make_it_a_finding_in_every_view_and_are_never_saved() -> None:
    there = unsaved()
    switch_of(there).configure(*TRIAL)
    startup = switch_of(there).startup
    decision = there.decide(DECLARATION)
    assert steps_of(decision) == []
    (found,) = decision.findings
    assert (found["device"], found["kind"], found["name"]) == ("p-tor", "startup_config", "startup-config")
    headers = found["finding"].partition("lines of others, which are not saved either: ")[2]
    assert headers == "ntp server ..., interface Ethernet31/1"
    plan, drift, stand = views_of(there, decision)
    for view in (plan, drift, stand):
        text = " ".join(line.strip() for line in view.lines)
        assert "interface Ethernet31/1" in text
    assert (drift.exit_code, plan.lines[-1]) == (2, "Nothing to do. 1 finding.")
    assert stand.lines[1].split()[:4] == ["alice", "done", "not", "saved"]
    # A run that changes something besides does not save them either.
    carol = declared({**VPODS, "carol": CAROL})
    there.carry_out(there.decide(carol))
    there.touch(*there.devices)
    after = there.decide(carol)
    assert after.plan.steps == []
    assert [each["name"] for each in after.findings] == ["startup-config"]
    assert switch_of(there).startup == startup


def test_a_dry_run_says_that_its_change_will_not_be_saved() -> None:
    there = pod()
    switch_of(there).configure(*TRIAL)
    (found,) = there.decide(DECLARATION).findings
    assert "which are not saved either: ntp server ..., interface Ethernet31/1" in found["finding"]


def test_lines_of_others_alone_are_theirs() -> None:
    there = pod()
    there.carry_out(there.decide(DECLARATION))
    switch_of(there).configure(*TRIAL)
    there.touch(*there.devices)
    decision = there.decide(DECLARATION)
    assert (decision.plan.steps, decision.findings) == ([], [])


def test_a_teardown_that_was_not_saved_is_saved_by_the_next_run() -> None:
    there = unsaved(ALICE_GOES, before=VPODS)
    assert "vpod-alice" in switch_of(there).startup
    decision = there.decide(declared(ALICE_GOES))
    assert steps_of(decision) == [("switches", "p-tor", "startup-config")]
    there.carry_out(decision)
    assert switch_of(there).startup == switch_of(there).running


def test_so_is_a_vlan_that_a_vpod_had_before_it_got_another_number() -> None:
    moved = {"alice": {**ALICE, "vlan": 111}, "bob": BOB}
    there = unsaved(moved, before=VPODS)
    decision = there.decide(declared(moved))
    assert (steps_of(decision), decision.findings) == ([("switches", "p-tor", "startup-config")], [])


def test_a_teardown_and_a_bring_up_save_what_was_not_saved_before_them() -> None:
    """Each of the two changes a part of the switch, and may save all that is ours there."""
    there = unsaved()
    after = declared({"alice": {**ALICE, "state": "absent"}, "bob": BOB, "carol": {**CAROL, "vlan": 103}})
    decision = there.decide(after)
    assert {step[0] for step in steps_of(decision) if step[1] == "p-tor"} == {"switches_down", "switches"}
    assert [step for step in steps_of(decision) if step[2] == "startup-config"] == [
        ("switches_down", "p-tor", "startup-config")
    ]
    there.carry_out(decision)
    assert switch_of(there).startup == switch_of(there).running
    there.touch(*there.devices)
    assert there.decide(after).plan.steps == []


def test_a_run_on_one_vpod_saves_all_that_is_ours() -> None:
    there = unsaved()
    decision = there.decide(DECLARATION, only=["alice"])
    assert steps_of(decision) == [("switches", "p-tor", "startup-config")]
    there.carry_out(decision)
    assert switch_of(there).startup == switch_of(there).running


def test_a_switch_that_does_not_show_it_is_a_finding() -> None:
    there = pod()
    there.carry_out(there.decide(DECLARATION))
    switch_of(there).unknown = ["show startup-config"]
    there.touch(*there.devices)
    (found,) = there.decide(DECLARATION).findings
    assert found["finding"] == "whether its configuration is saved cannot be told: Invalid input: show startup-config"


def test_a_secret_of_others_that_was_changed_and_not_saved() -> None:
    """The look has no secret, and still knows that this one is another one."""
    there = pod()
    switch_of(there).configure("username joe secret sha512 first", "end", "write")
    there.carry_out(there.decide(DECLARATION))
    switch_of(there).configure("username joe secret sha512 second")
    there.touch(*there.devices)
    carol = declared({**VPODS, "carol": CAROL})
    (found,) = there.decide(carol).findings
    assert found["finding"].endswith("which are not saved either: username joe ...")
    there.carry_out(there.decide(carol))
    assert switch_of(there).last.unsaved().problem.split(";")[1] == found["finding"].split(";")[1]  # type: ignore[union-attr]


def test_what_is_not_managed_is_nobodys_finding() -> None:
    there = unsaved()
    found = there.decide(declared(VPODS, managed=["servers", "controller"]))
    assert (steps_of(found), found.findings) == ([], [])
    assert there.decide(DECLARATION, hosts=[CONTROLLER]).findings == []
