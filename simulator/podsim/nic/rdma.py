# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""rdma of iproute2, `-j link show` and `-j resource show qp` only. Whatever else is asked goes to the real program.

Each port has the kernel's own queue pair for management. Programs have none here: who wants one to be seen writes its
device and number, such as `mlx5_0 271`, into a file that has the id of a process for a name; it lives as long as that.
"""

from __future__ import annotations

import json
import os

from podsim.nic.hardware import Nics
from podsim.nic.reply import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    # Device, number, type, owner.
    _QueuePair = tuple[str, int, str, dict[str, Any]]

QUEUE_PAIRS = "/run/podsim-queue-pairs"
PROCESSES = "/proc"
MANAGEMENT = 1


def run(nics: Nics, arguments: list[str]) -> Reply | None:
    """Run the tool; None where the real program has to answer."""
    if not nics.ports:
        return None
    if arguments == ["-j", "link", "show"]:
        return Reply(output=json.dumps(_links(nics)) + "\n")
    if arguments == ["-j", "resource", "show", "qp"]:
        return Reply(output=json.dumps(_queue_pairs(nics)) + "\n")
    return None


def _links(nics: Nics) -> list[dict[str, Any]]:
    return [
        {
            "ifindex": number,
            "ifname": port.rdma_device,
            "port": 1,
            "state": "ACTIVE",
            "physical_state": "LINK_UP",
            "netdev": device,
        }
        for number, (device, port) in enumerate(nics.ports.items())
    ]


def _queue_pairs(nics: Nics) -> list[dict[str, Any]]:
    numbers = {port.rdma_device: number for number, port in enumerate(nics.ports.values())}
    kernels: list[_QueuePair] = [(device, MANAGEMENT, "GSI", {"comm": "ib_core"}) for device in numbers]
    programs: list[_QueuePair] = [
        (device, number, "RC", {"pid": process, "comm": command})
        for process, command, device, number in _of_programs()
        if device in numbers
    ]
    return [
        {
            "ifindex": numbers[device],
            "ifname": device,
            "port": 1,
            "lqpn": number,
            "type": kind,
            "state": "RTS",
            "sq-psn": 0,
            **owner,
        }
        for device, number, kind, owner in (*kernels, *programs)
    ]


def _of_programs() -> Iterator[tuple[int, str, str, int]]:
    """Process, its command, RDMA device and number of each queue pair of a program that still runs."""
    for name in sorted(os.listdir(QUEUE_PAIRS)) if os.path.isdir(QUEUE_PAIRS) else ():
        try:
            with open(f"{PROCESSES}/{name}/comm") as file:
                command = file.read().strip()
        except FileNotFoundError:
            continue
        with open(f"{QUEUE_PAIRS}/{name}") as file:
            device, number = file.read().split()
        yield int(name), command, device, int(number)
