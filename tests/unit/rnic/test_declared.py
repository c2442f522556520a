# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of a declaration by itself are refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import Interface, interfaces_from

MAC = "04:3f:72:00:01:02"
NIC = {"name": "rnic0"}
VLAN = {"name": "tenant", "type": "vlan", "parent": "rnic0", "vlan_id": 101}
BOND = {"name": "bond0", "type": "bond", "members": ["rnic0"], "mode": "802.3ad"}


def test_spelling_does_not_matter() -> None:
    options = [{"name": "rnic0", "mac": "04-3F-72-00-01-02", "addresses": ["fd00:0::1/64", "10.5.1.101/16"]}]
    expected = Interface("rnic0", mac="04:3f:72:00:01:02", addresses=("10.5.1.101/16", "fd00::1/64"))
    assert interfaces_from(options) == [expected]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([{"name": "rnic 0"}], "interface rnic 0: the name is no interface name"),
        ([{"name": "rnic0", "mac": "04:3f"}], "mac '04:3f' is no MAC address"),
        ([{"name": "rnic0", "addresses": ["10.5.1.1"]}], "10.5.1.1 lacks its prefix length; write it like 10.5.1.1/16"),
        ([{"name": "rnic0", "addresses": ["10.5.1.1/33"]}], "'10.5.1.1/33' is no address with prefix length"),
        ([{"name": "rnic0", "addresses": ["10.5.0.0/16"]}], "is the first or last address of 10.5.0.0/16"),
        ([{"name": "rnic0", "addresses": ["224.0.0.1/16"]}], "224.0.0.1/16 cannot be a NIC's address"),
        ([{"name": "rnic0", "description": "two\nlines"}], "the description must be one line"),
        ([{"name": "rnic0"}, {"name": "rnic0"}], "the name rnic0 is declared twice"),
        ([{"name": "rnic0", "pci": "81:00"}], "pci '81:00' is no PCI address; write it like 0000:81:00.0"),
        ([{"name": "rnic0", "pci": "81:00.0", "mac": MAC}], "mac and pci both find the NIC; give one of them"),
        ([{"name": "rnic0", "vlan_id": 5}], "vlan_id is for type vlan, and this is of type nic; leave one of them out"),
        ([{"name": "rnic0", "state": "absent"}], "a NIC cannot be made absent; declare its settings, or leave it out"),
        ([{"name": "v", "type": "vlan"}], "interface v: type vlan needs parent and vlan_id"),
        ([{**VLAN, "vlan_id": 4095}], "vlan_id 4095 does not exist; use 1 to 4094"),
        ([VLAN], "interface tenant: its parent rnic0 is not declared; declare it, too, at least by its name"),
        (
            [NIC, VLAN, {**VLAN, "name": "b", "parent": "tenant"}],
            "its parent tenant is a VLAN itself; put it on the NIC",
        ),
        ([NIC, VLAN, {**VLAN, "name": "b"}], "interfaces tenant and b: the VLAN 101 on rnic0 is declared twice; keep"),
        ([{**NIC, "mtu": 1500}, {**VLAN, "mtu": 9000}], "mtu 9000 is more than the 1500 of its parent rnic0"),
        ([NIC, BOND, VLAN], "its parent rnic0 is a member of a bond; put it on the bond"),
        ([BOND], "interface bond0: its member rnic0 is not declared; declare it, too, at least by its name"),
        (
            [NIC, BOND, {**BOND, "name": "bond1"}],
            "interfaces bond0 and bond1: the member rnic0 is declared twice; keep",
        ),
        ([{**NIC, "addresses": ["10.5.1.1/16"]}, BOND], "a member of a bond has no addresses; declare them for bond0"),
        ([{**NIC, "mtu": 9000}, BOND], "a member has the mtu of its bond; declare it for bond0 only"),
        ([{**NIC, "virtual_functions": [{"index": 1, "mac": "02:00:00:00:00:01"}]}], "must be 0 to 0, each once"),
        (
            [{**NIC, "virtual_functions": [{"index": 0, "mac": "01:00:00:00:00:01"}]}],
            "virtual function 0: 01:00:00:00:00:01 cannot be a NIC's own MAC address; use a unicast one",
        ),
        (
            [{"name": "a", "addresses": ["10.5.1.1/16"]}, {"name": "b", "addresses": ["10.5.1.1/24"]}],
            "interfaces a and b: the address 10.5.1.1 is declared twice; keep one",
        ),
    ],
)
def test_refused(options: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(Refused) as refused:
        interfaces_from(options)
    assert message in str(refused.value)
