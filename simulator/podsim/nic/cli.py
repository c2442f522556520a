# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a tool by the name of the program that was called; keeps its changes until the machine is switched off.

A look at a pod runs dozens of these, and a process each: nothing is imported here that is not needed for an answer.
"""

from __future__ import annotations

import fcntl
import importlib
import marshal
import os
import sys

from podsim.nic.hardware import Nics
from podsim.nic.reply import Rejected, Reply

# Each program's module, and the function there.
TOOLS = {
    "mlnx_qos": ("mlnx_qos", "run"),
    "cma_roce_mode": ("cma", "run_mode"),
    "cma_roce_tos": ("cma", "run_tos"),
    "dcb": ("dcb", "run"),
    "ethtool": ("ethtool", "run"),
    "rdma": ("rdma", "run"),
}
REAL = "/usr/sbin"
# A power-off empties it, as it resets a NIC.
KEPT = "/run/podsim-nic"
DEVICES = "/sys/class/net"
NO_NICS = {"lo", "eth0"}


def answer(program: str, nics: Nics, arguments: list[str]) -> Reply | None:
    """The answer of one tool; None where the real program has to answer."""
    module, function = TOOLS[program]
    try:
        reply: Reply | None = getattr(importlib.import_module(f"podsim.nic.{module}"), function)(nics, arguments)
    except Rejected as rejected:
        return rejected.reply
    return reply


def main(program: str, arguments: list[str]) -> int:
    """Run one tool; returns the exit code, or becomes the real program."""
    reply = _run(program, arguments)
    if reply is None:
        real = f"{REAL}/{program}"
        if not os.path.exists(real):
            print(f"{program}: the simulated NIC has no {' '.join(arguments)}", file=sys.stderr)
            return 1
        os.execv(real, [program, *arguments])
    sys.stdout.write(reply.output)
    sys.stderr.write(reply.errors)
    return reply.status


def _is_simulated(hardware: str) -> bool:
    return os.path.exists(f"{hardware}/podsim") or not os.path.exists(hardware)


def _run(program: str, arguments: list[str]) -> Reply | None:
    # What has hardware of its own below it is no stand-in's business, and neither is a virtual function.
    devices = {name for name in os.listdir(DEVICES) if _is_simulated(f"{DEVICES}/{name}/device")} - NO_NICS
    with open(KEPT, "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        before = file.read()
        nics = Nics(devices, marshal.loads(before) if before else None)
        reply = answer(program, nics, arguments)
        after = marshal.dumps(nics.kept())
        if after != before:
            file.truncate(0)
            file.write(after)
    return reply
