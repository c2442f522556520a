# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switches' control plane: one EOS eAPI daemon per switch, on the switch's management address."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

from podsim.floor.daemons import Daemons
from podsim.floor.data_plane import database
from podsim.floor.errors import FloorError
from podsim.floor.plan import Floor, SwitchPlan
from podsim.floor.state import StateDirectory

EAPI_PORT = 443
# Demonstration credentials of a simulated switch that only this host can reach.
USER, PASSWORD = "admin", "podsim"
START_SECONDS = 30.0
POLL_SECONDS = 0.1


def start_eos(floor: Floor, state: StateDirectory, daemons: Daemons) -> None:
    """Start the EOS daemon of each switch that does not run, and wait until it takes connections."""
    running = daemons.running()
    started = {
        switch: daemons.start(switch.name, _command(switch, state), state.switch(switch.name) / "eos.log")
        for switch in floor.switches
        if switch.name not in running
    }
    for switch, process in started.items():
        _wait_until_ready(switch, process, state.switch(switch.name) / "eos.log")


def answers(switch: SwitchPlan) -> bool:
    """Whether a switch takes connections on its eAPI port."""
    try:
        socket.create_connection((str(switch.management), EAPI_PORT), timeout=1).close()
    except OSError:
        return False
    return True


def _command(switch: SwitchPlan, state: StateDirectory) -> list[str]:
    directory = state.switch(switch.name)
    return [
        *(sys.executable, "-m", "podsim.cli", "eos"),
        *("--listen", f"{switch.management}:{EAPI_PORT}", "--hostname", switch.name),
        *("--user", USER, "--password", PASSWORD),
        *("--config", f"{directory}/running-config", "--startup-config", f"{directory}/startup-config"),
        *("--request-log", f"{directory}/requests.log"),
        *("--cert", f"{directory}/cert.pem", "--key", f"{directory}/key.pem"),
        *("--dataplane", database(state), "--bridge", switch.bridge),
    ]


def _wait_until_ready(switch: SwitchPlan, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not answers(switch):
        if process.poll() is not None or time.monotonic() > deadline:
            said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] or ["nothing"]
            raise FloorError(f"the switch {switch.name} did not start; the last line of {log} says: {said[0]}")
        time.sleep(POLL_SECONDS)
