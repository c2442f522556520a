# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The POD64 after site.yml, looked at without the collection: packets, files, the V-IPU programs."""

from __future__ import annotations

import json
from typing import Any

import pytest
import testinfra

SERVERS = [f"pod001-poplar{n}" for n in range(1, 5)]
MACHINES = {f"pod001-ipum{n}": f"10.5.1.{n}" for n in range(1, 17)}
MTU = 9000
HEADERS = 28

testinfra_hosts = [f"ssh://{server}" for server in SERVERS]


@pytest.fixture(scope="module")
def controller(request: Any) -> Any:
    """The V-IPU controller's host."""
    return testinfra.get_host("ssh://ctrl001", ssh_config=request.config.option.ssh_config)


def ping(packet: int) -> str:
    """A shell command that prints $address if it does not answer one unfragmented ping of so many bytes."""
    return f"ping -q -c 1 -W 2 -M do -s {packet - HEADERS} -I rnic0 $address >/dev/null 2>&1 || echo $address"


def test_every_machine_answers_at_the_full_mtu(host: Any) -> None:
    assert host.check_output(f"for address in {' '.join(MACHINES.values())}; do {ping(MTU)}; done") == ""


def test_no_machine_answers_at_one_byte_more(host: Any) -> None:
    silent = host.check_output(f"for address in {' '.join(MACHINES.values())}; do ({ping(MTU + 1)}) & done; wait")
    assert sorted(silent.split()) == sorted(MACHINES.values())


def test_the_nic_has_its_address_and_mtu_and_keeps_them(host: Any) -> None:
    number = host.check_output("hostname")[-1]
    link = json.loads(host.check_output("ip -json address show rnic0"))[0]
    assert link["mtu"] == MTU
    assert f"10.5.1.10{number}" in [entry["local"] for entry in link["addr_info"]]
    files = host.check_output("grep -l rnic0 /etc/systemd/network/*.network").split()
    assert len(files) == 1
    assert f"10.5.1.10{number}/16" in host.file(files[0]).content_string


def test_no_route_leads_out_of_the_rdma_network(host: Any) -> None:
    assert host.check_output("ip route show default dev rnic0") == ""


def test_a_user_sees_the_partitions_active(host: Any) -> None:
    table = host.check_output("vipu list partitions")
    for partition in ("train", "serve"):
        row = next(line for line in table.splitlines() if f" {partition} " in line)
        assert row.rstrip().endswith("ACTIVE")


def test_a_login_shell_knows_the_partition(host: Any) -> None:
    output = host.check_output("sh -lc 'echo $IPUOF_VIPU_API_HOST $IPUOF_VIPU_API_PORT $IPUOF_VIPU_API_PARTITION_ID'")
    assert output.split() == ["10.3.1.200", "8090", "train"]


def test_the_controller_holds_the_whole_pod(controller: Any) -> None:
    agents = json.loads(controller.check_output("vipu-admin --showjson list agents"))["agents"]
    assert {agent["id"]: agent["status"]["state"] for agent in agents} == dict.fromkeys(MACHINES, "Up")
    allocation = json.loads(controller.check_output("vipu-admin --showjson get allocation demo"))["allocation"]
    assert sorted(allocation["spec"]["agent_ids"]) == sorted(MACHINES)


def test_the_partition_lies_on_the_addresses_that_the_machines_have(controller: Any) -> None:
    config = json.loads(controller.check_output("vipu-admin get partition train --gcd 0 --ipuof-configs"))
    addresses = {device["ip"] for device in config["devices"]}
    assert len(config["devices"]) == 32
    assert addresses == set(list(MACHINES.values())[:8])
