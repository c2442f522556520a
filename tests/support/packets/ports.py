# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network ports of the simulated machines, and sockets beside them."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What the names of the simulated machines' namespaces begin with.
SIMULATED = "podsim-"
CLONE_NEWNET = 0x40000000
# Python has no names for them: buffers beyond the machine's limits, in bytes.
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
# What waits while nobody answers ARP, or while a busy machine does something else, is not lost here.
BUFFER = 16 << 20

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Port:
    """A network port: the network namespace of its machine, its interface, MAC and IPv4 address."""

    namespace: str
    interface: str
    mac: str
    address: str

    @property
    def machine(self) -> str:
        """The name of the simulated machine."""
        return self.namespace.removeprefix(SIMULATED)

    def __str__(self) -> str:
        return f"{self.machine} {self.interface}"


def ports_of(namespace: str) -> dict[str, Port]:
    """The ports in a network namespace as they are now, by interface; without an address where one has none."""
    shown = subprocess.run(
        ["ip", "-n", namespace, "-json", "address", "show"], check=True, capture_output=True, text=True
    )
    return {
        link["ifname"]: Port(namespace, link["ifname"], link["address"], _ipv4(link))
        for link in json.loads(shown.stdout)
    }


def rnic_of(machine: str) -> Port:
    """The RNIC of a simulated machine."""
    return ports_of(f"{SIMULATED}{machine}")["rnic0"]


def management_port_of(machine: str) -> Port:
    """The port of a simulated machine to the management network."""
    return ports_of(f"{SIMULATED}{machine}")["eth0"]


def _ipv4(link: dict[str, Any]) -> str:
    return next((address["local"] for address in link["addr_info"] if address["family"] == "inet"), "")


@contextmanager
def in_namespace(name: str) -> Iterator[None]:
    """This thread is in a network namespace; a socket that it opens there stays there."""
    with (
        Path("/proc/thread-self/ns/net").open("rb") as own,
        Path(f"/run/netns/{name}").open("rb") as other,
    ):
        _enter(other.fileno())
        try:
            yield
        finally:
            _enter(own.fileno())


def _enter(namespace: int) -> None:
    if _libc.setns(namespace, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def port_socket(port: Port, family: int, kind: int, protocol: int = 0) -> socket.socket:
    """A socket beside a port that never blocks, with room for what waits."""
    with in_namespace(port.namespace):
        opened = socket.socket(family, kind, protocol)
    for option in (SO_SNDBUFFORCE, SO_RCVBUFFORCE):
        opened.setsockopt(socket.SOL_SOCKET, option, BUFFER)
    opened.setblocking(False)
    return opened
