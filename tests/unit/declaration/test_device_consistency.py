# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Poplar server's RNIC against its switch port in one pods.yml: a refusal names both key paths, hosts and values."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError


def problems(vpods: dict[str, Any] | None = None, **pod: Any) -> list[str]:
    document = {
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64", "poplar_servers": 2, "vlans": {"storage": 300}, **pod}},
        "controllers": {"v": {"host": "p-poplar1"}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": vpods or {},
    }
    try:
        parse_declaration(document)
    except DeclarationError as error:
        return error.problems
    return []


ALICE = {"alice": {"cluster": "c", "ipus": 16, "vlan": 101, "poplar_servers": ["p-poplar1"]}}


@pytest.mark.parametrize(
    ("port", "key", "message"),
    [
        ({"mode": "access", "vlan": "storage"}, "vlan", "untagged in VLAN 300"),
        ({"native_vlan": 300}, "native_vlan", "untagged in VLAN 300"),
        ({"native_vlan": 1, "vlans": ["storage"]}, "native_vlan", "untagged in VLAN 1"),
    ],
)
def test_a_server_port_in_another_vlan_than_its_tenant(port: dict[str, Any], key: str, message: str) -> None:
    here = f"pods.p.tor.ports.Et25.{key}"
    assert problems(ALICE, tor={"ports": {"Et25": port}}) == [
        f"{here}: p-poplar1 ens2f0 (untagged for VLAN 101 by vpods.alice.vlan) and p-tor Ethernet25/1 ({message} by "
        f"{here}): its frames go astray; put untagged frames of the port into VLAN 101"
    ]


def test_a_server_without_tenant_is_in_the_vlan_of_the_pod() -> None:
    [message] = problems(ALICE, rnic={"vlan": 50}, tor={"ports": {"Et27": {"mode": "access", "vlan": 51}}})
    assert "p-poplar2 ens2f0 (untagged for VLAN 50 by pods.p.rnic.vlan) and p-tor Ethernet27/1" in message


@pytest.mark.parametrize("where", ["Et25", "Po5"])
def test_a_server_port_or_channel_with_a_smaller_mtu(where: str) -> None:
    ports: dict[str, Any] = {"Et25": {"channel_group": 5}, "Et26": {"channel_group": 5}, "Po5": {}}
    for name in ("Et25", "Et26") if where == "Et25" else ("Po5",):
        ports[name]["mtu"] = 1500
    found = problems(rnic={"mtu": 9000}, tor={"mtu": 9214, "ports": ports})
    here = f"pods.p.tor.ports.{where}.mtu"
    assert len(found) == 2
    assert found[0] == (
        f"{here}: p-poplar1 ens2f0 (MTU 9000 by pods.p.rnic.mtu) and p-tor Ethernet25/1 (MTU 1500 by {here}): "
        "the switch drops longer frames; give the NIC at most 1500, or the port at least 9000"
    )


@pytest.mark.parametrize(
    "port",
    [
        {"mode": "access", "vlan": 101},
        {"native_vlan": 101, "vlans": ["storage"]},
        {"vlans": [400]},
        {"mtu": 9000},
        {"owner": "external"},
    ],
)
def test_a_server_port_that_agrees(port: dict[str, Any]) -> None:
    assert problems(ALICE, rnic={"mtu": 9000}, tor={"mtu": 9214, "ports": {"Et25": port}}) == []


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"p-poplar2": {"rnic_address": "10.1.6.102"}},
            "pods.p.overrides.p-poplar2.rnic_address: 10.1.6.102 of p-poplar2 and 10.1.5.1 of p-ipum1 are not in one "
            "/24, and RNICs have no gateway; give both addresses of one subnet",
        ),
        (
            {"p-ipum3": {"rnic_address": "10.1.6.3"}},
            "pods.p.overrides.p-ipum3.rnic_address: 10.1.6.3 of p-ipum3 and 10.1.5.101 of p-poplar1 are not in one /24",
        ),
        (
            {"p-poplar2": {"rnic_address": "10.1.5.4"}},
            "pods.p.overrides.p-poplar2.rnic_address: 10.1.5.4 of p-poplar2 is also the rnic_address of p-ipum4",
        ),
    ],
)
def test_an_address_outside_the_plan(overrides: dict[str, Any], message: str) -> None:
    [found] = problems(overrides=overrides)
    assert found.startswith(message)


def test_tenants_that_never_meet_may_have_subnets_of_their_own() -> None:
    pins = {
        "alice": dict(ALICE["alice"], ipus=4, ipu_machines=["p-ipum1"]),
        "bob": {"cluster": "c", "ipus": 4, "ipu_machines": ["p-ipum2"], "poplar_servers": ["p-poplar2"]},
    }
    elsewhere = {"p-poplar2": {"rnic_address": "10.9.0.2"}, "p-ipum2": {"rnic_address": "10.9.0.1"}}
    assert problems(pins, overrides=elsewhere) == []
    assert len(problems(pins, overrides={"p-poplar2": {"rnic_address": "10.9.0.2"}})) == 1
