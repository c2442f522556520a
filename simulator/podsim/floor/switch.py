# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switches' control plane: one EOS daemon per switch, which answers eAPI and SSH on its management address."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from podsim.eos.show_system import system_mac
from podsim.floor.daemons import Daemons
from podsim.floor.data_plane import database
from podsim.floor.errors import FloorError
from podsim.floor.plan import SWITCH_USER, Floor, SwitchPlan, container_name
from podsim.floor.state import StateDirectory

EAPI_PORT, SSH_PORT = 443, 22
# Demonstration credentials of a simulated switch that only this host can reach.
PASSWORD = "podsim"
START_SECONDS = 30.0
POLL_SECONDS = 0.1


def start_eos(floor: Floor, state: StateDirectory, daemons: Daemons) -> None:
    """Start the EOS daemon of each switch that does not run, and wait until it takes connections."""
    running = daemons.running()
    for switch in floor.switches:
        observed = json.dumps(surroundings(switch), indent=2) + "\n"
        (state.switch(switch.name) / "surroundings.json").write_text(observed, encoding="ascii")
    started = {
        switch: daemons.start(switch.name, _command(switch, state), state.switch(switch.name) / "eos.log")
        for switch in floor.switches
        if switch.name not in running
    }
    for switch, process in started.items():
        _wait_until_ready(switch, process, state.switch(switch.name) / "eos.log")


def answers(switch: SwitchPlan) -> bool:
    """Whether a switch takes connections on its eAPI port; the one for SSH is opened before."""
    try:
        socket.create_connection((str(switch.address), EAPI_PORT), timeout=1).close()
    except OSError:
        return False
    return True


def surroundings(switch: SwitchPlan) -> dict[str, dict[str, Any]]:
    """The devices that the switch sees at the other ends of its cables; each speaks LLDP while it runs."""
    machines = {port.name: {"device": port.machine, "port": port.rnic, "mac": port.mac} for port in switch.ports}
    switches = {
        port.name: {"device": port.switch, "port": port.port, "mac": system_mac(port.switch)} for port in switch.uplinks
    }
    return {
        "neighbours": {**machines, **switches},
        "namespaces": {port.name: f"/run/netns/{container_name(port.machine)}" for port in switch.ports},
    }


def _command(switch: SwitchPlan, state: StateDirectory) -> list[str]:
    directory = state.switch(switch.name)
    return [
        *("nsenter", f"--net=/run/netns/{switch.namespace}", sys.executable, "-m", "podsim.cli", "eos"),
        *("--listen", f"{switch.address}:{EAPI_PORT}", "--hostname", switch.name),
        *("--ssh", f"{switch.address}:{SSH_PORT}", "--ssh-host-key", f"{directory}/ssh_host_ed25519_key"),
        *("--user", SWITCH_USER, "--password", PASSWORD),
        *("--config", f"{directory}/running-config", "--startup-config", f"{directory}/startup-config"),
        *("--request-log", f"{directory}/requests.log"),
        *("--cert", f"{directory}/cert.pem", "--key", f"{directory}/key.pem"),
        *("--observed", f"{directory}/surroundings.json"),
        *("--dataplane", database(state), "--bridge", switch.bridge),
    ]


def _wait_until_ready(switch: SwitchPlan, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not answers(switch):
        if process.poll() is not None or time.monotonic() > deadline:
            last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] or ["nothing"]
            raise FloorError(f"the switch {switch.name} did not start; the last line of {log} says: {last[0]}")
        time.sleep(POLL_SECONDS)
