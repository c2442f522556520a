# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two racks as one cluster: a vPOD of 128 IPUs across both, its VLAN on the cable between their ToR switches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.packets.ports import Port, rnic_of
from tests.packets.reach import BROADCAST, Frame, Ping, answered, arrivals
from tests.simulated_pod import PROJECT

INVENTORY = PROJECT / "inventories" / "sim_pod128"
SERVERS = ("pod001-poplar1", "pod002-poplar1")
MACHINES = tuple(f"pod00{rack}-ipum{number}" for rack in (1, 2) for number in range(1, 17))
DEVICES_OF_A_GCD = 64


@pytest.fixture(scope="module", name="inventory")
def _inventory() -> Path:
    return INVENTORY


@pytest.fixture(scope="module")
def rnics(pod: Any) -> dict[str, Port]:
    """The RNIC of every machine."""
    assert pod
    return {machine: rnic_of(machine) for machine in (*SERVERS, *MACHINES)}


def test_a_second_run_changes_nothing(pod: Any) -> None:
    again = pod.playbook("site")
    assert (again.code, again.messages) == (0, "")
    assert again.changed == dict.fromkeys(again.changed, 0)


def test_each_switch_sees_the_other(pod: Any) -> None:
    for switch, other in (("pod001-tor", "pod002-tor"), ("pod002-tor", "pod001-tor")):
        [_, shown] = pod.switch("show lldp neighbors", switch=switch)
        assert any(line.split()[:3] == ["Et1/1", other, "Ethernet1/1"] for line in shown["output"].splitlines())


def test_the_vpod_has_both_racks(pod: Any) -> None:
    answer = json.loads(pod.inside("ctrl001", "vipu-admin --showjson get allocation large"))
    assert sorted(answer["allocation"]["spec"]["agent_ids"]) == sorted(MACHINES)


def silent(rnics: dict[str, Port]) -> list[str]:
    """Each server and IPU-Machine where the one gets no answer from the other at full MTU."""
    pings = {
        Ping(rnics[server], rnics[machine].address): f"{server} {machine}" for server in SERVERS for machine in MACHINES
    }
    found = answered(list(pings))
    return [said for ping, said in pings.items() if ping not in found]


def test_every_server_reaches_every_machine_of_both_racks_at_full_mtu(rnics: dict[str, Port]) -> None:
    assert silent(rnics) == []


def test_every_frame_of_full_size_comes_to_every_port_of_the_vpod(rnics: dict[str, Port]) -> None:
    everybody = set(rnics.values())
    seen = arrivals([Frame(port, BROADCAST) for port in everybody], everybody)
    assert [(frame.sender, port) for frame in seen for port in everybody - {frame.sender} - seen[frame]] == []


def test_each_graph_compile_domain_has_a_server_of_its_own_beside_its_ipus(pod: Any) -> None:
    for gcd, (server, network) in enumerate(zip(SERVERS, ("10.5.1.", "10.5.2."), strict=True)):
        said = pod.inside(server, "sh -lc 'echo $IPUOF_VIPU_API_PARTITION_ID $IPUOF_VIPU_API_GCD_ID'")
        assert said.split() == ["train", str(gcd)]
        config = json.loads(pod.inside("ctrl001", f"vipu-admin get partition train --gcd {gcd} --ipuof-configs"))
        addresses = [device["ip"] for device in config["devices"]]
        assert len(addresses) == DEVICES_OF_A_GCD
        assert all(address.startswith(network) for address in addresses)


def test_without_its_vlan_on_the_cable_the_racks_are_apart_and_site_joins_them_again(
    pod: Any, rnics: dict[str, Port]
) -> None:
    pod.switch("configure", "interface Ethernet1/1", "switchport trunk allowed vlan remove 301", switch="pod002-tor")
    assert silent(rnics) == [
        f"{server} {machine}" for server in SERVERS for machine in MACHINES if server[:6] != machine[:6]
    ]
    run = pod.playbook("tor_switches")
    assert (run.code, run.messages) == (0, "")
    assert {host for host, changed in run.changed.items() if changed} == {"pod002-tor"}
    assert silent(rnics) == []
