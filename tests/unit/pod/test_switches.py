# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of switches in pods.yml: every refusal names the key path and the remedy."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._inventory.hosts import groups, host_variables
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

VLANS = {"storage": {"id": 300, "vni": 10300}, "quarantine": 999}


def problems(vpods: dict[str, Any] | None = None, **pod: Any) -> list[str]:
    document = {
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64", "poplar_servers": 2, "vlans": VLANS, **pod}},
        "controllers": {"v": {"host": "p-poplar1"}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": vpods or {},
    }
    try:
        parse_declaration(document)
    except DeclarationError as error:
        return error.problems
    return []


def tor(**words: Any) -> list[str]:
    return problems(tor=words)


def ports(**words: Any) -> list[str]:
    """The problems of ports whose names are spelled without a slash."""
    return tor(ports=words)


@pytest.mark.parametrize(
    "words",
    [
        {"roce": "reference"},
        {"roce": {"priority": 4, "dscp": 34, "ecn": {"minimum_kbytes": 150}}},
        {"spare_ports": "quarantine", "canary": ["p-ipum3", "Et27/1"]},
        {"ports": {"Et1": {"role": "uplink", "mode": "trunk", "vlans": ["storage", 101]}}},
        {"ports": {"Et29": {"role": "storage"}, "Et30/1": {"owner": "external"}, "Et31": {"role": "spare"}}},
        {"ports": {"Et25": {"channel_group": 5, "lacp": "active"}, "Et26": {"channel_group": 5, "lacp": "active"}}},
        {"ports": {"Port-Channel5": {"mode": "trunk", "native_vlan": "storage", "vlans": ["storage"]}}},
        # A tenant's machine whose port is somebody else's: its VLAN is then not ours either.
        {"ports": {"Et9": {"owner": "external"}}},
    ],
)
def test_valid_switch_keys_are_accepted(words: dict[str, Any]) -> None:
    assert tor(**words) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"roce": "on"}, "pods.p.tor.roce: 'on' is no quality of service; write reference, or what differs from it"),
        ({"roce": {"prio": 4}}, "pods.p.tor.roce: 'prio' is no setting of it; write any of priority, dscp"),
        ({"roce": {"priority": 9}}, "pods.p.tor.roce.priority: 9 is out of range; give 0 to 6"),
        ({"roce": {"dscp": 48}}, "pods.p.tor.roce.cnp_dscp: 48 is the dscp of the data; congestion needs another one"),
        ({"mtu": 9215}, "pods.p.tor.mtu: 9215 is not a whole number from 1280 to 9214"),
        ({"spare_ports": "down"}, "pods.p.tor.spare_ports: 'down' is not known; use one of kept, quarantine"),
        ({"canary": ["p-tor"]}, "pods.p.tor.canary: 'p-tor' is no IPU-Machine, Poplar server or declared port"),
        ({"canary": ["Et26"]}, "pods.p.tor.canary: 'Et26' is no IPU-Machine, Poplar server or declared port"),
        ({"ports": {"9/1": {}}}, "pods.p.tor.ports.9/1: '9/1' is not a port such as Ethernet9/1"),
    ],
)
def test_one_sentence_on_the_tor(words: dict[str, Any], message: str) -> None:
    found = tor(**words)
    assert [problem for problem in found if problem.startswith(message)], found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"Et9": {"mtu": 9000}, "Ethernet9/1": {}},
            "pods.p.tor.ports.Ethernet9/1: it is Ethernet9/1, as is 'Et9'; declare each port once",
        ),
        (
            {"Et29": {"owner": "external", "mtu": 9000}},
            "pods.p.tor.ports.Et29.mtu: an external port is not touched; leave this or owner out",
        ),
        (
            {"Et29": {"role": "storage", "vlan": "stor"}},
            "pods.p.tor.ports.Et29.vlan: 'stor' is no VLAN of pods.p.vlans (did you mean storage?); known are "
            "storage, quarantine",
        ),
        ({"Et1": {"vlans": ["x"]}}, "pods.p.tor.ports.Et1.vlans: 'x' is no VLAN of pods.p.vlans"),
        ({"Et1": {"vlan": 5000}}, "pods.p.tor.ports.Et1.vlan: 5000 is not a whole number from 1 to 4094"),
        ({"Et1": {"role": "ipu_machine"}}, "pods.p.tor.ports.Et1.role: 'ipu_machine' is not known; use one of storage"),
        (
            {"Et9": {"role": "storage"}},
            "pods.p.tor.ports.Et9.role: Ethernet9/1 is the port of p-ipum1; leave role out, or give p-ipum1 another "
            "port in pods.p.overrides",
        ),
        ({"Et29": {"role": "spare", "mtu": 9000}}, "pods.p.tor.ports.Et29.mtu: a spare port is not configured"),
        ({"Et9": {"roce": True}}, "pods.p.tor.ports.Et9.roce: there is no profile to give it; declare pods.p.tor.roce"),
        ({"Et29": {"lacp": "active"}}, "pods.p.tor.ports.Et29.lacp: it is for a member of a port channel"),
        ({"Po5": {"channel_group": 6}}, "pods.p.tor.ports.Po5.channel_group: a port channel is no member of one"),
        (
            {"Et25": {"channel_group": 5}, "Et27": {"channel_group": 5}},
            "pods.p.tor.ports.Et27.channel_group: channel 5 also has Ethernet25/1 of p-poplar1, but a channel ends at "
            "one device; give p-poplar2 another",
        ),
        (
            {"Et25": {"channel_group": 5, "lacp": "active"}, "Et26": {"channel_group": 5, "lacp": "passive"}},
            "pods.p.tor.ports.Et26.lacp: Ethernet25/1 of the same channel 5 has 'active'; say the same of both",
        ),
    ],
)
def test_one_sentence_on_a_port(words: dict[str, Any], message: str) -> None:
    found = ports(**words)
    assert [problem for problem in found if problem.startswith(message)], found


@pytest.mark.parametrize(
    ("pod", "message"),
    [
        ({"vlans": {"storage": 1}}, "pods.p.vlans.storage: 1 is not a whole number from 2 to 4094"),
        ({"vlans": {"storage": {"vni": 5}}}, "pods.p.vlans.storage.id: is missing"),
        ({"vlans": {"a": 300, "b": 300}}, "pods.p.vlans.b: VLAN 300 is also pods.p.vlans.a; give each its own"),
        (
            {"vlans": {"a": {"id": 300, "vni": 7}, "b": {"id": 301, "vni": 7}}},
            "pods.p.vlans.b: VNI 7 is also that of pods.p.vlans.a; give each its own",
        ),
        ({"rnic": {"vlan": 300}}, "pods.p.rnic.vlan: VLAN 300 is also pods.p.vlans.storage; give each its own"),
        ({"rnic": {"vni": 300}}, "pods.p.rnic.vni: it belongs to a VLAN; declare rnic.vlan too"),
        (
            {"rnic": {"mtu": 9100}, "tor": {"mtu": 9000}},
            "pods.p.rnic.mtu: 9100 is more than the 9000 of pods.p.tor.mtu; make it smaller",
        ),
        (
            {"rnic": {"mtu": 9100}, "tor": {"ports": {"Et9": {"mtu": 9000}}}},
            "pods.p.tor.ports.Et9.mtu: 9000 is less than the 9100 of pods.p.rnic.mtu; make it larger",
        ),
        ({"vlans": {}, "tor": {"spare_ports": "quarantine"}}, "pods.p.tor.spare_ports: it needs the VLAN; declare"),
        ({"vlans": {}, "tor": {"ports": {"Et29": {"role": "storage"}}}}, "pods.p.tor.ports.Et29: which VLAN?"),
        ({"management_switch": {}}, "pods.p.management_switch.address: is missing; it has to be declared"),
        (
            {"management_switch": {"address": "10.1.4.2", "ports": {"Et1": {"vlan": "bmc"}}}},
            "pods.p.management_switch.ports.Et1.vlan: 'bmc' is no VLAN of pods.p.management_switch.vlans; none is",
        ),
        (
            {"management_switch": {"address": "10.1.4.2", "ports": {"Et1": {}, "Ethernet1": {}}}},
            "pods.p.management_switch.ports.Ethernet1: it is Ethernet1, as is 'Et1'; declare each port once",
        ),
        (
            {"management_switch": {"address": "10.1.4.1"}},
            "10.1.4.1 of p-mgmt is also the management_address of p-tor",
        ),
    ],
)
def test_one_sentence_on_a_pod(pod: dict[str, Any], message: str) -> None:
    found = problems(**pod)
    assert [problem for problem in found if message in problem], found


@pytest.mark.parametrize(
    ("vpod", "message"),
    [
        ({"vni": 5}, "vpods.alice.vni: it belongs to a VLAN; declare vpods.alice.vlan too"),
        ({"vlan": 101, "vni": 10300}, "vpods.alice.vni: VNI 10300 is also that of pods.p.vlans.storage"),
        ({"vlan": 300}, "vpods.alice.vlan: VLAN 300 is also pods.p.vlans.storage; give each its own"),
        ({"vlan": 100}, "vpods.alice.vlan: VLAN 100 is also pods.p.rnic.vlan; give each its own"),
    ],
)
def test_one_sentence_on_a_vpods_vlan(vpod: dict[str, Any], message: str) -> None:
    found = problems({"alice": {"cluster": "c", "ipus": 4, **vpod}}, rnic={"vlan": 100})
    assert [problem for problem in found if problem.startswith(message)], found


def test_a_management_switch_is_a_host_where_it_is_declared() -> None:
    without = parse_declaration({"schema": 1, "pods": {"p": {"model": "bow-pod64"}}})
    assert (groups(without)["management_switches"], groups(without)["switches"]) == ([], ["p-tor"])
    pod = {"model": "bow-pod64", "management_switch": {"address": "10.1.4.2"}}
    declaration = parse_declaration({"schema": 1, "pods": {"p": pod}})
    assert groups(declaration)["management_switches"] == ["p-mgmt"]
    assert groups(declaration)["switches"] == ["p-tor", "p-mgmt"]
    assert host_variables(declaration)["p-mgmt"]["ansible_host"] == "10.1.4.2"
