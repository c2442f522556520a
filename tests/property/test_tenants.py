# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The things of tenants, whatever is declared: each exactly once, where it belongs, and nothing of another's."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import vlan_ids
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.model import Declaration

HOST = "ctrl"
SERVERS = [f"p-poplar{n}" for n in range(1, 5)]
HYPERVISORS = SERVERS[2:]
SHARED_PORTS = (8090, 8091, 2113)


@st.composite
def declarations(draw: Any) -> Declaration:
    """Up to four tenants of one rack: two bare-metal servers and two hypervisors."""
    bare_metal = draw(st.permutations([*SERVERS[:2], None, None]))
    vpods = {
        f"t{number}": draw(tenants(number, [server] if server else [])) for number, server in enumerate(bare_metal)
    }
    return parse_declaration(
        {
            "schema": 1,
            "pods": {
                "p": {
                    "model": "bow-pod64",
                    "poplar_servers": 4,
                    "rnic": {"vlan": 100},
                    "hypervisors": HYPERVISORS,
                    "vlans": {"storage": 300, "quarantine": 999},
                }
            },
            "controllers": {HOST: {"address": "10.1.3.200", "mode": "secure"}},
            "clusters": {"c": {"controller": HOST, "pods": ["p"]}},
            "vpods": vpods,
        }
    )


@st.composite
def tenants(draw: Any, number: int, bare_metal: list[str]) -> dict[str, Any]:
    guests = draw(st.lists(st.sampled_from(HYPERVISORS), unique=True))
    gcds = draw(st.sampled_from([1, 2, 4]))
    servers = [*bare_metal, *guests]
    named = draw(st.lists(st.sampled_from(servers), min_size=gcds, max_size=gcds)) if servers and gcds > 1 else []
    return {
        "cluster": "c",
        "ipus": 16,
        "vlan": 101 + number,
        "controller": draw(st.sampled_from(["shared", "dedicated"])),
        "ipuof": "files",
        "users": draw(st.lists(st.sampled_from(["ann", "ben", "cat"]), min_size=1, unique=True)),
        "poplar_servers": servers,
        "partitions": {f"t{number}-train": {"ipus": 16, "gcds": gcds, "poplar_servers": named}},
        **({"virtual_function": number} if guests else {}),
    }


def wanted_of(declaration: Declaration) -> dict[str, dict[str, Any]]:
    return desired(declaration, place(declaration, {}))


@given(declarations())
def test_every_partition_is_on_one_controller_and_servers_ask_that_one(declaration: Declaration) -> None:
    wanted = wanted_of(declaration)
    controllers = [wanted["vipu_controllers"][HOST], *wanted["dedicated_controllers"][HOST]]
    places = [
        (part["allocation"], each["user_port"], each["admin_port"])
        for each in controllers
        for part in each["partitions"]
    ]
    assert sorted(vpod for vpod, _, _ in places) == sorted(declaration.vpods)
    ports = {vpod: [user, admin] for vpod, user, admin in places}
    for server in wanted["poplar_servers"].values():
        if server["vipu"]:
            vpod = server["owner"].removeprefix("vpod ")
            assert [server["vipu"]["api_port"], server["vipu"]["admin_port"]] == ports[vpod]


@given(declarations())
def test_a_user_is_granted_the_vpods_that_name_them_and_no_other(declaration: Declaration) -> None:
    wanted = wanted_of(declaration)
    controllers = [wanted["vipu_controllers"][HOST], *wanted["dedicated_controllers"][HOST]]
    granted = [(user["name"], name) for each in controllers for user in each["users"] for name in user["allocations"]]
    assert sorted(granted) == sorted((user, vpod.name) for vpod in declaration.vpods.values() for user in vpod.users)


@given(declarations())
def test_a_dedicated_controller_has_exactly_what_is_reserved_and_ports_of_its_own(declaration: Declaration) -> None:
    wanted = wanted_of(declaration)
    reserved = {each["name"]: each["agents"] for each in wanted["vipu_controllers"][HOST]["allocations"]}
    dedicated = wanted["dedicated_controllers"][HOST]
    assert reserved.keys() == declaration.vpods.keys()
    for each in dedicated:
        assert [agent["name"] for agent in each["agents"]] == reserved[each["name"]]
    ports = [each[f"{kind}_port"] for each in dedicated for kind in ("user", "admin", "metrics")]
    assert len({*ports, *SHARED_PORTS}) == len(ports) + len(SHARED_PORTS)


@given(declarations())
def test_a_port_carries_the_vlans_of_its_own_vpods_and_of_no_other(declaration: Declaration) -> None:
    wanted = wanted_of(declaration)
    ports = {port["name"]: port for port in wanted["tor_switches"]["p-tor"]["ports"]}
    for number, server in enumerate(SERVERS):
        own = {vpod.vlan for vpod in declaration.vpods.values() if server in vpod.poplar_servers}
        port = ports[f"Ethernet{25 + 2 * number}/1"]
        untagged = 100 if server in HYPERVISORS or not own else min(vlan or 0 for vlan in own)
        assert (port["native_vlan"], set(vlan_ids(port["allowed_vlans"]))) == (untagged, {untagged, 300, *own})


@given(declarations())
def test_a_virtual_function_is_in_the_vlan_of_its_vpod_and_there_are_always_equally_many(
    declaration: Declaration,
) -> None:
    for name in SERVERS:
        (interface,) = wanted_of(declaration)["poplar_servers"][name]["interfaces"]
        own = {v.virtual_function: v.vlan for v in declaration.vpods.values() if name in v.poplar_servers}
        found = {each["index"]: each["vlan"] for each in interface.get("virtual_functions", [])}
        assert found == ({index: own.get(index, 999) for index in range(8)} if name in HYPERVISORS else {})


@given(declarations())
def test_the_servers_that_run_a_gcd_get_its_settings(declaration: Declaration) -> None:
    servers = wanted_of(declaration)["poplar_servers"]
    served = {(name, each["name"], each["gcd"]) for name in SERVERS for each in servers[name]["ipuof"]["partitions"]}
    assert served == {
        (server, partition.name, gcd)
        for vpod in declaration.vpods.values()
        for partition in vpod.partitions
        for gcd in range(partition.gcds or 1)
        for server in ([partition.poplar_servers[gcd]] if partition.poplar_servers else vpod.poplar_servers)
        if server not in HYPERVISORS
    }
