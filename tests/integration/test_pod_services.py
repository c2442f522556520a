# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A management server for IPU-Machines that nobody has given an address: DHCP, time and syslog, in order."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.simulated_pod import podsim

INVENTORY = Path(__file__).resolve().parents[2] / "inventories" / "sim_services"
SERVER, KNOWN, STRANGER = "pod001-poplar1", "pod001-ipum1", "pod001-ipum2"
ADDRESSES = {"eth0": "10.1.2.1/22", "bmc0": "10.1.1.1/22", "rnic0": "10.1.5.1/24"}
PATIENCE = 60

# The management server has a port in the second VLAN, too, and serves there what it serves in the first.
RNICS = [{"name": "rnic0", "addresses": ["10.1.5.101/24"]}, {"name": "rnic1", "addresses": ["10.1.5.102/24"]}]
MANAGEMENT = {"networks": ["10.1.0.0/22"], "time_servers": ["10.1.3.101"], "syslog_servers": ["10.1.3.101"]}
SERVED = [
    {"interface": "eth0", **MANAGEMENT},
    {"interface": "rnic0", "networks": ["10.1.5.0/24"]},
    {"interface": "rnic1", "networks": ["10.1.5.0/24"]},
]
EXTRA = ("-e", json.dumps({"rnic_interfaces": RNICS, "pod_services_dhcp": SERVED}))

# It only answers to the RNIC of the management server, so that no IPU-Machine takes what it offers.
OTHER_SERVER = (
    "ip address add 10.1.5.66/24 dev rnic0; dnsmasq --port=0 --interface=rnic0 --except-interface=lo --bind-interfaces "
    "--user=root --pid-file=/run/other.pid --dhcp-leasefile=/run/other.leases --dhcp-range=10.1.5.0,static "
    "--dhcp-host=04:3f:72:00:01:02,10.1.5.77"
)


@pytest.fixture(scope="module", name="inventory")
def _inventory() -> Path:
    return INVENTORY


@pytest.fixture(scope="module")
def pod(fresh_pod: Any) -> Any:
    """The pod with its VLANs and the server's RNICs, without services."""
    run = fresh_pod.playbook("site", "-e", '{"run_parts": ["switches", "servers"]}', *EXTRA)
    assert run.code == 0, run.messages
    return fresh_pod


@pytest.fixture(scope="module")
def served(pod: Any) -> Any:
    """The pod with its services."""
    run = pod.playbook("pod_services", *EXTRA)
    assert run.code == 0, run.messages
    return pod


def until(condition: Callable[[], bool], failure: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, failure()
        time.sleep(0.5)


def addresses(pod: Any, machine: str) -> dict[str, str]:
    """The one IPv4 address of each port that has one."""
    links = json.loads(pod.inside(machine, "ip -json -4 address show scope global"))
    return {link["ifname"]: f"{info['local']}/{info['prefixlen']}" for link in links for info in link["addr_info"]}


def touched(pod: Any) -> str:
    """The state of the management server that a run could change, besides the run's own lock and record."""
    others = "! -path '*/systemd/*' ! -path '/var/lib/ipu-pod/*'"
    files = f"find /etc /var/lib /var/log/ipu-pod -type f {others} -exec sha256sum {{}} + 2>/dev/null | sort"
    return str(pod.inside(SERVER, f"{files}; systemctl list-units --all --plain --no-legend 'chrony*' 'rsys*' 'ipu*'"))


def signal(pod: Any, name: str, port: str) -> None:
    """Tell an IPU-Machine's DHCP client to renew (USR1) or to release (USR2) its lease."""
    pod.inside(KNOWN, f"kill -{name} $(cat /run/udhcpc.{port}.pid)")


def lease(pod: Any, interface: str) -> list[str]:
    """MAC and address of each lease that the server gave on one of its interfaces."""
    lines = pod.inside(SERVER, f"cat /var/lib/ipu-pod-dhcp/{interface}.leases").splitlines()
    return [" ".join(line.split()[1:3]) for line in lines]


def test_another_dhcp_server_is_named_and_nothing_is_touched(pod: Any) -> None:
    before = touched(pod)
    pod.inside(STRANGER, OTHER_SERVER)
    run = pod.playbook("pod_services", *EXTRA)
    pod.inside(STRANGER, "kill $(cat /run/other.pid); ip address flush dev rnic0")
    assert run.code != 0
    assert "10.1.5.66 serves DHCP on rnic0 already; switch that off, or leave rnic0 out of" in run.messages
    assert touched(pod) == before


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("pod_services_time", {"networks": ["10.1.0.0/33"]}, "'10.1.0.0/33' is no IPv4 network"),
        ("pod_services_dhcp", [{"interface": "eth0", "networks": ["10.1.5.0/24"]}], "has no address in 10.1.5.0/24"),
    ],
)
def test_what_cannot_be_served_is_refused_and_nothing_is_touched(
    pod: Any, variable: str, value: Any, sentence: str
) -> None:
    before = touched(pod)
    run = pod.playbook("pod_services", "-e", json.dumps({variable: value}))
    assert run.code != 0
    assert sentence in run.messages
    assert touched(pod) == before


def test_a_dry_run_touches_nothing(pod: Any) -> None:
    before = touched(pod)
    run = pod.playbook("pod_services", "--check", *EXTRA)
    assert run.code == 0, run.messages
    assert run.changed[SERVER] > 0
    assert touched(pod) == before
    assert addresses(pod, KNOWN) == {}


def test_an_rnic_keeps_its_address_in_another_vlan(served: Any) -> None:
    until(lambda: addresses(served, KNOWN) == ADDRESSES, lambda: addresses(served, KNOWN))
    assert lease(served, "rnic1") == []
    served.switch("configure", "interface Ethernet9/1", "switchport access vlan 102")
    signal(served, "USR1", "rnic0")
    until(lambda: "0c:42:a1:00:01:01 10.1.5.1" in lease(served, "rnic1"), lambda: lease(served, "rnic1"))
    assert addresses(served, KNOWN) == ADDRESSES
    # As after a restart: it asks anew, and knows of no earlier address.
    signal(served, "USR2", "rnic0")
    until(lambda: "rnic0" not in addresses(served, KNOWN), lambda: addresses(served, KNOWN))
    signal(served, "USR1", "rnic0")
    until(lambda: addresses(served, KNOWN) == ADDRESSES, lambda: addresses(served, KNOWN))
    served.inside(SERVER, "ping -q -c 1 -W 5 -I rnic1 10.1.5.1")
    assert "no" in served.inside(SERVER, "ping -q -c 1 -W 1 -I rnic0 10.1.5.1 >/dev/null && echo yes || echo no")


@pytest.mark.parametrize("pid_file", ["/run/udhcpc.bmc0.pid", "/dev/shm/chronyd.pid"])
def test_what_is_killed_on_a_gateway_or_on_its_bmc_is_repaired(served: Any, pid_file: str) -> None:
    until(lambda: addresses(served, KNOWN) == ADDRESSES, lambda: addresses(served, KNOWN))
    # The machine ends with it, and so may whoever asks for it.
    kill = ["podman", "exec", f"podsim-{KNOWN}", "sh", "-c", f"kill -KILL $(cat {pid_file})"]
    subprocess.run(kill, check=False, capture_output=True)
    subprocess.run(["podman", "wait", f"podsim-{KNOWN}"], check=True, capture_output=True, timeout=PATIENCE)
    podsim("up", str(INVENTORY / "pods.yml"))
    until(lambda: addresses(served, KNOWN) == ADDRESSES, lambda: addresses(served, KNOWN))
    runs = f"kill -0 $(cat {pid_file}) 2>/dev/null && echo yes || echo no"
    until(lambda: served.inside(KNOWN, runs) == "yes\n", lambda: served.inside(KNOWN, "ps"))
