# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of DHCP: its text, what is refused, and that the real dnsmasq takes it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._dhcp.hosts import hosts_of_machines
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.plugin_utils._pod_services.configurations import dnsmasq_configuration

HOSTS = [
    {"name": "pod001-ipum1-bmc", "mac": "70:69:79:20:01:02", "address": "10.1.1.1"},
    {"name": "pod001-ipum1-rnic", "mac": "0C-42-A1-00-01-01", "address": "10.5.1.1"},
]
SERVED = {
    "interface": "rnic0.101",
    "networks": ["10.5.0.0/16"],
    "time_servers": ["10.3.1.101"],
    "syslog_servers": ["10.3.1.101", "10.3.1.102"],
}
OWN = ["10.1.1.101", "10.5.1.101"]


def test_configuration_as_a_person_finds_it() -> None:
    assert dnsmasq_configuration(SERVED, HOSTS, OWN).splitlines()[2:] == [
        "port=0",
        "no-resolv",
        "no-hosts",
        "interface=rnic0.101",
        "except-interface=lo",
        "bind-interfaces",
        "dhcp-authoritative",
        "dhcp-ignore=tag:!known",
        "dhcp-option=option:router",
        "dhcp-option=option:dns-server",
        "dhcp-option=option:ntp-server,10.3.1.101",
        "dhcp-option=option:log-server,10.3.1.101,10.3.1.102",
        "dhcp-range=10.5.0.0,static,255.255.0.0,1h",
        "dhcp-host=0c:42:a1:00:01:01,10.5.1.1,pod001-ipum1-rnic",
    ]


def test_an_rnic_has_one_address_in_every_vlan() -> None:
    def hosts_on(interface: str) -> list[str]:
        text = dnsmasq_configuration({**SERVED, "interface": interface}, HOSTS, OWN)
        return [line for line in text.splitlines() if line.startswith("dhcp-host=")]

    assert hosts_on("rnic0.101") == hosts_on("rnic0.102") != []


@pytest.mark.skipif(shutil.which("dnsmasq") is None, reason="no dnsmasq on this machine to judge its configuration")
@pytest.mark.parametrize("changes", [{}, {"lease_time": "infinite"}, {"networks": ["10.1.1.0/24", "10.5.0.0/16"]}])
def test_dnsmasq_takes_it(tmp_path: Path, changes: dict[str, Any]) -> None:
    file = tmp_path / "dnsmasq.conf"
    file.write_text(dnsmasq_configuration({**SERVED, **changes}, HOSTS, OWN), encoding="ascii")
    done = subprocess.run(["dnsmasq", "--test", f"--conf-file={file}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "dnsmasq: syntax check OK.\n")


@pytest.mark.parametrize(
    ("declared", "hosts", "message"),
    [
        ({"interface": "two words"}, HOSTS, "DHCP: interface 'two words' is no interface name; name the one to serve"),
        ({"networks": ["10.5.0.1/16"]}, HOSTS, "DHCP on rnic0.101: '10.5.0.1/16' is no IPv4 network; write it like"),
        ({"networks": ["10.5.0.0/16", "10.5.1.0/24"]}, HOSTS, "the networks 10.5.0.0/16 and 10.5.1.0/24 overlap"),
        ({"networks": []}, HOSTS, "no known host has an address in its networks; declare hosts, or leave it out"),
        ({"networks": ["10.9.0.0/16"]}, HOSTS, "no known host has an address in its networks"),
        ({"networks": ["10.5.0.0/24", "10.5.1.0/25"]}, HOSTS, "no address in 10.5.0.0/24; give it one, or nobody"),
        ({"lease_time": "soon"}, HOSTS, "lease_time 'soon' is none; write it like 30m"),
        ({"time_servers": ["clock"]}, HOSTS, "time_servers: 'clock' is no IPv4 address; write it like 10.3.1.101"),
        ({}, [*HOSTS, {**HOSTS[1], "name": "twin"}], "DHCP hosts pod001-ipum1-rnic and twin: both have the mac"),
        ({}, [{**HOSTS[0], "mac": "x"}], "DHCP host pod001-ipum1-bmc: mac 'x' is no MAC address"),
        ({}, [{**HOSTS[0], "address": "10.5.0"}], "DHCP host pod001-ipum1-bmc: '10.5.0' is no IPv4 address"),
        ({}, [{**HOSTS[0], "name": "a b"}], "DHCP host 1: name 'a b' is no host name"),
        ({}, [{**HOSTS[1], "address": "10.5.255.255"}], "has 10.5.255.255, the first or last address of 10.5.0.0/16"),
    ],
)
def test_refused_with_one_sentence(declared: dict[str, Any], hosts: list[dict[str, str]], message: str) -> None:
    with pytest.raises(Refused) as refused:
        dnsmasq_configuration({**SERVED, **declared}, hosts, OWN)
    assert message in str(refused.value)


def test_only_ends_with_a_known_mac_are_served() -> None:
    facts = {"bmc_address": "10.1.1.1", "gateway_address": "10.2.1.1", "rnic_address": "10.5.1.1"}
    machines = {"pod001-ipum1": {**facts, "bmc_mac": "70:69:79:20:01:02"}, "pod001-ipum2": facts}
    assert hosts_of_machines(machines) == [
        {"name": "pod001-ipum1-bmc", "mac": "70:69:79:20:01:02", "address": "10.1.1.1"}
    ]
