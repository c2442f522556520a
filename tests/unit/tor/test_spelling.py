# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every spelling of names and lists that EOS has or takes, one case each."""

from __future__ import annotations

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import (
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
