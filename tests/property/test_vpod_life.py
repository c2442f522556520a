# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod in memory that does what the plans say: up and then down gives what was before, and neighbours stay."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.plugin_utils._decision.tenancy import tenancy_of
from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from tests.support.vpods_of_a_pod import looks_of

HOST = "v"
SIZES = st.sampled_from([4, 8, 16, 32])
TENANTS = st.lists(SIZES, min_size=0, max_size=3)


def entry(number: int, ipus: int, **words: Any) -> dict[str, Any]:
    name = f"t{number}"
    return {
        "cluster": "c",
        "ipus": ipus,
        "vlan": 100 + number,
        "users": [name],
        "poplar_servers": [f"p-poplar{number}"],
        "partitions": {f"{name}-train": {"ipus": 4}},
        **words,
    }


def document(vpods: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64", "poplar_servers": 4, "vlans": {"quarantine": 999}}},
        "controllers": {"v": {"address": "10.1.3.200", "mode": "secure"}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": vpods,
    }


class World:
    """Ports with their VLANs, VLANs, servers with their vPODs, and one controller."""

    def __init__(self) -> None:
        self.ports: dict[str, int] = {}
        self.vlans: set[int] = set()
        self.clients: dict[str, str] = {}
        self.held: dict[str, dict[str, Any]] = {"allocations": {}, "users": {}, "partitions": {}}

    def seen(self) -> dict[str, Any]:
        ports = [{"name": name, "mode": "access", "vlan": vlan} for name, vlan in self.ports.items()]
        vlans = [
            {"vlan_id": vlan, "name": "quarantine" if vlan == 999 else f"vpod-t{vlan - 100}"} for vlan in self.vlans
        ]
        return {"p-tor": {"ports": ports, "vlans": vlans, "qos": {"dscp_to_traffic_class": {}, "profiles": []}}}

    def apply(self, vpods: dict[str, Any], only: list[str] | None = None) -> None:
        """Down in the reverse order of up."""
        plan = tenancy_of(
            parse_declaration(document(vpods)), {HOST: copy.deepcopy(self.held)}, looks_of(self.seen()), only
        )
        down, up = plan.teardown, plan.bring_up
        self.servers(down["poplar_servers"])
        for entities in down["vipu_controllers"].values():
            for kind in ("partitions", "users"):
                for each in entities[kind]:
                    del self.held[kind][each["name"]]
        self.switches(down["tor_switches"])
        for entities in down["vipu_controllers"].values():
            for each in entities["allocations"]:
                self.release(each["name"])
        self.entities(up["vipu_controllers"][HOST], "allocations")
        self.switches(up["tor_switches"])
        self.servers(up["poplar_servers"])
        for kind in ("users", "partitions"):
            self.entities(up["vipu_controllers"][HOST], kind)

    def release(self, name: str) -> None:
        """Release an allocation; users and partitions on it have to have gone before."""
        assert not [user for user, each in self.held["users"].items() if name in each["allocations"]]
        assert not [part for part, each in self.held["partitions"].items() if each["allocation"] == name]
        del self.held["allocations"][name]

    def entities(self, wanted: dict[str, Any], kind: str) -> None:
        """Create what is not there; nothing that is there may have to change."""
        for each in wanted[kind]:
            fields = {key: each[key] for key in ("agents", "allocations", "allocation") if key in each}
            if kind == "allocations":
                others = [name for name in self.held[kind] if name != each["name"]]
                taken = {agent for name in others for agent in self.held[kind][name]["agents"]}
                assert not taken & set(fields["agents"])
            there = self.held[kind].setdefault(each["name"], fields)
            assert {key: there[key] for key in fields} == fields

    def switches(self, switches: dict[str, Any]) -> None:
        for switch in switches.values():
            for port in switch["ports"]:
                vlan = port.get("vlan", port.get("native_vlan"))
                if vlan is not None:
                    self.ports[port["name"]] = vlan
            for vlan in switch["vlans"]:
                if vlan.get("state") != "absent":
                    self.vlans.add(vlan["vlan_id"])
                elif vlan["vlan_id"] not in self.ports.values():
                    self.vlans.discard(vlan["vlan_id"])

    def servers(self, servers: dict[str, Any]) -> None:
        for name, options in servers.items():
            self.clients[name] = options["owner"]

    def state(self) -> Any:
        return copy.deepcopy((self.ports, self.vlans, self.clients, self.held))

    def of(self, vpod: str) -> Any:
        """The ports, clients and entities of one vPOD."""
        number = int(vpod[1:])
        return (
            sorted(name for name, vlan in self.ports.items() if vlan == 100 + number),
            [server for server, owner in self.clients.items() if owner == f"vpod {vpod}"],
            self.held["allocations"].get(vpod),
            self.held["users"].get(vpod),
            {name: each for name, each in self.held["partitions"].items() if each["allocation"] == vpod},
        )


def world_of(sizes: list[int]) -> tuple[World, dict[str, Any]]:
    """A pod with vPODs of these sizes."""
    vpods = {f"t{number}": entry(number, ipus) for number, ipus in enumerate(sizes, 1)}
    world = World()
    try:
        world.apply(vpods)
    except DeclarationError:
        assume(False)
    return world, vpods


@given(TENANTS, SIZES, st.booleans())
def test_up_and_then_down_gives_the_state_before(sizes: list[int], ipus: int, alone: bool) -> None:
    world, vpods = world_of(sizes)
    before = world.state()
    only = ["t4"] if alone else None
    try:
        world.apply({**vpods, "t4": entry(4, ipus)}, only)
    except DeclarationError:
        assert world.state() == before
        return
    assert world.of("t4")[2] is not None
    world.held["partitions"]["hers"] = {"allocation": "t4"}
    for _run in range(2):
        world.apply({**vpods, "t4": entry(4, ipus, state="absent")}, only)
        assert world.state() == before


@given(TENANTS.filter(bool), SIZES)
def test_whatever_happens_to_one_vpod_happens_to_no_other(sizes: list[int], ipus: int) -> None:
    world, vpods = world_of(sizes)
    others = [world.of(name) for name in vpods if name != "t1"]
    changed = {**vpods, "t1": entry(1, ipus)}
    try:
        world.apply(changed, ["t1"])
    except DeclarationError:
        return
    assert [world.of(name) for name in vpods if name != "t1"] == others
    assert len(world.of("t1")[2]["agents"]) * 4 == ipus
    after = world.state()
    world.apply(changed)
    assert world.state() == after
