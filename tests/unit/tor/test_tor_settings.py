# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every line of a block that EOS shows or takes, in any release, and what it means: one case each."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._tor.setting_type import (
    Setting,
    defaults_of,
    fields_of,
    is_ours,
    lines_between,
)
from ansible_collections.ipu.pod.plugins.module_utils._tor.settings import (
    PORT,
    PROFILE,
    QUEUE,
    WATCHDOG,
    default_traffic_class,
)

ECN = {"minimum_kbytes": 256, "maximum_kbytes": 512, "max_mark_probability": 100, "weight": 0}
WATCH = "priority-flow-control pause watchdog"
THRESHOLDS = "random-detect ecn minimum-threshold 256 kbytes maximum-threshold 512 kbytes"

# Lines of a block, separated by |, and the fields that are then not as in an empty block.
CASES: list[tuple[tuple[Setting, ...], str, dict[str, Any]]] = [
    (PORT, "description pod001-ipum1  RNIC", {"description": "pod001-ipum1  RNIC"}),
    (PORT, "no description", {}),
    (PORT, "mtu 9000", {"mtu": 9000}),
    (PORT, "mtu 9214", {}),
    (PORT, "no mtu", {}),
    (PORT, "shutdown", {"enabled": False}),
    (PORT, "no shutdown", {}),
    (PORT, "switchport access vlan 101", {"vlan": 101}),
    (PORT, "no switchport access vlan", {}),
    (PORT, "switchport trunk native vlan 7", {"native_vlan": 7}),
    (PORT, "no switchport trunk native vlan", {}),
    (PORT, "switchport trunk allowed vlan 100-102,200", {"allowed_vlans": ["100-102", "200"]}),
    (PORT, "switchport trunk allowed vlan 100,101,102,200", {"allowed_vlans": ["100-102", "200"]}),
    (PORT, "switchport trunk allowed vlan none", {"allowed_vlans": []}),
    (PORT, "switchport trunk allowed vlan all", {}),
    (PORT, "no switchport trunk allowed vlan", {}),
    (PORT, "switchport trunk allowed vlan 1-4094", {}),
    (PORT, "switchport mode trunk", {"mode": "trunk"}),
    (PORT, "switchport mode access", {}),
    (PORT, "switchport mode dot1q-tunnel", {"mode": "dot1q-tunnel"}),
    (PORT, "no switchport mode", {}),
    (PORT, "switchport", {}),
    (PORT, "no switchport", {"mode": "routed"}),
    (PORT, "switchport mode trunk|switchport", {"mode": "trunk"}),
    (PORT, "no switchport|switchport mode trunk", {"mode": "routed"}),
    (PORT, "no switchport|no switchport mode", {"mode": "routed"}),
    (PORT, "no switchport|switchport", {}),
    (PORT, "channel-group 5 mode active", {"channel_group": 5, "lacp": "active"}),
    (PORT, "channel-group 5 mode on", {"channel_group": 5, "lacp": "on"}),
    (PORT, "channel-group 5 mode passive", {"channel_group": 5, "lacp": "passive"}),
    (PORT, "no channel-group", {}),
    (PORT, "spanning-tree portfast", {"spanning_tree_edge": True}),
    (PORT, "spanning-tree portfast edge", {"spanning_tree_edge": True}),
    (PORT, "no spanning-tree portfast", {}),
    (PORT, "no lldp transmit|no lldp receive", {"lldp": False}),
    (PORT, "no lldp transmit", {"lldp": "receive"}),
    (PORT, "no lldp receive", {"lldp": "transmit"}),
    (PORT, "lldp transmit|lldp receive", {}),
    (PORT, "service-profile ROCE", {"qos_profile": "ROCE"}),
    (PORT, "no service-profile", {}),
    (PORT, "qos trust dscp", {"qos_trust": "dscp"}),
    (PORT, "qos trust cos", {}),
    (PORT, "no qos trust", {"qos_trust": "none"}),
    (PROFILE, "qos trust dscp", {"trust": "dscp"}),
    (PROFILE, "qos trust cos", {"trust": "cos"}),
    (PROFILE, "no qos trust", {"trust": "none"}),
    (PROFILE, "priority-flow-control on", {"pfc": True}),
    (PROFILE, "priority-flow-control mode on", {"pfc": True}),
    (PROFILE, "no priority-flow-control", {}),
    (PROFILE, "no priority-flow-control mode on", {}),
    (PROFILE, "priority-flow-control priority 4 no-drop|priority-flow-control priority 3 no-drop", {"no_drop": [3, 4]}),
    (PROFILE, "priority-flow-control priority 3 drop", {}),
    (PROFILE, "no priority-flow-control priority 3", {}),
    (PROFILE, WATCH, {"watchdog": True}),
    (PROFILE, f"no {WATCH}", {}),
    (QUEUE, "no priority", {"priority": "none"}),
    (QUEUE, "priority strict", {}),
    (QUEUE, "bandwidth percent 95", {"bandwidth_percent": 95}),
    (QUEUE, "no bandwidth percent", {}),
    (QUEUE, "bandwidth guaranteed 100", {"bandwidth_guaranteed_kbps": 100}),
    (QUEUE, "bandwidth guaranteed 100 kbps", {"bandwidth_guaranteed_kbps": 100}),
    (QUEUE, "no bandwidth guaranteed", {}),
    (QUEUE, f"{THRESHOLDS} max-mark-probability 100 weight 0", {"ecn": ECN}),
    (QUEUE, THRESHOLDS, {"ecn": ECN}),
    (QUEUE, THRESHOLDS.replace("256 kbytes", "256000 bytes").replace("512 kbytes", "512000 bytes"), {"ecn": ECN}),
    (
        QUEUE,
        f"{THRESHOLDS} max-mark-probability 20 weight 3",
        {"ecn": {**ECN, "max_mark_probability": 20, "weight": 3}},
    ),
    (QUEUE, THRESHOLDS.replace("kbytes", "segments"), {"ecn": THRESHOLDS[18:].replace("kbytes", "segments")}),
    (QUEUE, "no random-detect ecn minimum-threshold", {}),
    (WATCHDOG, f"{WATCH} default timeout 0.20", {"timeout": 0.2}),
    (WATCHDOG, f"no {WATCH} default timeout", {}),
    (WATCHDOG, f"{WATCH} default recovery-time 0.2", {"recovery_time": 0.2}),
    (WATCHDOG, f"no {WATCH} default recovery-time", {}),
    (WATCHDOG, f"{WATCH} default polling-interval 0.100", {"polling_interval": 0.1}),
    (WATCHDOG, f"no {WATCH} default polling-interval", {}),
    (WATCHDOG, f"{WATCH} action drop", {"action": "drop"}),
    (WATCHDOG, f"no {WATCH} action", {}),
]

OF_SOMEBODY_ELSE = [
    (PORT, "spanning-tree portfast network"),
    (PORT, "priority-flow-control on"),
    (PORT, "switchport trunk group SERVERS"),
    (PORT, "lacp timer fast"),
    (PROFILE, f"{WATCH} port action drop"),
    (PROFILE, "qos cos 3"),
    (QUEUE, "random-detect ecn count"),
    (QUEUE, "shape rate 50 percent"),
    (WATCHDOG, "priority-flow-control all off"),
]


@pytest.mark.parametrize(("settings", "lines", "fields"), CASES)
def test_lines_are_understood(settings: tuple[Setting, ...], lines: str, fields: dict[str, Any]) -> None:
    assert fields_of(settings, lines.split("|")) == {**defaults_of(settings), **fields}
    assert all(is_ours(settings, line) for line in lines.split("|"))


@pytest.mark.parametrize(("settings", "line"), OF_SOMEBODY_ELSE)
def test_lines_of_somebody_else(settings: tuple[Setting, ...], line: str) -> None:
    assert fields_of(settings, [line]) == defaults_of(settings)
    assert not is_ours(settings, line)


def test_every_pattern_has_a_case() -> None:
    for settings in (PORT, PROFILE, QUEUE, WATCHDOG):
        lines = [line for used, texts, _ in CASES if used is settings for line in texts.split("|")]
        patterns = [pattern for setting in settings for pattern, _ in setting.spellings]
        assert [pattern for pattern in patterns if not any(re.fullmatch(pattern, line) for line in lines)] == []


@pytest.mark.parametrize(("settings", "lines", "fields"), CASES)
def test_what_is_written_is_understood_and_goes_away_again(
    settings: tuple[Setting, ...], lines: str, fields: dict[str, Any]
) -> None:
    """Except for what can be kept but not declared."""
    nothing, something = defaults_of(settings), {**defaults_of(settings), **fields}
    if something in ({**nothing, "mode": "routed"}, {**nothing, "qos_trust": "none"}, {**nothing, "trust": "none"}):
        return
    if isinstance(something.get("ecn"), str) or isinstance(something.get("lldp"), str):
        return
    written = lines_between(settings, nothing, something)
    assert fields_of(settings, written) == something, lines
    cleared = [line.replace("default qos", "no qos") for line in lines_between(settings, something, nothing)]
    assert fields_of(settings, [*written, *cleared]) in (nothing, {**nothing, "trust": "none"})


def test_default_map_of_code_points() -> None:
    """The table of EOS: 0-7 to class 1, 8-15 to class 0, and so on by eight."""
    assert [default_traffic_class(dscp) for dscp in (0, 7, 8, 15, 16, 26, 48, 63)] == [1, 1, 0, 0, 2, 3, 6, 7]
