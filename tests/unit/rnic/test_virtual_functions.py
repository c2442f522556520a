# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual functions of a hypervisor's NIC: one tenant comes or goes while the others' are in use."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.backends import BACKENDS
from ansible_collections.ipu.pod.plugins.module_utils._rnic.sysfs import Function
from tests.support.in_memory.rnic_runs import changed, checkpoint_on, confirmed, persistent, running, server_with
from tests.support.in_memory.server import TinyServer

UNIT = "/etc/systemd/system/ipu-vf-rnic0.service"
WANTED_AT_BOOT = "/etc/systemd/system/multi-user.target.wants/ipu-vf-rnic0.service"
backends = pytest.mark.parametrize("backend", sorted(BACKENDS))


def with_functions(*vlans: int, **words: Any) -> list[dict[str, Any]]:
    """rnic0 with a virtual function in each of these VLANs."""
    functions = [{"index": n, "mac": f"02:00:00:00:01:0{n}", "vlan": vlan} for n, vlan in enumerate(vlans)]
    return [{"name": "rnic0", "virtual_functions": functions, **words}]


def hypervisor(backend: str) -> TinyServer:
    """A server whose first virtual function a machine has, and nobody can say what else runs over the NIC."""
    server = server_with(backend)
    server.sysfs.limits = {"rnic0": 4}
    confirmed(server, with_functions(101, 999, 999))
    server.sysfs.taken["rnic0"] = [Function(0, "0000:81:00.2", "vfio-pci", ())]
    server.sysfs.rdma = ["mlx5_0"]
    server.queue_pairs = None
    return server


def vlans(server: TinyServer) -> list[int]:
    return [function["vlan"] for function in server.nics["rnic0"].functions]


def function_commands(server: TinyServer) -> list[str]:
    """The numbers of the functions that somebody has set something of."""
    return [argv[argv.index("vf") + 1] for argv in server.calls if "vf" in argv]


@backends
def test_one_gets_another_vlan_while_others_are_in_use_and_nothing_else_is_touched(backend: str) -> None:
    server = hypervisor(backend)
    written = {path: server.files.modified(path) for path in persistent(server)}
    calls = len(server.calls)
    confirmed(server, with_functions(101, 102, 999))
    assert vlans(server) == [101, 102, 999]
    assert function_commands(server) == ["1"]
    touched = {path for path in persistent(server) if server.files.modified(path) != written.get(path)}
    assert touched - {WANTED_AT_BOOT} == {UNIT}
    loading = ("networkctl reload", "netplan generate", "nmcli connection", "systemctl restart")
    commands = [" ".join(argv) for argv in server.calls[calls:]]
    assert [line for line in commands if line.startswith(loading) and "--root-dir" not in line] == []
    assert confirmed(server, with_functions(101, 102, 999)).steps == []


@backends
def test_the_others_are_there_after_a_reboot(backend: str) -> None:
    server = hypervisor(backend)
    confirmed(server, with_functions(101, 102, 999))
    server.reboot()
    assert vlans(server) == [101, 102, 999]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (with_functions(103, 999, 999), r"virtual function 0 of rnic0 \(0000:81:00.2, given to a virtual machine\)"),
        (with_functions(101, 102), "virtual function 0 of rnic0"),
        (with_functions(101, 102, 999, mtu=9000), "virtual function 0 of rnic0"),
        (with_functions(101, 102, 999, mtu=9000), "queue pairs that cannot be listed"),
    ],
)
def test_one_that_is_in_use_keeps_what_it_has(options: list[dict[str, Any]], message: str) -> None:
    server = hypervisor("networkd")
    before = running(server), persistent(server)
    with pytest.raises(Refused, match=message):
        changed(server, options)
    assert (running(server), persistent(server)) == before


def test_undoing_touches_only_what_was_touched() -> None:
    server = hypervisor("networkd")
    before = running(server), persistent(server)
    assert changed(server, with_functions(101, 102, 999)).failure is None
    assert vlans(server) == [101, 102, 999]
    scripts = [file.content for path, file in server.files.files.items() if path.startswith("/var/lib/ipu-pod/")]
    lines = [line.split() for script in scripts for line in script.splitlines() if " vf " in line and "try" in line]
    assert {line[line.index("vf") + 1] for line in lines} == {"1"}
    checkpoint_on(server).undo()
    assert (running(server), persistent(server)) == before
