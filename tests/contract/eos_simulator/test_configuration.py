# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration: what is accepted, how it is spelled, what is refused and how."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies

from podsim.eos.config import Editor, Node, load
from podsim.eos.errors import EosError
from podsim.eos.hardware import DCS_7010T_48, empty_config
from podsim.eos.releases import Release
from podsim.eos.rendering import render
from podsim.eos.vlan_lists import format_vlans, parse_vlans

PORT = "interface Ethernet9/1"
PORT_TIMER = "priority-flow-control pause watchdog port timer"
ECN = "random-detect ecn minimum-threshold"
CLEAN = render(empty_config())


def configured(*commands: str) -> Node:
    root = empty_config()
    editor = Editor(root)
    for command in commands:
        editor.enter(command)
    return root


def added(*commands: str) -> list[str]:
    """The lines that these commands add to an empty configuration, without separators."""
    return [line for line in render(configured(*commands)) if line not in CLEAN and line.strip() != "!"]


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("description  ipum  1", "description ipum  1"),
        ("mtu 9214", "mtu 9214"),
        ("spanning-tree portfast edge", "spanning-tree portfast"),
        ("priority-flow-control mode on", "priority-flow-control on"),
        ("switchport trunk allowed vlan 3,1,2,10", "switchport trunk allowed vlan 1-3,10"),
        ("switchport trunk allowed vlan except 2-4093", "switchport trunk allowed vlan 1,4094"),
        ("switchport trunk allowed vlan none", "switchport trunk allowed vlan none"),
        ("no lldp transmit", "no lldp transmit"),
        ("no switchport", "no switchport"),
        ("channel-group 7 mode active", "channel-group 7 mode active"),
        ("lacp rate fast", "lacp timer fast"),
        ("speed forced 100gfull", "speed forced 100gfull"),
        ("no error-correction encoding", "no error-correction encoding"),
        ("priority-flow-control pause watchdog port action errdisable",) * 2,
        (
            f"{PORT_TIMER} timeout 0.20 polling-interval auto recovery-time 1.0 forced",
            f"{PORT_TIMER} timeout 0.2 polling-interval auto recovery-time 1 forced",
        ),
    ],
)
def test_spelling(typed: str, shown: str) -> None:
    assert f"   {shown}" in added(PORT, typed)


@pytest.mark.parametrize(
    "command",
    [
        *("mtu 1500", "switchport access vlan 1", "switchport mode access", "switchport trunk allowed vlan all"),
        *("switchport trunk allowed vlan 1-4094", "no shutdown", "lldp transmit", "switchport", "no description"),
    ],
)
def test_defaults_are_not_shown(command: str) -> None:
    assert added(PORT, command) == []


def test_allowed_vlans_are_edited() -> None:
    line = "switchport trunk allowed vlan"
    assert added(PORT, f"{line} 10", f"{line} add 11-12,20", f"{line} remove 11") == [f"   {line} 10,12,20"]
    assert added(PORT, f"{line} 10", f"{line} remove 10") == [f"   {line} none"]


def test_interface_names_and_ranges() -> None:
    for name in ("Et9/1", "et9/1", "e9/1", "Ethernet 9/1", "ethernet9/1"):
        assert configured(f"interface {name}", "shutdown").children["interface", "Ethernet9/1"].has("shutdown")
    shut = configured("interface Et9/1-11/1,32/1", "shutdown").blocks("interface")
    assert [block.line.split()[1] for block in shut if block.has("shutdown")] == [
        *("Ethernet9/1", "Ethernet10/1", "Ethernet11/1", "Ethernet32/1")
    ]


def test_vlans_without_settings_share_a_line() -> None:
    commands = ("vlan 10,20-21", "vlan 30", "name storage", "no vlan 20")
    assert added(*commands) == ["vlan 10,21", "vlan 30", "   name storage"]


def test_default_code_point_maps_are_not_shown() -> None:
    assert added("qos map dscp 26 to traffic-class 3", "qos map traffic-class 3 to tx-queue 3") == []
    assert added("qos map dscp 26 to traffic-class 4") == ["qos map dscp 26 to traffic-class 4"]


def test_maps_to_the_same_class_share_a_line() -> None:
    maps = (
        "qos map dscp 8 10 to traffic-class 3",
        "qos map dscp 9 to traffic-class 3",
        "qos map cos 1 to traffic-class 3",
    )
    assert added(*maps) == ["qos map cos 1 to traffic-class 3", "qos map dscp 8 9 10 to traffic-class 3"]
    for removal in ("no qos map dscp 9 10", "default qos map dscp 9 10 to traffic-class 3"):
        assert added(*maps, removal)[1:] == ["qos map dscp 8 to traffic-class 3"]


def test_a_member_creates_its_port_channel_and_is_released_with_it() -> None:
    lines = added(PORT, "channel-group 5 mode active")
    assert lines == ["interface Port-Channel5", "   channel-group 5 mode active"]
    assert added(PORT, "channel-group 5 mode active", "no interface Port-Channel5") == []


def test_one_no_ends_priority_flow_control_and_ecn() -> None:
    on = ("priority-flow-control on", "priority-flow-control priority 3 no-drop")
    assert added(PORT, *on, "no priority-flow-control") == []
    ecn = "random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes"
    queue = ["qos profile ROCE", "uc-tx-queue 3", "bandwidth guaranteed 100"]
    assert added(*queue, ecn, "no random-detect ecn") == [
        "qos profile ROCE",
        "   uc-tx-queue 3",
        "      bandwidth guaranteed 100",
    ]


def test_a_vxlan_interface() -> None:
    lines = ("vxlan source-interface Loopback0", "vxlan vlan 110 vni 10110", "vxlan vlan 10 vni 10010")
    shown = ["interface Vxlan1", "   vxlan source-interface Loopback0", "   vxlan vlan 10 vni 10010"]
    assert added("interface Vxlan1", *lines) == [*shown, "   vxlan vlan 110 vni 10110"]
    assert added("interface Vxlan1", *lines, "vxlan udp-port 4789", "no vxlan vlan 110") == shown


def shown_by(release: str, *commands: str) -> list[str]:
    """The lines that these commands add to the empty configuration of a switch with this release."""
    root = empty_config()
    editor = Editor(root, Release(release))
    for command in commands:
        editor.enter(command)
    return [line.strip() for line in render(root, release=Release(release)) if line not in CLEAN]


@pytest.mark.parametrize(
    ("typed", "release", "shown"),
    [
        ("priority-flow-control mode on", "4.13.7M", "priority-flow-control mode on"),
        ("priority-flow-control mode on", "4.28.3M", "priority-flow-control on"),
        ("lacp rate fast", "4.20.1F", "lacp rate fast"),
        ("lacp rate fast", "4.28.3M", "lacp timer fast"),
        ("lacp timer fast", "4.28.3M", "lacp timer fast"),
        ("spanning-tree portfast", "4.28.3M", "spanning-tree portfast"),
        ("spanning-tree portfast", "4.34.1F", "spanning-tree portfast edge"),
        ("spanning-tree portfast network", "4.34.1F", "spanning-tree portfast network"),
    ],
)
def test_releases_show_their_own_spelling(typed: str, release: str, shown: str) -> None:
    assert shown_by(release, PORT, typed) == [shown]
    assert shown_by(release, PORT, shown) == [shown]
    assert shown_by(release, PORT, typed, f"no {shown}") == []


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        ("priority-flow-control on", "Invalid input (at token 1: 'on')"),
        ("lacp timer fast", "Invalid input (at token 1: 'timer')"),
    ],
)
def test_an_older_release_refuses_the_newer_spelling(command: str, refusal: str) -> None:
    with pytest.raises(EosError) as refused:
        shown_by("4.13.7M", PORT, command)
    assert str(refused.value) == refusal


def test_the_management_switch_has_ports_of_its_own() -> None:
    blocks = [block.line.split()[1] for block in empty_config(DCS_7010T_48).blocks("interface")]
    assert blocks == [*(f"Ethernet{number}" for number in range(1, 53)), "Management1"]


@pytest.mark.parametrize(
    ("commands", "refusal"),
    [
        (["frobnicate"], "Invalid input (at token 0: 'frobnicate')"),
        ([PORT, "mtu 67"], "Invalid input (at token 1: '67')"),
        ([PORT, "mtu"], "Incomplete command (at token 0: 'mtu')"),
        ([PORT, "switchport access vlan 4095"], "Invalid input (at token 3: '4095')"),
        ([PORT, "switchport mode trunk now"], "Invalid input (at token 3: 'now')"),
        (["interface Ethernet33/1"], "Invalid input (at token 1: 'Ethernet33/1')"),
        (["interface Vxlan2"], "Invalid input (at token 1: 'Vxlan2')"),
        (["qos map dscp 26 64 to traffic-class 3"], "Invalid input (at token 3: '26')"),
        (["qos map dscp 26 to traffic-class 8"], "Invalid input (at token 6: '8')"),
        (["qos map traffic-class 7 to tx-queue 6"], "Invalid input (at token 6: '6')"),
        (["qos map traffic-class 3 to uc-tx-queue 3"], "Invalid input (at token 5: 'uc-tx-queue')"),
        ([PORT, "priority-flow-control"], "Incomplete command (at token 0: 'priority-flow-control')"),
        ([PORT, "priority-flow-control priority 8 no-drop"], "Invalid input (at token 2: '8')"),
        ([PORT, "channel-group 0 mode active"], "Invalid input (at token 1: '0')"),
        ([PORT, "channel-group 3 mode auto"], "Invalid input (at token 3: 'auto')"),
        (
            [PORT, "channel-group 3 mode on", "interface Ethernet10/1", "channel-group 3 mode active"],
            "Cannot change mode; remove all members and try again.",
        ),
        (["qos profile P", "uc-tx-queue 8"], "Invalid input (at token 1: '8')"),
        (["qos profile P", "uc-tx-queue 3", "bandwidth percent 101"], "Invalid input (at token 2: '101')"),
        (
            ["qos profile P", "uc-tx-queue 3", f"{ECN} 512 kbytes maximum-threshold 256 kbytes"],
            "Minimum threshold must not be larger than maximum threshold",
        ),
        (
            ["qos profile P", "uc-tx-queue 3", f"{ECN} 1 kbytes maximum-threshold 256 segments"],
            "Minimum and maximum thresholds must have the same unit",
        ),
        (["priority-flow-control pause watchdog default timeout 61"], "Invalid input (at token 5: '61')"),
        (["priority-flow-control pause watchdog default timeout 0.001"], "Invalid input (at token 5: '0.001')"),
        (
            [
                "priority-flow-control pause watchdog default polling-interval 0.2",
                "priority-flow-control pause watchdog default recovery-time 0.2",
            ],
            "polling-interval must be at most half of timeout and recovery-time, 0.1 seconds here",
        ),
        (
            [PORT, f"{PORT_TIMER} timeout 1 polling-interval 1 recovery-time 2"],
            "polling-interval must be at most half of timeout and recovery-time, 0.5 seconds here",
        ),
        (["vlan 20-10"], "Invalid input (at token 1: '20-10')"),
        (["no vlan 1"], "vlan 1 cannot be removed"),
        (["no interface Ethernet9/1"], "interface Ethernet9/1 cannot be removed"),
        (["int Ethernet9/1"], "Invalid input (at token 0: 'int')"),
        (
            [
                "priority-flow-control pause watchdog default timeout 0.20",
                "priority-flow-control pause watchdog default polling-interval 0.11",
            ],
            "polling-interval must be at most half of timeout and recovery-time, 0.1 seconds here",
        ),
    ],
)
def test_refusals(commands: list[str], refusal: str) -> None:
    with pytest.raises(EosError) as refused:
        configured(*commands)
    assert str(refused.value) == refusal


ROCE = """\
qos profile ROCE
   qos trust dscp
   !
   uc-tx-queue 3
      no priority
      bandwidth percent 95
      random-detect ecn minimum-threshold 256 kbytes maximum-threshold 512 kbytes max-mark-probability 100 weight 0
   !
   uc-tx-queue 6
      priority strict
   !
   priority-flow-control on
   priority-flow-control priority 3 no-drop
"""

FOREIGN = """\
username admin privilege 15 role network-admin secret sha512 $6$abc
!
ntp server 10.0.0.1 prefer
!
vlan 711
   name storage
!
interface Ethernet1/1
   description uplink
   no switchport
   ip address 10.1.0.1/31
!
ip access-list MGMT
   10 permit tcp any any eq ssh
   20 deny ip any any
!
router bgp 65001
   router-id 10.255.0.1
   neighbor SPINE peer group
   neighbor 10.1.0.0 peer group SPINE
   !
   vlan 711
      rd auto
      route-target both 711:711
      redistribute learned
   !
   address-family ipv4
      neighbor SPINE activate
!
banner login
No entry.
   !! really
EOF
!
management api http-commands
   no shutdown
   !
   vrf MGMT
      no shutdown
"""


def test_a_lossless_profile_is_kept() -> None:
    assert _without_separators(ROCE.splitlines()) <= set(_round_trip(ROCE))


def test_foreign_blocks_are_kept_word_by_word() -> None:
    rendered = _round_trip(FOREIGN)
    assert _without_separators(FOREIGN.splitlines()) <= set(rendered)
    assert set(rendered) <= {*FOREIGN.splitlines(), *CLEAN}


def test_a_command_leaves_a_kept_block() -> None:
    lines = added("router bgp 65001", "router-id 10.0.0.1", PORT, "description ipum1")
    assert lines == ["   description ipum1", "router bgp 65001", "   router-id 10.0.0.1"]


@given(strategies.frozensets(strategies.integers(1, 4094), min_size=1))
def test_vlan_lists_round_trip(vlans: frozenset[int]) -> None:
    assert parse_vlans(format_vlans(vlans)) == vlans


LINES = [
    *("shutdown", "no shutdown", "mtu 9214", "description x", "switchport mode trunk", "no switchport mode"),
    *(
        "switchport trunk allowed vlan 10",
        "switchport trunk allowed vlan add 20-30",
        "no switchport trunk allowed vlan",
    ),
    *("switchport access vlan 10", "vlan 10", "name a", "no vlan 10", "vlan 11-15", "interface Ethernet10/1", PORT),
    *("channel-group 3 mode active", "priority-flow-control priority 3 no-drop", "interface Vlan10"),
    *(
        "router bgp 65000",
        "neighbor 10.0.0.1 remote-as 1",
        "no router bgp 65000",
        "ip access-list A",
        "permit ip any any",
    ),
]


@given(strategies.lists(strategies.sampled_from(LINES)))
def test_what_is_shown_can_be_loaded_again(commands: list[str]) -> None:
    root = empty_config()
    editor = Editor(root)
    for command in commands:
        try:
            editor.enter(command)
        except EosError:
            continue
    assert _round_trip("\n".join(render(root))) == render(root)


def _round_trip(text: str) -> list[str]:
    """The lines shown after loading a text; loading those gives the same again."""
    root, again = empty_config(), empty_config()
    load(root, text)
    load(again, "\n".join(render(root)))
    assert render(again) == render(root)
    return render(root)


def _without_separators(lines: list[str]) -> set[str]:
    return {line for line in lines if line.strip() != "!"}
