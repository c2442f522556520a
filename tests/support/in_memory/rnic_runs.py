# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of the module's phases on a server in memory, without Ansible."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File
from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, converge
from ansible_collections.ipu.pod.plugins.module_utils._rnic.checkpoint import Checkpoint
from ansible_collections.ipu.pod.plugins.module_utils._rnic.client import Client
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import interfaces_from
from ansible_collections.ipu.pod.plugins.module_utils._rnic.session import Session
from tests.support.in_memory.server import Nic, TinyServer

MANAGEMENT = frozenset({"10.3.1.101"})
CHANGE = "0a1b2c3d"
CONFIRM_WITHIN = 120

Options = list[dict[str, Any]]


def checkpoint_on(server: TinyServer) -> Checkpoint:
    return Checkpoint(Programs(server.run), server.files)


def client_of(server: TinyServer) -> Client:
    return Client(Programs(server.run), server.files, server.sysfs, MANAGEMENT)


def session_on(server: TinyServer, options: Options, backend: str = "auto", replaced: bool = False) -> Session:
    return Session(
        client_of(server),
        checkpoint_on(server),
        interfaces_from(options),
        backend,
        replaced=replaced,
        confirm_within=CONFIRM_WITHIN,
        change=CHANGE,
        clock=server.clock,
        pause=server.pause,
    )


def changed(server: TinyServer, options: Options, check_mode: bool = False, **how: Any) -> Outcome:
    """The first phase alone: a change that is made waits for its confirmation afterwards."""
    checkpoint_on(server).refuse_pending()
    session = session_on(server, options, **how)
    return converge(session.read, session.plan, session.apply, check_mode)


def confirmed(server: TinyServer, options: Options, **how: Any) -> Outcome:
    """Both phases."""
    outcome = changed(server, options, **how)
    if outcome.steps and outcome.failure is None:
        assert session_on(server, options, **how).confirm(CHANGE) == outcome.after
    return outcome


def problem_of_confirmation(server: TinyServer, options: Options) -> str:
    """Why the second phase does not confirm."""
    try:
        session_on(server, options).confirm(CHANGE)
    except DeviceError as error:
        return str(error)
    raise AssertionError("the change was confirmed")


def running(server: TinyServer) -> dict[str, Any]:
    """Everything that the kernel has."""
    return {
        name: (n.kind, n.mtu, n.up, sorted(n.addresses), n.master, n.parent, n.vlan_id, n.bond_mode, list(n.functions))
        for name, n in server.nics.items()
    }


def persistent(server: TinyServer) -> dict[str, tuple[str, str]]:
    """Every file that survives a reboot, but the traces of what was undone, and links to units that do not exist."""
    units = server.files.names("/etc/systemd/system")
    return {
        path: (file.content, file.mode)
        for path, file in server.files.files.items()
        if not path.startswith(("/run/", "/var/lib/ipu-pod/")) and "ipu-rnic-undo" not in path
        if ".wants/" not in path or path.rsplit("/", 1)[1] in units
    }


def networkd_server() -> TinyServer:
    """A server with a management port and two RNIC ports that systemd-networkd may have."""
    return TinyServer(
        {
            "eno1": Nic("d0:94:66:00:00:01", addresses=["10.3.1.101/24"]),
            "rnic0": Nic("04:3f:72:00:01:02"),
            "rnic1": Nic("04:3f:72:00:01:03"),
        }
    )


def server_with(backend: str) -> TinyServer:
    """The same with the daemon of a back end."""
    server = networkd_server()
    if backend == "netplan":
        management = "network:\n  version: 2\n  ethernets:\n    eno1:\n      addresses: [10.3.1.101/24]\n"
        server.files.write("/etc/netplan/50-site.yaml", File(management, mode="0600"))
        server.netplan.generate()
    if backend == "networkmanager":
        server.networkd.runs, server.network_manager.runs = False, True
        server.network_manager.unmanaged.add("eno1")
        server.network_manager.boot()
    server.networkd.reload()
    return server
