# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The services that two IPU-Machines get of their management server: a declared one all, a stranger none."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
import testinfra

ADDRESSES = {"eth0": "10.1.2.1/22", "bmc0": "10.1.1.1/22", "rnic0": "10.1.5.1/24"}
PATIENCE = 60


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest) -> Any:
    """The management server."""
    return testinfra.get_host("ssh://pod001-poplar1", ssh_config=request.config.option.ssh_config)


@pytest.fixture(scope="module")
def declared() -> Any:
    """An IPU-Machine whose MAC addresses are declared, once it has an address for each."""
    machine = testinfra.get_host("podman://podsim-pod001-ipum1")
    until(lambda: addresses(machine) == ADDRESSES, lambda: addresses(machine))
    return machine


@pytest.fixture(scope="module")
def stranger() -> Any:
    """One that nobody has declared."""
    return testinfra.get_host("podman://podsim-pod001-ipum2")


def until(condition: Callable[[], bool], failure: Callable[[], object]) -> None:
    """Wait for something that a machine does by itself."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, failure()
        time.sleep(0.5)


def addresses(machine: Any) -> dict[str, str]:
    """The one IPv4 address of each port that has one."""
    links = json.loads(machine.check_output("ip -json -4 address show scope global"))
    return {link["ifname"]: f"{info['local']}/{info['prefixlen']}" for link in links for info in link["addr_info"]}


def test_an_ipu_machine_has_its_addresses_and_its_agent_answers(declared: Any, server: Any) -> None:
    assert declared.exists("ip")
    assert server.addr("10.1.2.1").port(8080).is_reachable
    leases = server.check_output("cat /var/lib/ipu-pod-dhcp/rnic0.leases").splitlines()
    assert [line.split()[1:3] for line in leases] == [["0c:42:a1:00:01:01", "10.1.5.1"]]


def test_an_ipu_machine_follows_the_servers_time(declared: Any) -> None:
    def selected() -> list[str]:
        lines = declared.run("chronyc -c sources").stdout.splitlines()
        return [line.split(",")[2] for line in lines if line.startswith("^,*")]

    until(lambda: selected() == ["10.1.3.101"], lambda: declared.run("chronyc -n sources"))


def test_an_ipu_machines_messages_arrive(declared: Any, server: Any) -> None:
    # The gateway gets its address after its BMC, which has one in the same network.
    for signal, has in (("USR2", False), ("USR1", True)):
        declared.check_output(f"kill -{signal} $(cat /run/udhcpc.eth0.pid)")
        until(lambda has=has: ("eth0" in addresses(declared)) is has, lambda: addresses(declared))
    until(lambda: declared.run("test -S /dev/log").rc == 0, lambda: "no /dev/log")
    declared.check_output("logger -t agent 'fan 3 is slow'")
    log = "/var/log/ipu-pod/10.1.2.1.log"
    until(lambda: "agent: fan 3 is slow" in server.run(f"cat {log}").stdout, lambda: server.run("ls /var/log/ipu-pod"))


def test_a_stranger_is_not_answered(stranger: Any) -> None:
    asked = [f"busybox udhcpc -n -q -f -t 3 -T 1 -i {port} -s /bin/true 2>&1" for port in ("eth0", "bmc0", "rnic0")]
    answers = stranger.check_output("; ".join(f"({command} || true)" for command in asked))
    assert answers.count("no lease, failing") == len(asked)
    assert addresses(stranger) == {}
