# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a tool by the name of the program that was called; keeps its changes until the machine is switched off."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from podsim.nic import cma, dcb, ethtool, mlnx_qos, rdma
from podsim.nic.hardware import Nics
from podsim.nic.reply import Rejected, Reply

TOOLS: dict[str, Callable[[Nics, list[str]], Reply | None]] = {
    "mlnx_qos": mlnx_qos.run,
    "cma_roce_mode": cma.run_mode,
    "cma_roce_tos": cma.run_tos,
    "dcb": dcb.run,
    "ethtool": ethtool.run,
    "rdma": rdma.run,
}
REAL = Path("/usr/sbin")
# A power-off empties it, as it resets a NIC.
KEPT = Path("/run/podsim-nic.json")
NO_NICS = {"lo", "eth0"}


def answer(program: str, nics: Nics, arguments: list[str]) -> Reply | None:
    """The answer of one tool; None where the real program has to answer."""
    try:
        return TOOLS[program](nics, arguments)
    except Rejected as rejected:
        return rejected.reply


def main(program: str, arguments: list[str]) -> int:
    """Run one tool; returns the exit code, or becomes the real program."""
    reply = _run(program, arguments)
    if reply is None:
        real = REAL / program
        if not real.exists():
            print(f"{program}: the simulated NIC has no {' '.join(arguments)}", file=sys.stderr)
            return 1
        os.execv(real, [program, *arguments])
    sys.stdout.write(reply.output)
    sys.stderr.write(reply.errors)
    return reply.status


def _run(program: str, arguments: list[str]) -> Reply | None:
    # What has hardware of its own below it is no stand-in's business.
    devices = {path.name for path in Path("/sys/class/net").iterdir() if not (path / "device").exists()} - NO_NICS
    with KEPT.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        nics = Nics(devices, json.loads(file.read() or "{}"))
        reply = answer(program, nics, arguments)
        file.truncate(0)
        json.dump(nics.kept(), file)
    return reply
