# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a switch from its look: what the module says on the same switch, and refuses as it does."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.ipu.pod.plugins.module_utils._look.switch import look_at
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._tor.options import ARGUMENT_SPEC
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.module_options import typed
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.switch_steps import cabling_of, switch_steps
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.roce import REFERENCE
from tests.support.in_memory.switch import InProcessSwitch

SETTINGS: dict[str, Any] = {
    "tor_switch_state": "merged",
    "tor_switch_scope": {},
    "tor_switch_checks": {},
    "tor_switch_confirm_within": 120,
}
PORTS = [{"name": "Et9/1", "mode": "access", "vlan": 101}]
DECLARED: dict[str, Any] = {"vlans": [{"vlan_id": 101, "name": "vpod-alice"}], "ports": PORTS, "qos": None}
MAC = {"mac": "0c:42:a1:00:00:01", "port": "Ethernet9/1"}


@pytest.fixture
def switch() -> InProcessSwitch:
    return InProcessSwitch()


def look_of(switch: InProcessSwitch) -> dict[str, Any]:
    parts = look_at(switch.send, "here", lambda: switch.seconds)
    return {"host": "p-tor", "outcome": "answered", "message": "", "settings": SETTINGS, "parts": parts}


def test_the_steps_are_those_of_the_module(switch: InProcessSwitch) -> None:
    steps = switch_steps(DECLARED, SETTINGS, look_of(switch))
    assert [(step.kind, step.name) for step in steps] == [("vlan", "101"), ("port", "Ethernet9/1")]
    assert steps == list(switch.change(**DECLARED, check_mode=True).steps)
    switch.change(**DECLARED)
    assert switch_steps(DECLARED, SETTINGS, look_of(switch)) == []


def test_a_management_switch_has_neither_quality_of_service_nor_a_canary(switch: InProcessSwitch) -> None:
    options = {"vlans": DECLARED["vlans"], "ports": PORTS}
    assert len(switch_steps(options, SETTINGS, look_of(switch))) == 2


def test_the_canary_comes_first(switch: InProcessSwitch) -> None:
    ports = [*PORTS, {"name": "Et10/1", "mode": "access", "vlan": 101}]
    steps = switch_steps({**DECLARED, "ports": ports, "canary": ["Et10/1"]}, SETTINGS, look_of(switch))
    assert [step.name for step in steps] == ["101", "Ethernet10/1", "Ethernet9/1"]


def test_the_variables_of_the_role_count(switch: InProcessSwitch) -> None:
    switch.configure("vlan 150", "name old")
    settings = {**SETTINGS, "tor_switch_state": "overridden", "tor_switch_scope": {"vlans": ["100-199"]}}
    steps = switch_steps(DECLARED, settings, look_of(switch))
    assert ("remove", "vlan", "150") in [(step.action, step.kind, step.name) for step in steps]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tor_switch_confirm_within": 9}, "confirm_within: 9 seconds is no useful commit timer; give 10 to 3600"),
        ({"tor_switch_checks": {"settle_within": 120}}, "checks.settle_within: 120 seconds do not fit"),
        ({"tor_switch_state": "gathered"}, "tor_switch: state is 'gathered'; it can be merged, replaced, overridden"),
        ({"tor_switch_scope": {"vlans": [1]}}, "scope: it says what state overridden may clear"),
        ({"tor_switch_checks": {"lldap": True}}, "there is no option lldap"),
    ],
)
def test_variables_that_the_module_refuses_are_refused(
    switch: InProcessSwitch, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(Refused, match=message):
        switch_steps(DECLARED, {**SETTINGS, **settings}, look_of(switch))


def test_what_does_not_fit_the_switch_is_refused(switch: InProcessSwitch) -> None:
    with pytest.raises(Refused, match="Ethernet9/1: VLAN 101 is not on the switch"):
        switch_steps({**DECLARED, "vlans": []}, SETTINGS, look_of(switch))


def test_a_switch_that_somebody_else_changes_is_refused_only_if_it_has_to_change(switch: InProcessSwitch) -> None:
    switch.type("configure session joe", "vlan 9")
    assert switch_steps({"vlans": [], "ports": []}, SETTINGS, look_of(switch)) == []
    with pytest.raises(Refused) as by_module:
        switch.change(**DECLARED, check_mode=True)
    with pytest.raises(Refused) as by_look:
        switch_steps(DECLARED, SETTINGS, look_of(switch))
    assert str(by_look.value) == str(by_module.value)
    assert "joe (pending)" in str(by_look.value)


def test_a_session_left_over_stands_in_nobodys_way(switch: InProcessSwitch) -> None:
    switch.seconds = 2_000_000_000.0
    switch.type("configure session ipu-pod_tester_there_1_20250131T120000Z", "vlan 9")
    look = look_of(switch)
    assert look["parts"]["sessions"] == {
        "busy": {},
        "left_over": ["ipu-pod_tester_there_1_20250131T120000Z"],
        "timer": None,
    }
    assert switch_steps(DECLARED, SETTINGS, look) == list(switch.change(**DECLARED, check_mode=True).steps)


def test_earlier_steps_count_as_carried_out(switch: InProcessSwitch) -> None:
    switch.change(**DECLARED)
    look = look_of(switch)
    torn_down = {"vlans": [{"vlan_id": 101, "state": "absent"}, {"vlan_id": 9}], "ports": [{**PORTS[0], "vlan": 9}]}
    down = switch_steps(torn_down, SETTINGS, look)
    assert [(step.action, step.kind, step.name) for step in down] == [
        ("create", "vlan", "9"),
        ("update", "port", "Ethernet9/1"),
        ("remove", "vlan", "101"),
    ]
    up = switch_steps(DECLARED, SETTINGS, look, down)
    assert [(step.action, step.kind, step.name) for step in up] == [
        ("create", "vlan", "101"),
        ("update", "port", "Ethernet9/1"),
    ]
    assert switch_steps(torn_down, SETTINGS, look, down) == []


@pytest.mark.parametrize("name", ["running_config", "sessions"])
def test_a_part_that_was_not_read_is_refused_with_the_reason(switch: InProcessSwitch, name: str) -> None:
    look = look_of(switch)
    look["parts"][name] = {"message": "the switch could not be asked: timed out"}
    with pytest.raises(Refused, match="the switch could not be asked: timed out"):
        switch_steps(DECLARED, SETTINGS, look)


def test_the_cabling_is_that_of_tor_info(switch: InProcessSwitch) -> None:
    switch.observe(macs=[MAC])
    cables = [
        {"port": "Et9/1", "device": "p-ipum1", "mac": "0c42.a100.0001"},
        {"port": "Et10/1", "device": "p-ipum2", "mac": None},
    ]
    found = cabling_of(look_of(switch), cables)
    assert [(each["port"], each["verdict"]) for each in found["cabling"]] == [
        ("Ethernet9/1", "right"),
        ("Ethernet10/1", "missing"),
    ]
    assert found["table"][1] == "Ethernet9/1   p-ipum1   p-ipum1  right"


def test_what_is_learned_at_a_channel_counts_for_its_ports(switch: InProcessSwitch) -> None:
    switch.configure("interface Port-Channel7", "interface Ethernet9/1", "channel-group 7 mode active")
    look = look_of(switch)
    look["parts"]["info"]["macs"] = {"Port-Channel7": [{"mac": MAC["mac"], "vlan": 1}]}
    (found,) = cabling_of(look, [{"port": "Et9/1", "device": "p-ipum1", "mac": MAC["mac"]}])["cabling"]
    assert found["verdict"] == "right"


def test_options_become_what_ansible_makes_of_them() -> None:
    given = {
        "vlans": [{"vlan_id": "101"}, {"vlan_id": 102, "name": 7, "state": "absent"}],
        "ports": [{"name": "Et9/1", "mode": "trunk", "allowed_vlans": [101, "200-203"], "enabled": "yes"}],
        "qos": {**REFERENCE, "watchdog": {"timeout": 1, "polling_interval": "0.1"}},
        "checks": {"settle_within": "5"},
    }
    by_ansible = ArgumentSpecValidator(ARGUMENT_SPEC).validate(given)
    assert by_ansible.error_messages == []
    assert typed({"type": "dict", "options": ARGUMENT_SPEC}, given, "tor_switch") == by_ansible.validated_parameters


class Refusing(InProcessSwitch):
    """A switch that cannot be asked some things, or does not answer."""

    silent = ""

    def send(self, commands: Any, output: str) -> list[str]:
        if self.silent in commands:
            self.requests.append(list(commands))
            raise DeviceError("the switch could not be asked: timed out")
        return super().send(commands, output)


def test_a_look_without_counters_costs_what_it_has_to() -> None:
    switch = InProcessSwitch()
    switch.unknown = ["show qos interfaces ecn counters queue"]
    parts = look_of(switch)["parts"]
    # Beside the one with which the connection begins.
    assert len(switch.requests) == 5
    assert parts["info"]["ecn_marks"] is None
    assert parts["info"]["pause_frames"] is not None


@pytest.mark.parametrize(
    ("command", "lost"),
    [
        ("show configuration sessions detail", ["sessions", "release"]),
        ("show lldp neighbors", ["info"]),
        ("show spanning-tree blockedports", ["status"]),
    ],
)
def test_what_a_switch_refuses_costs_only_the_part_that_needs_it(command: str, lost: list[str]) -> None:
    switch = InProcessSwitch()
    switch.unknown = [command]
    parts = look_of(switch)["parts"]
    assert [name for name, part in parts.items() if part.keys() == {"message"}] == lost
    assert parts[lost[0]] == {"message": f"Invalid input: {command}"}


def test_a_switch_that_falls_silent_is_not_asked_again() -> None:
    switch = Refusing()
    switch.silent = "show vlan"
    parts = look_of(switch)["parts"]
    assert [name for name, part in parts.items() if part.keys() == {"message"}] == [
        "info",
        "status",
        "sessions",
        "release",
    ]
    assert parts["info"] == {"message": "the switch could not be asked: timed out"}
    assert len(switch.requests) == 2


def test_a_switch_that_is_silent_from_the_first_has_not_been_looked_at() -> None:
    switch = Refusing()
    switch.silent = "show running-config"
    with pytest.raises(DeviceError, match="timed out"):
        look_of(switch)
    assert len(switch.requests) == 1


@pytest.mark.parametrize("release", ["4.22.0F", "4.28.3M", "4.34.1F"])
def test_the_commit_timer_is_reported_in_seconds(release: str) -> None:
    switch = InProcessSwitch(release=release)
    switch.type("configure session joe", "vlan 9", "commit timer 00:05:00")
    sessions = look_of(switch)["parts"]["sessions"]
    switch.type("configure session joe abort")
    assert sessions["busy"] == {"joe": "pendingCommitTimer"}
    assert 290 < sessions["timer"] <= 300


def test_a_look_has_no_secret_and_keeps_what_people_call_things(switch: InProcessSwitch) -> None:
    named = ["vlan 7", "name key", "interface Ethernet9/1", "description the secret port", "service-profile auth"]
    switch.configure("qos profile auth", "username joe secret sha512 $6$abc", *named)
    look = look_of(switch)
    assert "$6$abc" not in str(look)
    assert "username joe secret ..." in look["parts"]["running_config"]["text"]
    (port,) = [port for port in look["parts"]["gathered"]["ports"] if port["name"] == "Ethernet9/1"]
    assert (port["description"], port["qos_profile"]) == ("the secret port", "auth")
    assert {"vlan_id": 7, "name": "key", "vni": 0} in look["parts"]["gathered"]["vlans"]
