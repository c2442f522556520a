# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A switch and two servers, as declared and as seen: who is compared with whom, and what a run sets right by itself."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._desired.roce import REFERENCE
from ansible_collections.ipu.pod.plugins.plugin_utils._link_checks.addresses import Claim
from ansible_collections.ipu.pod.plugins.plugin_utils._link_checks.check import (
    SERVERS,
    SWITCHES,
    declared_mismatches,
    seen_mismatches,
)
from ansible_collections.ipu.pod.plugins.plugin_utils._link_checks.devices import SeenServer, Server, Switch

BOTH = (SERVERS, SWITCHES)
PORTS = {1: "Ethernet25/1", 2: "Ethernet27/1"}
MAC = "04:3f:72:00:01:0{}"
ROCE = {"name": "rnic0", "trust": "dscp", "dscp_map": {26: 3, 48: 6}, "pfc": [3]}
MINIMUM = {"speed": 100_000, "firmware": "16.26.1040"}
PROFILE = {"name": "ROCE", "trust": "dscp", "pfc": True, "no_drop": [3]}
MACHINE = Claim("10.5.1.3", "ipum3", "ipum3 (10.5.1.3 is its rnic_address in pods.yml)")
PLANNED = [MACHINE, Claim("10.5.1.101", "s1", "s1 (10.5.1.101 is its rnic_address in pods.yml)")]


class Floor:
    """Everything as declared; a test changes what it is about."""

    def __init__(self) -> None:
        port = {"mode": "trunk", "native_vlan": 101, "allowed_vlans": ["101", "300"], "mtu": 9214, "enabled": True}
        profile = {"qos_profile": "ROCE", "qos_trust": "dscp"}
        self.ports = {name: {"name": name, **port, **profile} for name in PORTS.values()}
        self.declared_ports = copy.deepcopy(self.ports)
        self.vlans = [{"vlan_id": 101}, {"vlan_id": 300}]
        self.qos: dict[str, Any] = {"dscp_to_traffic_class": {"48": 6}, "profiles": [dict(PROFILE)]}
        self.neighbours = {name: [{"device": f"s{number}.lab", "port": "rnic0"}] for number, name in PORTS.items()}
        self.macs: dict[str, Any] = {}
        self.links = {number: self._link(number) for number in PORTS}
        self.interfaces = {number: [self._interface(number)] for number in PORTS}
        self.roce = {number: [copy.deepcopy(ROCE)] for number in PORTS}
        self.more: list[dict[str, Any]] = []
        self.declared_roce: list[dict[str, Any]] = [ROCE]

    @staticmethod
    def _link(number: int) -> dict[str, Any]:
        speed = {"carrier": True, "speed": 100_000, "speed_verdict": "ok"}
        firmware = {"version": "16.35.4030", "verdict": "ok"}
        return {"name": "rnic0", "mac": MAC.format(number), "up": True, **speed, "firmware": firmware}

    @staticmethod
    def _interface(number: int) -> dict[str, Any]:
        return {"name": "rnic0", "mac": MAC.format(number), "mtu": 9000, "addresses": [f"10.5.1.10{number}/16"]}

    def servers(self) -> list[Server]:
        management = {**self._link(9), "name": "eno1", "carrier": False}
        return [
            Server(
                name=f"s{number}",
                pod="p",
                switch="t",
                ports=[port, port.replace("5", "6").replace("7", "8")],
                rnic="rnic0",
                vlan=101,
                interfaces=[{**self._interface(number), "mac": None}, *self.more],
                roce=self.declared_roce,
                seen=SeenServer(self.interfaces[number], [management, self.links[number]], MINIMUM, self.roce[number]),
            )
            for number, port in PORTS.items()
        ]

    def switch(self) -> Switch:
        declared = {"vlans": self.vlans, "ports": list(self.declared_ports.values()), "qos": REFERENCE}
        seen = {"ports": list(self.ports.values()), "vlans": self.vlans, "qos": self.qos}
        return Switch("t", declared, {**seen, "neighbours": self.neighbours, "macs": self.macs})

    def declared(self) -> list[str]:
        return declared_mismatches(self.servers(), {"t": self.switch()}, PLANNED)

    def seen(self, *repaired: str) -> list[str]:
        return seen_mismatches(self.servers(), {"t": self.switch()}, PLANNED, repaired)


@pytest.fixture
def floor() -> Floor:
    return Floor()


def test_a_floor_as_declared(floor: Floor) -> None:
    assert (floor.declared(), floor.seen(), floor.seen(*BOTH)) == ([], [], [])


def test_only_the_end_that_is_wrong_is_named_and_a_run_that_sets_it_right_finds_nothing(floor: Floor) -> None:
    floor.ports["Ethernet27/1"]["mtu"] = 1500
    expected = (
        "s2 rnic0 (MTU 9000) and t Ethernet27/1 (MTU 1500): the switch drops longer frames; give the NIC at most 1500, "
        "or the port at least 9000"
    )
    assert floor.seen() == floor.seen(SERVERS) == [expected]
    assert floor.seen(SWITCHES) == floor.seen(*BOTH) == []


def test_a_nic_with_a_smaller_mtu_than_declared(floor: Floor) -> None:
    floor.interfaces[1][0]["mtu"] = 1500
    expected = (
        "s1 rnic0 (MTU 1500) and t Ethernet25/1 (MTU 9214): MTU 9000 is declared for the NIC; "
        "run playbooks/poplar_servers.yml, or declare 1500"
    )
    assert floor.seen() == floor.seen(SWITCHES) == [expected]
    assert floor.seen(SERVERS) == []


@pytest.mark.parametrize(
    ("break_it", "words", "sets_right"),
    [
        (lambda floor: floor.ports["Ethernet25/1"].update(native_vlan=7), "untagged in VLAN 7", SWITCHES),
        (lambda floor: floor.ports["Ethernet25/1"].update(qos_profile=""), "(no PFC)", SWITCHES),
        (lambda floor: floor.qos["profiles"][0].update(no_drop=[4]), "(PFC on priority 4)", SWITCHES),
        (lambda floor: floor.qos["dscp_to_traffic_class"].update({"26": 2}), "DSCP 26 is traffic class 2", SWITCHES),
        (lambda floor: floor.roce[1][0].update(pfc=[]), "s1 rnic0 (no PFC)", SERVERS),
        (lambda floor: floor.roce[1][0].update(trust="pcp"), "s1 rnic0 (trusts pcp)", SERVERS),
    ],
)
def test_drift_at_one_end_is_an_error_unless_the_run_repairs_that_end(
    floor: Floor, break_it: Any, words: str, sets_right: str
) -> None:
    break_it(floor)
    (other,) = set(BOTH) - {sets_right}
    assert floor.seen()
    assert all(words in sentence for sentence in floor.seen())
    assert floor.seen(other) == floor.seen()
    assert floor.seen(sets_right) == []


def test_what_nobody_declares_stays_and_is_named_also_before_a_run(floor: Floor) -> None:
    floor.ports["Ethernet27/1"]["mtu"] = 1500
    floor.declared_ports["Ethernet27/1"] = {"name": "Ethernet27/1", "owner": "external"}
    assert len(floor.seen(*BOTH)) == 1


def test_the_vlan_of_somebody_elses_port_is_their_business(floor: Floor) -> None:
    floor.ports["Ethernet27/1"]["native_vlan"] = 7
    floor.declared_ports["Ethernet27/1"] = {"name": "Ethernet27/1", "owner": "external"}
    assert floor.seen() == []


def test_a_server_that_has_no_tools_yet_is_compared_in_what_is_known(floor: Floor) -> None:
    floor.roce[1] = []
    floor.ports["Ethernet25/1"].update(mtu=1500, qos_profile="")
    assert [sentence.split(":")[0] for sentence in floor.seen()] == [
        "s1 rnic0 (MTU 9000) and t Ethernet25/1 (MTU 1500)"
    ]


def test_the_switch_sees_the_nic_elsewhere(floor: Floor) -> None:
    floor.neighbours["Ethernet29/1"] = floor.neighbours.pop("Ethernet27/1")
    floor.ports["Ethernet29/1"] = {**floor.ports["Ethernet27/1"], "name": "Ethernet29/1", "mtu": 1500}
    assert floor.seen()[0].startswith("s2 rnic0 (MTU 9000) and t Ethernet29/1 (MTU 1500): ")
    assert floor.seen()[1:] == [
        "s2 rnic0 and t Ethernet29/1 (where the switch sees it): pods.yml says Ethernet27/1, Ethernet28/1; move the "
        "cable, or correct switch_ports"
    ]


def test_a_nic_without_lldp_is_found_by_its_mac_address_or_else_where_it_is_declared(floor: Floor) -> None:
    floor.neighbours = {}
    floor.ports["Ethernet27/1"]["mtu"] = 1500
    assert len(floor.seen()) == 1
    floor.macs = {"Ethernet29/1": [{"mac": MAC.format(2), "vlan": 101}]}
    floor.ports["Ethernet29/1"] = {**floor.ports["Ethernet27/1"], "name": "Ethernet29/1", "mtu": 1400}
    assert "t Ethernet29/1 (MTU 1400)" in floor.seen()[0]


@pytest.mark.parametrize(
    ("link", "port", "sentence"),
    [
        (
            {"carrier": False},
            {},
            "s1 rnic0 (no link) and t Ethernet25/1 (switched on): check the cable and its transceivers",
        ),
        (
            {"carrier": False},
            {"enabled": False},
            "s1 rnic0 (no link) and t Ethernet25/1 (switched off): switch the port on, or give it `enabled: true` in "
            "pods.yml",
        ),
        (
            {"speed": 25_000, "speed_verdict": "slower"},
            {},
            "s1 rnic0 (25000 Mbit/s) and t Ethernet25/1: at least 100000 Mbit/s are expected; check cable, "
            "transceivers and forced speeds, or set preflight_minimum_speed",
        ),
        (
            {"firmware": {"version": "16.20.1010", "verdict": "older"}},
            {},
            "s1 rnic0 (firmware 16.20.1010) and preflight_minimum_firmware (16.26.1040): update the NIC's firmware, "
            "or set another minimum",
        ),
    ],
)
def test_links_and_firmware(floor: Floor, link: dict[str, Any], port: dict[str, Any], sentence: str) -> None:
    floor.links[1].update(link)
    floor.ports["Ethernet25/1"].update(port)
    assert floor.seen() == [sentence]


def test_what_the_run_switches_on_is_no_fault(floor: Floor) -> None:
    floor.links[1].update(up=False, carrier=False)
    floor.links[2].update(carrier=False)
    floor.ports["Ethernet27/1"]["enabled"] = False
    assert [sentence.split(" (")[0] for sentence in floor.seen()] == ["s1 rnic0", "s2 rnic0"]
    assert floor.seen(*BOTH) == []


def test_addresses_that_two_have(floor: Floor) -> None:
    floor.interfaces[1][0]["addresses"] += ["10.5.1.3/16"]
    floor.interfaces[2][0]["addresses"] += ["10.5.1.101/16"]
    assert floor.seen() == [
        "s1 rnic0 (10.5.1.101) and s2 rnic0 (10.5.1.101): give one of them another address",
        "s1 rnic0 (10.5.1.3) and ipum3 (10.5.1.3 is its rnic_address in pods.yml): give one of them another address",
    ]
    assert floor.seen(SERVERS) == []


def test_the_same_address_in_two_vlans_is_no_clash(floor: Floor) -> None:
    for number in PORTS:
        vlan = {"name": "rnic0.300", "type": "vlan", "parent": "rnic0", "addresses": ["10.6.0.1/24"]}
        floor.interfaces[number].append({**vlan, "vlan_id": 300 + number})
    floor.vlans += [{"vlan_id": 301}, {"vlan_id": 302}]
    for port in floor.ports.values():
        port["allowed_vlans"] = ["101", "300-302"]
    assert floor.seen() == []
    floor.interfaces[2][1]["vlan_id"] = 301
    assert len(floor.seen()) == 1


def test_a_vlan_interface_needs_its_vlan_on_the_port_and_on_the_switch(floor: Floor) -> None:
    floor.more = [{"name": "rnic0.300", "type": "vlan", "parent": "rnic0", "vlan_id": 300, "addresses": []}]
    assert (floor.declared(), floor.seen(*BOTH)) == ([], [])
    floor.more[0]["vlan_id"] = 302
    assert "carries 300 with tag by pods.p.vlans" in floor.declared()[0]
    assert len(floor.declared()) == len(floor.seen(SERVERS)) == 2
    assert floor.seen() == []


def test_lossless_settings_of_the_role_against_the_profile_of_the_pod(floor: Floor) -> None:
    floor.declared_roce = [{**ROCE, "name": "any", "mac": "04:3F:72:00:01:01", "pfc": [4], "dscp_map": {26: 4}}]
    floor_with_macs = [
        replace(server, interfaces=[{**server.interfaces[0], "mac": MAC.format(number)}])
        for number, server in enumerate(floor.servers(), 1)
    ]
    found = declared_mismatches(floor_with_macs, {"t": floor.switch()}, [])
    assert found == [
        "s1 rnic0 (PFC on priority 4 by poplar_server_roce) and t Ethernet25/1 (PFC on priority 3 by pods.p.tor.roce): "
        "PFC is hop by hop; give both the same priorities",
        "s1 rnic0 (DSCP 26 is priority 4 by poplar_server_roce) and t Ethernet25/1 (DSCP 26 is traffic class 3 by "
        "pods.p.tor.roce): map DSCP 26 to the same number at both ends",
    ]


def storage(address: str) -> dict[str, Any]:
    return {"name": "rnic0.300", "type": "vlan", "parent": "rnic0", "vlan_id": 300, "addresses": [address]}


def declared_storage(floor: Floor, *addresses: str) -> list[str]:
    servers = [
        replace(server, interfaces=[*server.interfaces, storage(address)])
        for server, address in zip(floor.servers(), addresses, strict=True)
    ]
    return declared_mismatches(servers, {"t": floor.switch()}, [MACHINE])


@pytest.mark.parametrize(
    ("addresses", "sentences"),
    [
        (("10.6.0.1/24", "10.6.0.2/24"), []),
        (
            ("10.6.0.1/24", "10.7.0.2/24"),
            [
                "s1 rnic0.300 (10.6.0.1/24) and s2 rnic0.300 (10.7.0.2/24): both are in VLAN 300 of t; give them one "
                "subnet"
            ],
        ),
        (
            ("10.6.0.1/24", "10.6.0.1/24"),
            [
                "s1 rnic0.300 (10.6.0.1 by poplar_server_more_interfaces) and s2 rnic0.300 (10.6.0.1 by "
                "poplar_server_more_interfaces): give one of them another address"
            ],
        ),
    ],
)
def test_addresses_of_the_storage(floor: Floor, addresses: tuple[str, str], sentences: list[str]) -> None:
    assert declared_storage(floor, *addresses) == sentences


def test_an_address_in_the_subnet_of_the_rnic_that_a_machine_has(floor: Floor) -> None:
    first, second = declared_storage(floor, "10.5.1.3/24", "10.5.1.4/24")[:2]
    assert first == (
        "s1 rnic0 (10.5.1.101/16) and s1 rnic0.300 (10.5.1.3/24): one server has both in one subnet; give each "
        "interface its own"
    )
    assert second.startswith("s2 rnic0 ")
    assert declared_storage(floor, "10.5.1.3/24", "10.5.1.4/24")[2:] == [
        "s1 rnic0.300 (10.5.1.3 by poplar_server_more_interfaces) and ipum3 (10.5.1.3 is its rnic_address in "
        "pods.yml): give one of them another address"
    ]


def test_devices_that_were_not_read_are_passed_over(floor: Floor) -> None:
    floor.ports["Ethernet25/1"]["mtu"] = 1500
    unread = [replace(server, seen=None) for server in floor.servers()]
    assert seen_mismatches(unread, {"t": floor.switch()}, []) == []
    assert seen_mismatches(floor.servers(), {"t": replace(floor.switch(), seen=None)}, []) == []
