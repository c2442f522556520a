# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two racks as one cluster, looked at without the collection: packets between them, the switches, the partition."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.packets.ports import Port, rnic_of
from tests.packets.reach import BROADCAST, Frame, Ping, answered, arrivals
from tests.simulated_pod import STATE

SERVERS = ("pod001-poplar1", "pod002-poplar1")
MACHINES = tuple(f"pod00{rack}-ipum{number}" for rack in (1, 2) for number in range(1, 17))
VLAN = "301"
DEVICES_OF_A_GCD = 64

testinfra_hosts = [f"ssh://{server}" for server in SERVERS]


@pytest.fixture(scope="module")
def rnics() -> dict[str, Port]:
    """The RNIC of every machine."""
    return {machine: rnic_of(machine) for machine in (*SERVERS, *MACHINES)}


@pytest.mark.parametrize("switch", ["pod001-tor", "pod002-tor"])
def test_the_cable_between_the_racks_carries_the_vlan(switch: str) -> None:
    blocks = (STATE / "switches" / switch / "running-config").read_text().split("\n!\n")
    (uplink,) = [block.splitlines() for block in blocks if block.startswith("interface Ethernet1/1\n")]
    assert f"   switchport trunk allowed vlan {VLAN}" in uplink
    assert "   switchport mode trunk" in uplink


def test_the_vpod_has_both_racks(controller: Any) -> None:
    allocation = json.loads(controller.check_output("vipu-admin --showjson get allocation large"))["allocation"]
    assert sorted(allocation["spec"]["agent_ids"]) == sorted(MACHINES)


def test_every_server_reaches_every_machine_of_both_racks_at_full_mtu(rnics: dict[str, Port]) -> None:
    pings = [Ping(rnics[server], rnics[machine].address) for server in SERVERS for machine in MACHINES]
    assert set(pings) - answered(pings) == set()


def test_every_frame_of_full_size_comes_to_every_port_of_the_vpod(rnics: dict[str, Port]) -> None:
    everybody = set(rnics.values())
    seen = arrivals([Frame(port, BROADCAST) for port in everybody], everybody)
    assert [(frame.sender, port) for frame in seen for port in everybody - {frame.sender} - seen[frame]] == []


def test_each_graph_compile_domain_has_a_server_of_its_own_beside_its_ipus(host: Any, controller: Any) -> None:
    gcd = SERVERS.index(host.check_output("hostname"))
    said = host.check_output("sh -lc 'echo $IPUOF_VIPU_API_PARTITION_ID $IPUOF_VIPU_API_GCD_ID'")
    assert said.split() == ["train", str(gcd)]
    config = json.loads(controller.check_output(f"vipu-admin get partition train --gcd {gcd} --ipuof-configs"))
    addresses = [device["ip"] for device in config["devices"]]
    assert len(addresses) == DEVICES_OF_A_GCD
    assert all(address.startswith(f"10.5.{gcd + 1}.") for address in addresses)
