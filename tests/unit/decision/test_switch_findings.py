# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that keep ports and VLANs of a switch from working: each, made on the simulated switch, is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._look.switch import look_at
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.finding import Finding
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.switch_findings import switch_findings
from ansible_collections.ipu.pod.plugins.plugin_utils._decision.switch_steps import switch_steps
from tests.support.in_memory.pod import SWITCH_SETTINGS
from tests.support.in_memory.switch import InProcessSwitch

MACHINE, SERVER, UPLINK = "Ethernet9/1", "Ethernet25/1", "Ethernet1/1"
PORTS: list[dict[str, Any]] = [
    {"name": MACHINE, "owner": "vpod alice", "mode": "access", "vlan": 101},
    {"name": SERVER, "owner": "vpod alice", "mode": "trunk", "native_vlan": 101, "allowed_vlans": ["101", "200"]},
    {"name": UPLINK, "owner": "pod", "mode": "trunk", "allowed_vlans": ["1-4094"]},
]
VLANS: list[dict[str, Any]] = [{"vlan_id": 101, "name": "vpod-alice"}, {"vlan_id": 200, "name": "storage"}]
# Of a second change.
AGAIN = "ipu-pod_tester_here_2_20250131T120000Z"
ROLES = {MACHINE: "ipu_machine", SERVER: "poplar_server", UPLINK: "uplink"}


@pytest.fixture
def switch() -> Iterator[InProcessSwitch]:
    """A switch as declared."""
    there = InProcessSwitch()
    there.change(VLANS, PORTS)
    yield there
    there.switch.close()


def options(*ports: dict[str, Any], vlans: Any = VLANS) -> dict[str, Any]:
    """The declared settings, with ports of these names otherwise."""
    by_name = {port["name"]: port for port in [*PORTS, *ports]}
    return {"vlans": vlans, "ports": list(by_name.values()), "roles": ROLES}


def found_on(switch: InProcessSwitch, declared: Any = None) -> list[Finding]:
    """The findings beside the steps that are due."""
    parts = look_at(switch.send, "here", lambda: switch.seconds)
    look = {"host": "p-tor", "outcome": "answered", "message": "", "settings": SWITCH_SETTINGS, "parts": parts}
    wanted = declared or options()
    return switch_findings(wanted, look, switch_steps(wanted, SWITCH_SETTINGS, look))


def brief(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(each.kind, each.name, each.finding) for each in findings]


def test_a_switch_as_declared_has_none(switch: InProcessSwitch) -> None:
    assert found_on(switch) == []


def test_a_port_that_somebody_has_shut_is_found_and_not_opened(switch: InProcessSwitch) -> None:
    switch.configure(f"interface {SERVER}", "shutdown")
    (found,) = found_on(switch)
    assert brief([found]) == [("port", SERVER, f"port {SERVER} (vpod alice) is shut down")]
    assert found.remedy == (
        "give the port `enabled: true` in pods.yml, and the next run opens it, or `enabled: false` where it is to stay "
        "so"
    )


@pytest.mark.parametrize("enabled", [True, False])
def test_a_port_that_is_declared_open_or_shut_is_a_step_or_nothing(switch: InProcessSwitch, enabled: bool) -> None:
    switch.configure(f"interface {SERVER}", "shutdown", "end", "write")
    declared = options({**PORTS[1], "enabled": enabled})
    assert found_on(switch, declared) == []
    steps = switch.change(declared["vlans"], declared["ports"], session=AGAIN).steps
    assert [(step.name, (step.after or {})["enabled"]) for step in steps] == ([(SERVER, True)] if enabled else [])


@pytest.mark.parametrize(
    ("ports", "words"),
    [
        (PORTS, {"state": "merged"}),
        (PORTS, {"state": "replaced"}),
        (PORTS[:1], {"state": "overridden", "scope": {"ports": [SERVER]}}),
    ],
)
def test_no_state_of_the_module_opens_a_port_unasked(switch: InProcessSwitch, ports: Any, words: Any) -> None:
    switch.configure(f"interface {SERVER}", "shutdown", f"interface {MACHINE}", "description other")
    assert switch.change(VLANS, [{**ports[0], "description": "its own"}, *ports[1:]], session=AGAIN, **words).changed
    assert parse(switch.running).ports[SERVER]["enabled"] is False


def test_a_port_that_is_err_disabled_is_found_whatever_else_is_due(switch: InProcessSwitch) -> None:
    switch.observe(errdisabled={SERVER: "bpduguard"})
    (found,) = found_on(switch)
    assert brief([found]) == [("port", SERVER, f"port {SERVER} (vpod alice) is err-disabled")]
    assert found.remedy.startswith("`show interfaces status errdisabled` on the switch says why; ")
    assert found_on(switch, options({**PORTS[1], "description": "other"})) == [found]


def test_a_vlan_that_is_suspended_is_found_once_and_not_at_every_port(switch: InProcessSwitch) -> None:
    switch.configure("vlan 101", "state suspend")
    (found,) = found_on(switch)
    assert brief([found]) == [("vlan", "101", "VLAN 101 is suspended, so no port carries it")]
    assert found.remedy == "ask who has done that, then enter `state active` below `vlan 101` on the switch"


def test_a_port_that_spanning_tree_blocks_is_found_unless_it_is_an_uplink(switch: InProcessSwitch) -> None:
    switch.observe(blocked={"MST0": [UPLINK]})
    assert found_on(switch) == []
    switch.observe(blocked={"MST0": [UPLINK, SERVER], "MST2": [SERVER]})
    (found,) = found_on(switch)
    assert brief([found]) == [
        ("port", SERVER, f"port {SERVER} (vpod alice) is blocked by spanning tree (MST0, MST2)"),
    ]


def test_a_vlan_that_is_allowed_on_a_trunk_and_not_active_there_is_found(switch: InProcessSwitch) -> None:
    switch.configure("vlan 101", "trunk group peers", f"interface {UPLINK}", "switchport trunk group peers")
    (found,) = found_on(switch)
    assert brief([found]) == [
        ("port", SERVER, f"port {SERVER} (vpod alice) carries VLAN 101 by its configuration only"),
    ]
    assert found.remedy.startswith("compare `show vlan 101` on the switch")


def test_what_a_step_puts_right_is_not_found(switch: InProcessSwitch) -> None:
    switch.configure("no vlan 200", f"interface {SERVER}", "switchport trunk allowed vlan 7")
    assert found_on(switch) == []


@pytest.mark.parametrize("down", [{"unplugged": [SERVER]}, {"unplugged": [MACHINE]}])
def test_a_machine_that_is_off_is_nothing_of_the_switch(switch: InProcessSwitch, down: Any) -> None:
    switch.observe(**down)
    assert found_on(switch) == []


def test_a_spare_port_and_one_of_somebody_else_may_be_shut(switch: InProcessSwitch) -> None:
    switch.configure(*(line for port in ("Ethernet30/1", "Ethernet31/1") for line in (f"interface {port}", "shutdown")))
    spare = {"name": "Ethernet30/1", "owner": "pod", "mode": "access", "vlan": 200}
    external = {"name": "Ethernet31/1", "owner": "external"}
    declared = options(spare, external)
    assert brief(found_on(switch, declared)) == [("port", "Ethernet30/1", "port Ethernet30/1 (pod) is shut down")]
    assert found_on(switch, {**declared, "roles": {**ROLES, "Ethernet30/1": "spare"}}) == []


def test_a_channel_carries_the_vlans_for_its_members(switch: InProcessSwitch) -> None:
    member = {"name": SERVER, "owner": "vpod alice", "channel_group": 5}
    channel = {**PORTS[1], "name": "Port-Channel5"}
    declared = options(member, channel)
    assert switch.change(declared["vlans"], declared["ports"], session=AGAIN).changed
    assert found_on(switch, declared) == []
    switch.configure("vlan 200", "trunk group peers")
    assert [each.name for each in found_on(switch, declared)] == ["Ethernet1/1", "Port-Channel5"]
    switch.observe(errdisabled={SERVER: "lacp"})
    assert [each.name for each in found_on(switch, declared)] == [SERVER, "Ethernet1/1"]


@pytest.mark.parametrize("part", ["status", "running_config"])
def test_a_part_that_was_not_read_is_refused_with_the_reason(switch: InProcessSwitch, part: str) -> None:
    parts = {**look_at(switch.send, "here", lambda: switch.seconds), part: {"message": "timed out"}}
    with pytest.raises(Refused, match="timed out"):
        switch_findings(options(), {"message": "", "parts": parts}, ())
