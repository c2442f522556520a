# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two racks as one cluster, looked at without the collection: packets between them, the switches, the partition."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.support.packets.ports import Port, rnic_of
from tests.support.packets.reach import BROADCAST, Frame, Ping, answered, arrivals
from tests.support.simulated_pod import STATE, typed

SWITCHES = ("pod001-tor", "pod002-tor")
SERVERS = ("pod001-poplar1", "pod002-poplar1")
MACHINES = tuple(f"pod00{rack}-ipum{number}" for rack in (1, 2) for number in range(1, 17))
VLAN = "301"
DEVICES_OF_A_GCD = 64

testinfra_hosts = [f"ssh://{server}" for server in SERVERS]


@pytest.fixture(scope="module")
def rnics() -> dict[str, Port]:
    """The RNIC of every machine."""
    return {machine: rnic_of(machine) for machine in (*SERVERS, *MACHINES)}


def switch(name: str, *commands: str) -> str:
    """The output of a switch for the last of these commands."""
    floor = yaml.safe_load((STATE / "facts.yml").read_text())["sim"]
    return str(typed(floor["switches"][name]["management"], *commands)[-1]["output"])


@pytest.mark.parametrize(("name", "other"), [SWITCHES, SWITCHES[::-1]])
def test_each_switch_sees_the_other_on_a_cable_that_carries_the_vlan(name: str, other: str) -> None:
    neighbours = switch(name, "show lldp neighbors").splitlines()
    assert any(line.split()[:3] == ["Et1/1", other, "Ethernet1/1"] for line in neighbours)
    uplink = switch(name, "show running-config interfaces Ethernet1/1")
    assert f"   switchport trunk allowed vlan {VLAN}" in uplink.splitlines()


def test_the_vpod_has_both_racks(controller: Any) -> None:
    allocation = json.loads(controller.check_output("vipu-admin --showjson get allocation large"))["allocation"]
    assert sorted(allocation["spec"]["agent_ids"]) == sorted(MACHINES)


def silent(rnics: dict[str, Port]) -> list[tuple[str, str]]:
    """Each server and IPU-Machine where the one gets no answer from the other at full MTU."""
    ways = [(server, machine) for server in SERVERS for machine in MACHINES]
    pings = {way: Ping(rnics[way[0]], rnics[way[1]].address) for way in ways}
    found = answered(list(pings.values()))
    return [way for way, ping in pings.items() if ping not in found]


def test_every_server_reaches_every_machine_of_both_racks_at_full_mtu(rnics: dict[str, Port]) -> None:
    assert silent(rnics) == []


def test_without_its_vlan_on_the_cable_the_racks_are_apart(rnics: dict[str, Port]) -> None:
    uplink = ("configure", "interface Ethernet1/1")
    switch("pod002-tor", *uplink, f"switchport trunk allowed vlan remove {VLAN}")
    apart = silent(rnics)
    switch("pod002-tor", *uplink, f"switchport trunk allowed vlan add {VLAN}")
    assert apart == [(server, machine) for server in SERVERS for machine in MACHINES if server[:6] != machine[:6]]


def test_every_frame_of_full_size_comes_to_every_port_of_the_vpod(rnics: dict[str, Port]) -> None:
    everybody = set(rnics.values())
    seen = arrivals([Frame(port, BROADCAST) for port in everybody], everybody)
    assert [(frame.sender, port) for frame in seen for port in everybody - {frame.sender} - seen[frame]] == []


def test_each_graph_compile_domain_has_a_server_of_its_own_beside_its_ipus(host: Any, controller: Any) -> None:
    gcd = SERVERS.index(host.check_output("hostname"))
    output = host.check_output("sh -lc 'echo $IPUOF_VIPU_API_PARTITION_ID $IPUOF_VIPU_API_GCD_ID'")
    assert output.split() == ["train", str(gcd)]
    config = json.loads(controller.check_output(f"vipu-admin get partition train --gcd {gcd} --ipuof-configs"))
    addresses = [device["ip"] for device in config["devices"]]
    assert len(addresses) == DEVICES_OF_A_GCD
    assert all(address.startswith(f"10.5.{gcd + 1}.") for address in addresses)
