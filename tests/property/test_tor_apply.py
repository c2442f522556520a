# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random declarations on the simulated switch with random configurations: check mode tells the truth, and so on."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.gathered import gathered
from ansible_collections.ipu.pod.plugins.module_utils._tor.plan import plan
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from tests.property.tor_configurations import CONFIGURATIONS, DECLARATIONS, FOREIGN_BLOCKS, PORTS
from tests.support.in_memory.switch import InProcessSwitch

RELEASES = st.sampled_from(["4.22.0F", "4.28.3M", "4.34.1F"])
WANTED_PAIRS = 200


def test_random_declarations_on_random_switches() -> None:
    applied = 0

    @settings(max_examples=350, phases=[Phase.reuse, Phase.generate], suppress_health_check=[HealthCheck.too_slow])
    @given(CONFIGURATIONS, DECLARATIONS, RELEASES)
    def one(configuration: list[str], declared: dict[str, Any], release: str) -> None:
        nonlocal applied
        if applied < WANTED_PAIRS and check(InProcessSwitch(*entered(configuration), release=release), declared):
            applied += 1

    one()
    assert applied == WANTED_PAIRS


def entered(configuration: list[str]) -> list[str]:
    return ["configure", *configuration]


def check(switch: InProcessSwitch, declared: dict[str, Any]) -> bool:
    """Apply a declaration, and look at everything that has to hold; False if it was refused."""
    before, foreign = switch.running, foreign_blocks(switch, declared)
    try:
        predicted = switch.change(**declared, check_mode=True)
    except Refused as refusal:
        event(f"refused: {str(refusal)[:60]}")
        assert switch.running == before
        return False
    assert switch.running == before
    outcome = switch.change(**declared)
    event(f"{declared.get('state', 'merged')}, {'changed' if outcome.changed else 'no change'}")
    assert outcome.failure is None
    assert predicted.result() == outcome.result()
    assert foreign_blocks(switch, declared) == foreign
    assert switch.sessions == {}
    if outcome.changed:
        assert switch.startup == switch.running
    check_what_the_switch_says(switch, declared)
    again = len(switch.requests)
    assert not switch.change(**declared).changed
    assert len(switch.requests) == again + 1
    running = parse(switch.running)
    for state in ("merged", "replaced"):
        assert plan(declare(**gathered(running), state=state), running) == []
    return True


def foreign_blocks(switch: InProcessSwitch, declared: dict[str, Any]) -> list[str]:
    """The blocks of the running-config that nobody declared."""
    scope = declared.get("scope", {}).get("ports", [])
    ours = {port["name"] for port in declared["ports"] if port.get("owner") != "external"}
    cleared = {name for name in scope if name not in {port["name"] for port in declared["ports"]}}
    foreign = [*FOREIGN_BLOCKS, *(f"interface {name}\n" for name in PORTS if name not in ours | cleared)]
    blocks = [f"{block}\n" for block in switch.running.split("\n!\n")]
    return [block for block in blocks if block.startswith(tuple(foreign))]


def check_what_the_switch_says(switch: InProcessSwitch, declared: dict[str, Any]) -> None:
    """The switch's own tables have what was declared."""
    vlans, ports = map(json.loads, switch.type("show vlan", "show interfaces switchport", output="json"))
    for vlan in declared["vlans"]:
        shown = vlans["vlans"][str(vlan["vlan_id"])]
        assert shown["name"] == vlan.get("name", shown["name"])
    if declared.get("scope", {}).get("vlans") == ["100-199"]:
        wanted = {str(vlan["vlan_id"]) for vlan in declared["vlans"]}
        assert vlans["vlans"].keys() - {"1", "900"} == wanted
    for port in declared["ports"]:
        shown = ports["switchports"][port["name"]]["switchportInfo"]
        if port.get("owner") != "external" and port.get("mode"):
            assert shown["mode"] == port["mode"]
            assert shown["accessVlanId"] == port.get("vlan", shown["accessVlanId"])
            assert shown["trunkingNativeVlanId"] == port.get("native_vlan", shown["trunkingNativeVlanId"])
            assert numbers(",".join(port.get("allowed_vlans", []))) <= numbers(shown["trunkAllowedVlans"])


def numbers(ranges: str) -> set[int]:
    everything = ranges.replace("ALL", "1-4094").replace("NONE", "")
    ends = [item.split("-") for item in everything.split(",") if item]
    return {number for end in ends for number in range(int(end[0]), int(end[-1]) + 1)}
