# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first process of an IPU-Machine's container: it keeps the DHCP clients and the V-IPU agent, and serves data.

When either of them ends the machine ends, too, so that a broken machine is seen as a machine that is down. So it does
when what they have started, such as the gateway's syslog daemon, is killed.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
from types import FrameType

from podsim.vipu.data_service import DataService
from podsim.vipu.discovery import PORT as DISCOVERY_PORT
from podsim.vipu.ipuof import SERVER_PORT

# Whoever listens on the management network may hear of this machine.
EVERYBODY = "255.255.255.255"
MANAGEMENT_PORT = "eth0"
LEASE_SCRIPT = "/usr/local/sbin/take-lease"
# Time and log servers, beside what is always asked for; LEASE_SCRIPT takes them.
REQUESTED = ("-O", "42", "-O", "7")


def main(argv: list[str] | None = None) -> int:
    """Run the machine until a signal ends it; returns the exit code."""
    parser = argparse.ArgumentParser(prog="podsim machine", description=__doc__.splitlines()[0])
    parser.add_argument("name", help="the IPU-Machine's name, which is its agent's id")
    parser.add_argument("--agent", required=True, metavar="ADDRESS:PORT", help="where the V-IPU agent listens")
    parser.add_argument("--ask", default=[], action="append", metavar="PORT", help="ask for this port's address, too")
    parser.add_argument("--rnic", required=True, metavar="INTERFACE", help="the RNIC's interface")
    parser.add_argument("--mtu", required=True, metavar="BYTES", type=int, help="the RNIC's MTU")
    arguments = parser.parse_args(argv)

    signal.signal(signal.SIGTERM, _stop)
    subprocess.run(["ip", "link", "set", arguments.rnic, "mtu", str(arguments.mtu), "up"], check=True)
    subprocess.run(["ip", "route", "replace", EVERYBODY, "dev", MANAGEMENT_PORT], check=True)
    data_service = DataService(arguments.rnic, SERVER_PORT)
    threading.Thread(target=data_service.serve_forever, daemon=True).start()
    children = {
        *(_spawn_dhcp_client(port) for port in (arguments.rnic, *arguments.ask)),
        _spawn(
            "podsim",
            "agent",
            "--listen",
            arguments.agent,
            "--id",
            arguments.name,
            *("--rnic-interface", arguments.rnic),
            *("--announce", f"{EVERYBODY}:{DISCOVERY_PORT}"),
        ),
    }
    # As process 1 it inherits orphans; those may end, but not be killed.
    while True:
        process, status = os.wait()
        code = os.waitstatus_to_exitcode(status)
        if process in children or code == -signal.SIGKILL:
            print(f"process {process} ended with status {code}", file=sys.stderr)
            return 1


def _spawn_dhcp_client(port: str) -> int:
    client = ("busybox", "udhcpc", "-f", "-i", port, "-s", LEASE_SCRIPT, "-p", f"/run/udhcpc.{port}.pid")
    return _spawn(*client, *REQUESTED, "-t", "3", "-T", "1", "-A", "2")


def _spawn(*command: str) -> int:
    return subprocess.Popen(command, stdin=subprocess.DEVNULL).pid


def _stop(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)
