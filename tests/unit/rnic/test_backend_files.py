# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of each back end as a person finds them, and the script that undoes a change as a shell finds it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._rnic.backends import BACKENDS
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._rnic.plan import rendered
from ansible_collections.ipu.pod.plugins.module_utils._rnic.undo import SCRIPT
from tests.support.in_memory.rnic_runs import changed, server_with

HEADER = "# Written by ipu.pod.rnic_network, which overwrites what is changed here by hand.\n"
OPTIONS: list[dict[str, Any]] = [
    {"name": "rnic0", "mac": "04:3f:72:00:01:02", "description": "upper port"},
    {"name": "rnic1"},
    {"name": "bond0", "type": "bond", "members": ["rnic0", "rnic1"], "mode": "active-backup", "mtu": 9000},
    {"name": "tenant", "type": "vlan", "parent": "bond0", "vlan_id": 101, "addresses": ["10.7.1.1/16", "fd00::1/64"]},
]


def files_of(backend: str) -> dict[str, str]:
    return {
        path.rsplit("/", 1)[1]: text.removeprefix(HEADER)
        for path, text in rendered(interfaces_from(OPTIONS), BACKENDS[backend]).items()
        if text.startswith(HEADER)
    }


def test_networkd() -> None:
    files = files_of("networkd")
    assert files.keys() == {
        *("50-ipu-rnic0.network", "50-ipu-rnic1.network", "50-ipu-bond0.network", "50-ipu-bond0.netdev"),
        *("50-ipu-tenant.network", "50-ipu-tenant.netdev", "50-ipu-tenant.conf"),
    }
    assert files["50-ipu-tenant.netdev"] == "\n[NetDev]\nKind=vlan\nName=tenant\n\n[VLAN]\nId=101\n"
    assert files["50-ipu-tenant.conf"] == "\n[Network]\nVLAN=tenant\n"
    assert files["50-ipu-bond0.netdev"] == (
        "\n[NetDev]\nKind=bond\nName=bond0\n\n[Bond]\nMIIMonitorSec=100ms\nMode=active-backup\n"
    )
    member = files["50-ipu-rnic0.network"]
    assert "[Match]\nPermanentMACAddress=04:3f:72:00:01:02\n" in member
    assert "Bond=bond0\n" in member
    assert "LinkLocalAddressing=no\n" in member


def test_netplan() -> None:
    files = files_of("netplan")
    # In this order netplan finds everything defined before it is used.
    assert sorted(files) == ["60-ipu-rnic0.yaml", "60-ipu-rnic1.yaml", "61-ipu-bond0.yaml", "62-ipu-tenant.yaml"]
    assert files["62-ipu-tenant.yaml"] == (
        'network:\n  version: 2\n  vlans:\n    "tenant":\n      id: 101\n      link: "bond0"\n      optional: true\n'
        "      dhcp4: false\n      dhcp6: false\n      accept-ra: false\n      ignore-carrier: true\n"
        '      link-local: [ipv6]\n      addresses: ["10.7.1.1/16", "fd00::1/64"]\n'
    )
    assert 'parameters: {mode: "active-backup", mii-monitor-interval: 100}\n' in files["61-ipu-bond0.yaml"]
    assert files["60-ipu-rnic0.yaml"].startswith("# Description: upper port\nnetwork:\n")


def test_networkmanager() -> None:
    files = files_of("networkmanager")
    uuid = next(line for line in files["ipu-tenant.nmconnection"].splitlines() if line.startswith("uuid="))
    assert files["ipu-tenant.nmconnection"] == (
        f"\n[connection]\nid=ipu-tenant\n{uuid}\ntype=vlan\ninterface-name=tenant\n"
        "\n[vlan]\nid=101\nparent=bond0\n\n[ethernet]\n"
        "\n[ipv4]\nmethod=manual\naddress1=10.7.1.1/16\nnever-default=true\n"
        "\n[ipv6]\naddr-gen-mode=eui64\nmethod=manual\naddress1=fd00::1/64\nnever-default=true\n"
    )
    member = files["ipu-rnic0.nmconnection"]
    assert "mac-address=04:3f:72:00:01:02\n" in member
    assert "master=bond0\nslave-type=bond\n" in member
    assert "[ipv4]" not in member
    uuids = [line for text in files.values() for line in text.splitlines() if line.startswith("uuid=")]
    assert len(set(uuids)) == 4


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_a_shell_and_shellcheck_take_the_undo_script(tmp_path: Path, backend: str) -> None:
    server = server_with(backend)
    server.sysfs.limits = {"rnic0": 4}
    functions = [{"index": 0, "mac": "02:00:00:00:01:00"}]
    changed(server, [{"name": "rnic0", "virtual_functions": functions}, {**OPTIONS[3], "parent": "rnic0"}])
    path = tmp_path / "undo"
    path.write_text(server.files.files[SCRIPT].content)
    assert "try " in path.read_text()
    for checker in (["sh", "-n"], ["shellcheck"]):
        done = subprocess.run([*checker, path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
