#!/usr/bin/python3
# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An ordinary program for IPUs: it finds them as Poplar does, tries their IPU-Machines, and says in a line of JSON what
it has found. With --hold it then stays until SIGUSR1; with --stubborn it does not listen to SIGTERM either.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

PATIENCE = 20
OURS = ("IPUOF_", "IPU_POD_")


def configuration() -> dict[str, Any]:
    """The IPUoF configuration of this program: a file, or what the V-IPU controller says; empty where there is none."""
    settings = os.environ
    if "IPUOF_CONFIG_PATH" in settings:
        return dict(json.loads(Path(settings["IPUOF_CONFIG_PATH"]).read_text()))
    if "IPUOF_VIPU_API_PARTITION_ID" not in settings:
        return {}
    controller = ["--api-host", settings["IPUOF_VIPU_API_HOST"], "--api-port", settings["IPUOF_VIPU_API_PORT"]]
    what = [settings["IPUOF_VIPU_API_PARTITION_ID"], "--gcd", settings["IPUOF_VIPU_API_GCD_ID"], "--ipuof-configs"]
    done = subprocess.run(["vipu", *controller, "get", "partition", *what], check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def reaches(address: str, port: int) -> bool:
    """Whether a machine answers over the data plane; that nothing listens at its port is an answer."""
    try:
        socket.create_connection((address, port), PATIENCE).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return True


def report() -> dict[str, Any]:
    """The observations of this task."""
    found = configuration()
    devices = found.get("devices", [])
    ports = {device["ip"]: device["rdma_port"] for device in devices}
    return {
        "task": int(os.environ.get("SLURM_PROCID", "0")),
        "server": socket.gethostname(),
        "devices": sorted([device["ip"], device["device_id"]] for device in devices),
        "reached": sorted(address for address, port in ports.items() if reaches(address, port)),
        "partition": found.get("attributes", {}).get("Partition Id", ""),
        "gcd": found.get("attributes", {}).get("GCD Id", ""),
        "variables": {name: value for name, value in os.environ.items() if name.startswith(OURS)},
    }


def main() -> None:
    """Print the report, and stay if an option asks for it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    if "--stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(json.dumps(report()), flush=True)
    if "--hold" in sys.argv:
        signal.sigwait({signal.SIGUSR1})


if __name__ == "__main__":
    main()
