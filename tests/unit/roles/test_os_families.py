# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The differences between the supported OS releases, over the facts that Ansible gathers there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from ansible_collections.ipu.pod.plugins.plugin_utils._host_resources.poplar_server import PACKAGES

ROLES = Path(__file__).resolve().parents[3] / "roles"
RELEASES = {
    "Debian 12": ("Debian", "Debian", "12"),
    "Debian 13": ("Debian", "Debian", "13"),
    "Ubuntu 20.04": ("Debian", "Ubuntu", "20"),
    "Ubuntu 22.04": ("Debian", "Ubuntu", "22"),
    "Ubuntu 24.04": ("Debian", "Ubuntu", "24"),
    "RHEL 9": ("RedHat", "RedHat", "9"),
    "Rocky 9": ("RedHat", "Rocky", "9"),
}


def value(role: str, name: str, release: str) -> Any:
    """A variable of a role as it is on a release."""
    family, distribution, version = RELEASES[release]
    facts = {"os_family": family, "distribution": distribution, "distribution_major_version": version}
    variables = yaml.safe_load((ROLES / role / "vars" / "main.yml").read_text(encoding="utf-8"))
    template = Templar(DataLoader(), variables={**trusted(variables), "ansible_facts": facts})
    return template.template(trusted(variables)[name])


def trusted(value: Any) -> Any:
    """Templates that were read from the project itself may be rendered."""
    if isinstance(value, dict):
        return {key: trusted(item) for key, item in value.items()}
    return trust_as_template(value) if isinstance(value, str) else value


@pytest.mark.parametrize("release", RELEASES)
def test_rdma_packages(release: str) -> None:
    packages = PACKAGES[RELEASES[release][0]]
    assert {"rdma-core", "perftest", "lldpd", "ethtool"} <= set(packages)
    rhel = RELEASES[release][0] == "RedHat"
    assert ({"libibverbs-utils", "iproute"} if rhel else {"ibverbs-utils", "iproute2"}) <= set(packages)


@pytest.mark.parametrize(
    ("release", "service", "drop_ins", "include_in"),
    [
        ("Debian 12", "chrony.service", "/etc/chrony/conf.d", ""),
        ("Debian 13", "chrony.service", "/etc/chrony/conf.d", ""),
        ("Ubuntu 20.04", "chrony.service", "/etc/chrony/conf.d", "/etc/chrony/chrony.conf"),
        ("Ubuntu 22.04", "chrony.service", "/etc/chrony/conf.d", ""),
        ("Ubuntu 24.04", "chrony.service", "/etc/chrony/conf.d", ""),
        ("RHEL 9", "chronyd.service", "/etc/chrony.d", "/etc/chrony.conf"),
        ("Rocky 9", "chronyd.service", "/etc/chrony.d", "/etc/chrony.conf"),
    ],
)
def test_chrony(release: str, service: str, drop_ins: str, include_in: str) -> None:
    found = value("pod_services", "pod_services_os", release)
    assert found["chrony"] == {"service": service, "drop_ins": drop_ins, "include_in": include_in}


@pytest.mark.parametrize("release", RELEASES)
def test_who_writes_the_pods_messages(release: str) -> None:
    """On Ubuntu rsyslog gives up root, and then needs a directory of its own."""
    wanted = "syslog" if RELEASES[release][1] == "Ubuntu" else "root"
    assert value("pod_services", "pod_services_os", release)["rsyslog_user"] == wanted


@pytest.mark.parametrize("release", RELEASES)
def test_dhcp_is_served_by_the_program_itself(release: str) -> None:
    """Debian's package `dnsmasq` starts a service that would serve everywhere; `dnsmasq-base` is the program alone."""
    found = value("pod_services", "pod_services_os", release)
    assert found["dnsmasq"] == "/usr/sbin/dnsmasq"
    assert found["packages"]["dhcp"] == ("dnsmasq" if RELEASES[release][0] == "RedHat" else "dnsmasq-base")


@pytest.mark.parametrize("release", RELEASES)
def test_nfs_client_and_node_exporter(release: str) -> None:
    found = value("poplar_host", "poplar_host_os", release)
    assert found["nfs_client"] == ("nfs-utils" if RELEASES[release][0] == "RedHat" else "nfs-common")
    assert found["node_exporter"]["service"]
