# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`ipu-workload`: stands for an application of Poplar on whatever machine it runs.

It finds its partition as Poplar does, reaches each IPU-Machine of it with frames of the full MTU, and moves data to and
from all of them side by side over the RNIC network.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from podsim.ipuof_settings import NoConfiguration, gcds
from podsim.vipu.cli_settings import SettingsError
from podsim.vipu.data_service import LARGEST_MESSAGE, LENGTH
from podsim.vipu.errors import Refused
from podsim.vipu.rpc import Unreachable

MESSAGES = 16
SECONDS = 5
# Of IPv4 and ICMP, before what a ping carries.
HEADERS = 28
MIB = 1024 * 1024


class Failed(Exception):
    """One sentence: what the workload cannot do, and why."""


class Moved(NamedTuple):
    """What went to an IPU-Machine and back: the MTU on the way, bytes, seconds."""

    mtu: int
    size: int
    seconds: float


def main() -> int:
    """Run it; returns the exit code."""
    try:
        partition, machines = find_machines(os.environ, Path.home())
    except (Failed, NoConfiguration, Refused, SettingsError, Unreachable) as error:
        print(f"ipu-workload: {error}", file=sys.stderr)
        return 1
    with ThreadPoolExecutor(len(machines)) as pool:
        results = list(pool.map(_tried, machines))
    for (address, _port), result in zip(machines, results, strict=True):
        # Before what goes to standard error.
        print(f"{address}: {result}" if isinstance(result, Failed) else _line(address, result), flush=True)
    moved = [result for result in results if isinstance(result, Moved)]
    if len(moved) < len(machines):
        print(
            f"ipu-workload: {len(machines) - len(moved)} of {len(machines)} IPU-Machines of the partition {partition} "
            "cannot be used from here.",
            file=sys.stderr,
        )
        return 1
    total = 2 * sum(result.size for result in moved) / MIB
    rate = total / max(result.seconds for result in moved)
    print(f"partition {partition}: {total:.0f} MiB to and from {len(moved)} IPU-Machines, {rate:.1f} MiB/s")
    return 0


def find_machines(environment: Mapping[str, str], home: Path) -> tuple[str, list[tuple[str, int]]]:
    """The partition, and the addresses and ports of its IPU-Machines, as the machine's settings say.

    Raises:
        Failed: the partition has none.
        NoConfiguration: there are no settings, or none that can be used.
    """
    found = gcds(environment, home)
    machines = sorted({(device["ip"], int(device["server_port"])) for gcd in found for device in gcd["devices"]})
    if not machines:
        raise Failed("the IPUoF configuration has no IPUs.")
    return found[0]["attributes"]["Partition Id"], machines


def _tried(machine: tuple[str, int]) -> Moved | Failed:
    try:
        return use(*machine)
    except Failed as failure:
        return failure


def use(address: str, port: int) -> Moved:
    """Reach an IPU-Machine and move data.

    Raises:
        Failed: it is not reached, or what comes back is not what was sent.
    """
    interface, mtu = _way(address)
    if not _answers(address, 0):
        raise Failed(f"does not answer on {interface}; this machine has to be in the VLAN of the partition's vPOD.")
    if not _answers(address, mtu - HEADERS):
        raise Failed(f"does not answer frames of the full MTU of {interface}, {mtu} bytes, but smaller ones.")
    try:
        return Moved(mtu, MESSAGES * LARGEST_MESSAGE, move(address, port))
    except OSError as error:
        raise Failed(f"answers on {interface}, but takes no data at port {port}: {error}.") from None


def move(address: str, port: int) -> float:
    """Send messages and compare what comes back; return how many seconds that took."""
    message = os.urandom(LARGEST_MESSAGE)
    with (
        socket.create_connection((address, port), SECONDS) as connection,
        ThreadPoolExecutor(1) as sender,
        connection.makefile("rb") as answers,
    ):
        start = time.monotonic()
        for _number in range(MESSAGES):
            sending = sender.submit(connection.sendall, LENGTH.pack(len(message)) + message)
            header = answers.read(LENGTH.size)
            if header != LENGTH.pack(len(message)) or answers.read(len(message)) != message:
                raise Failed(f"gives back at port {port} what was not sent.")
            sending.result()
        return time.monotonic() - start


def _way(address: str) -> tuple[str, int]:
    """The interface by which packets go to an address, and its MTU."""
    route = subprocess.run(["ip", "-o", "route", "get", address], capture_output=True, text=True, check=False)
    found = re.search(r" dev (\S+)", route.stdout)
    if not found:
        raise Failed("has no route from here; this machine has to have an RNIC in the partition's vPOD.")
    interface = found[1]
    return interface, int(Path(f"/sys/class/net/{interface}/mtu").read_text(encoding="ascii"))


def _answers(address: str, size: int) -> bool:
    """Whether one of three pings comes back whole, never in fragments."""
    ping = ["ping", "-q", "-M", "do", "-c", "3", "-i", "0.2", "-W", "2", "-s", str(size), address]
    return subprocess.run(ping, capture_output=True, check=False).returncode == 0


def _line(address: str, moved: Moved) -> str:
    data = 2 * moved.size / MIB
    return f"{address}: frames of {moved.mtu} bytes, {data:.0f} MiB to and from it, {data / moved.seconds:.1f} MiB/s"
