# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration: what is accepted, how it is spelled, what is refused and how."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies

from podsim.eos.config import Editor, Node, load, render
from podsim.eos.errors import EosError
from podsim.eos.hardware import empty_config
from podsim.eos.vlan_lists import format_vlans, parse_vlans

PORT = "interface Ethernet9/1"
CLEAN = render(empty_config())


def configured(*commands: str) -> Node:
    root = empty_config()
    editor = Editor(root)
    for command in commands:
        editor.enter(command)
    return root


def added(*commands: str) -> list[str]:
    """The lines that these commands add to an empty configuration, without separators."""
    return [line for line in render(configured(*commands)) if line not in CLEAN]


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


def test_a_member_creates_its_port_channel() -> None:
    assert added(PORT, "channel-group 5 mode active")[0] == "interface Port-Channel5"


@pytest.mark.parametrize(
    ("commands", "refusal"),
    [
        (["frobnicate"], "Invalid input (at token 0: 'frobnicate')"),
        ([PORT, "mtu 67"], "Invalid input (at token 1: '67')"),
        ([PORT, "mtu"], "Incomplete command (at token 0: 'mtu')"),
        ([PORT, "switchport access vlan 4095"], "Invalid input (at token 3: '4095')"),
        ([PORT, "switchport mode trunk now"], "Invalid input (at token 3: 'now')"),
        (["interface Ethernet33/1"], "Invalid input (at token 1: 'Ethernet33/1')"),
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
