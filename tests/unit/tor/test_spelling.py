# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every spelling of the same thing that EOS has or takes, one case each."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import (
    PORT_FIELDS,
    port_name,
    vlan_ids,
    vlan_ranges,
)

PORT_NAMES = [
    ("Ethernet9/1", "Ethernet9/1"),
    ("Et9/1", "Ethernet9/1"),
    ("eth9/1", "Ethernet9/1"),
    ("ethernet 9/1", "Ethernet9/1"),
    (" ETHERNET09/01 ", "Ethernet9/1"),
    ("Et1", "Ethernet1"),
    ("Ethernet3/12/1", "Ethernet3/12/1"),
    ("Po10", "Port-Channel10"),
    ("port-channel 10", "Port-Channel10"),
]

VLAN_LISTS = [
    ([], []),
    (["101"], ["101"]),
    (["100-102", "200"], ["100-102", "200"]),
    (["100-102,200"], ["100-102", "200"]),
    (["102", "100", "101"], ["100-102"]),
    (["100-105", "103-110"], ["100-110"]),
    (["7-7"], ["7"]),
    (["1-4094"], ["1-4094"]),
]

# The lines that a running-config may have for a port, and what they mean.
PORT_LINES = [
    ("description pod001-ipum1  RNIC", "description", "pod001-ipum1  RNIC"),
    ("no description", "description", ""),
    ("mtu 9000", "mtu", 9000),
    ("no mtu", "mtu", 9214),
    ("shutdown", "enabled", False),
    ("no shutdown", "enabled", True),
    ("switchport access vlan 101", "vlan", 101),
    ("no switchport access vlan", "vlan", 1),
    ("switchport trunk native vlan 7", "native_vlan", 7),
    ("no switchport trunk native vlan", "native_vlan", 1),
    ("switchport trunk allowed vlan 100-102,200", "allowed_vlans", ["100-102", "200"]),
    ("switchport trunk allowed vlan none", "allowed_vlans", []),
    ("switchport trunk allowed vlan all", "allowed_vlans", ["1-4094"]),
    ("no switchport trunk allowed vlan", "allowed_vlans", ["1-4094"]),
    ("switchport trunk allowed vlan 1-4094", "allowed_vlans", ["1-4094"]),
    ("switchport mode trunk", "mode", "trunk"),
    ("switchport mode access", "mode", "access"),
    ("switchport mode dot1q-tunnel", "mode", "dot1q-tunnel"),
    ("no switchport mode", "mode", "access"),
    ("switchport", "mode", "access"),
    ("no switchport", "mode", "routed"),
]


@pytest.mark.parametrize(("given", "spelled"), PORT_NAMES)
def test_port_name(given: str, spelled: str) -> None:
    assert port_name(given) == spelled


@pytest.mark.parametrize("given", ["", "9/1", "E9/1", "Vlan101", "Ethernet", "Et9/1.100", "Ethernetx9/1", "Et9/"])
def test_no_port_name(given: str) -> None:
    with pytest.raises(ValueError, match="is no port name; write for example Ethernet9/1 or Et9/1"):
        port_name(given)


@pytest.mark.parametrize(("given", "spelled"), VLAN_LISTS)
def test_vlan_list(given: list[str], spelled: list[str]) -> None:
    assert vlan_ranges(vlan_ids(given)) == spelled


@pytest.mark.parametrize("given", ["0", "4095", "0-10", "100-4095", "110-100", "", "all", "1-2-3", "-5", "100,,101"])
def test_no_vlan_list(given: str) -> None:
    with pytest.raises(ValueError, match="VLAN ID"):
        vlan_ids([given])


@pytest.mark.parametrize(("line", "field", "value"), PORT_LINES)
def test_port_line(line: str, field: str, value: Any) -> None:
    running = parse(f"interface Ethernet9/1\n   {line}\n!\nend")
    defaults = {field.name: field.default for field in PORT_FIELDS}
    assert running.ports["Ethernet9/1"] == {**defaults, field: value}


def test_every_pattern_of_the_table_has_a_case() -> None:
    patterns = [pattern for field in PORT_FIELDS for pattern, _ in field.spellings]
    assert [p for p in patterns if not any(re.fullmatch(p, line) for line, _, _ in PORT_LINES)] == []


@pytest.mark.parametrize("field", PORT_FIELDS, ids=lambda field: field.name)
def test_what_is_set_is_understood(field: Any) -> None:
    """Each field's own line, for its default and for the other values in the cases, reads as that value."""
    for value in [field.default, *(value for _, name, value in PORT_LINES if name == field.name and value != "routed")]:
        assert field.value(field.line(value)) == value
