# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which device is recognised on which port, and what that says of the cables."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._tor.cabling import (
    MISSING,
    RIGHT,
    UNKNOWN,
    WRONG,
    check,
    declare_cables,
    table,
)
from ansible_collections.ipu.pod.plugins.module_utils._tor.observed import Observed

CABLES = declare_cables(
    [
        {"port": "Et9/1", "device": "pod001-ipum1", "mac": "0C42.a100.0101"},
        {"port": "Ethernet10/1", "device": "pod001-ipum2", "mac": "0c:42:a1:00:01:02"},
        {"port": "Ethernet25/1", "device": "pod001-poplar1", "mac": "04:3f:72:00:01:02"},
        {"port": "Ethernet26/1", "device": "pod001-poplar1", "mac": None},
    ]
)


def lldp(device: str, port: str = "rnic0") -> list[dict[str, str]]:
    return [{"device": device, "port": port}]


def learned(*macs: str) -> list[dict[str, Any]]:
    return [{"mac": mac, "vlan": 101} for mac in macs]


def verdicts(seen: Observed, **channels: list[str]) -> dict[str, tuple[str, list[str]]]:
    members = {name.replace("Port_Channel", "Port-Channel"): ports for name, ports in channels.items()}
    return {finding.port: (finding.verdict, finding.seen) for finding in check(CABLES, seen, members)}


def test_a_rack_of_which_nothing_is_seen() -> None:
    assert verdicts(Observed()) == {cable.port: (MISSING, []) for cable in CABLES}


@pytest.mark.parametrize("name", ["pod001-poplar1", "POD001-Poplar1", "pod001-poplar1.rack.example.com"])
def test_a_device_is_recognised_by_its_system_name(name: str) -> None:
    found = verdicts(Observed(neighbours={"Ethernet25/1": lldp(name), "Ethernet26/1": lldp(name)}))
    assert found["Ethernet25/1"] == found["Ethernet26/1"] == (RIGHT, ["pod001-poplar1"])


def test_a_device_is_recognised_by_a_learned_address() -> None:
    assert verdicts(Observed(macs={"Ethernet9/1": learned("0c:42:a1:00:01:01")}))["Ethernet9/1"][0] == RIGHT


@pytest.mark.parametrize("spelling", ["0c42.a100.0101", "0C:42:A1:00:01:01", "0c-42-a1-00-01-01"])
def test_a_device_is_recognised_by_an_address_that_it_says_over_lldp(spelling: str) -> None:
    assert verdicts(Observed(neighbours={"Ethernet9/1": lldp("localhost", spelling)}))["Ethernet9/1"][0] == RIGHT


def test_two_swapped_machines_are_both_wrong() -> None:
    macs = {"Ethernet9/1": learned("0c:42:a1:00:01:02"), "Ethernet10/1": learned("0c:42:a1:00:01:01")}
    found = verdicts(Observed(macs=macs))
    assert found["Ethernet9/1"] == (WRONG, ["pod001-ipum2"])
    assert found["Ethernet10/1"] == (WRONG, ["pod001-ipum1"])


def test_two_swapped_ports_of_one_server_are_wrong() -> None:
    """By name both are the server's; its address tells them apart."""
    found = verdicts(
        Observed(neighbours={"Ethernet26/1": lldp("pod001-poplar1", "04:3f:72:00:01:02")}, macs={}),
    )
    assert found["Ethernet26/1"] == (WRONG, ["pod001-poplar1"])


def test_a_device_on_a_port_where_none_is_declared_is_wrong() -> None:
    found = verdicts(Observed(neighbours={"Ethernet31/1": lldp("pod001-ipum1")}))
    assert found["Ethernet31/1"] == (WRONG, ["pod001-ipum1"])
    assert found["Ethernet9/1"] == (MISSING, [])


def test_a_stranger_is_unknown_on_a_declared_port_and_nobodys_business_elsewhere() -> None:
    found = verdicts(Observed(neighbours={"Ethernet9/1": lldp("spine1"), "Ethernet1/1": lldp("spine2")}))
    assert found["Ethernet9/1"] == (UNKNOWN, ["spine1"])
    assert "Ethernet1/1" not in found


def test_a_server_with_virtual_machines_is_right() -> None:
    macs = learned("52:54:00:00:00:01", "04:3f:72:00:01:02", "52:54:00:00:00:02")
    assert verdicts(Observed(macs={"Ethernet25/1": macs}))["Ethernet25/1"] == (RIGHT, ["pod001-poplar1"])


def test_two_declared_devices_on_one_port_are_wrong() -> None:
    macs = {"Ethernet9/1": learned("0c:42:a1:00:01:01", "0c:42:a1:00:01:02")}
    assert verdicts(Observed(macs=macs))["Ethernet9/1"] == (WRONG, ["pod001-ipum1", "pod001-ipum2"])


def test_an_address_learned_at_a_port_channel_counts_for_its_members() -> None:
    seen = Observed(macs={"Port-Channel25": learned("04:3f:72:00:01:02")})
    found = verdicts(seen, Port_Channel25=["Ethernet25/1", "Ethernet26/1"])
    assert found["Ethernet25/1"][0] == found["Ethernet26/1"][0] == RIGHT
    assert "Port-Channel25" not in found


def test_the_ports_are_in_their_order_and_the_table_has_a_line_each() -> None:
    findings = check(CABLES, Observed(neighbours={"Ethernet9/1": lldp("pod001-ipum1")}))
    assert [finding.port for finding in findings] == ["Ethernet9/1", "Ethernet10/1", "Ethernet25/1", "Ethernet26/1"]
    assert table(findings)[:3] == [
        "port          declared        seen          verdict",
        "Ethernet9/1   pod001-ipum1    pod001-ipum1  right",
        "Ethernet10/1  pod001-ipum2    -             missing",
    ]


@pytest.mark.parametrize(
    ("cables", "message"),
    [
        ([{"port": "9/1", "device": "a"}], "'9/1' is no port name; write for example Ethernet9/1"),
        ([{"port": "Et9/1", "device": "a", "mac": "aa"}], "'aa' of a is no MAC address; write for example"),
        (
            [{"port": "Et9/1", "device": "a"}, {"port": "Ethernet9/1", "device": "b"}],
            "Ethernet9/1 has two cables, to a and to b; declare one",
        ),
    ],
)
def test_cables_that_cannot_be_meant(cables: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        declare_cables(cables)
