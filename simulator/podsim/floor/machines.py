# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of the floor as containers: what each one runs, and when it counts as up."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import podsim
from podsim.floor.errors import FloorError
from podsim.floor.plan import Floor, Kind, Machine
from podsim.floor.podman import STATE_LABEL, Podman
from podsim.floor.state import StateDirectory

SOURCE = Path(podsim.__file__).parent
CAPABILITIES = "NET_ADMIN,NET_RAW,SYS_CHROOT,AUDIT_WRITE"
AGENT_PORT = 8080
SSH_PORT = 22
PARALLEL = 6
BOOT_SECONDS = 90.0
POLL_SECONDS = 0.2


def create_arguments(machine: Machine, image: str, state: StateDirectory) -> list[str]:
    """The arguments of `podman run` for a machine."""
    arguments = [
        # A container that an interrupted start left half-made never ran, so a new one takes its place.
        *("run", "--detach", "--replace", "--name", machine.container, "--hostname", machine.name),
        *("--add-host", f"{machine.name}:{machine.address}"),
        *("--label", f"{STATE_LABEL}={state.root}"),
        *("--network", f"ns:/run/netns/{machine.container}", "--cap-add", CAPABILITIES),
        *("--volume", f"{SOURCE}:/opt/podsim/podsim:ro"),
    ]
    if machine.kind is Kind.IPU_MACHINE:
        command = ["podsim", "machine", "--agent", f"{machine.address}:{AGENT_PORT}"]
        command += ["--rnic", machine.rnics[0].name, "--mtu", str(machine.rnics[0].mtu), machine.name]
        return [*arguments, "--stop-signal", "SIGTERM", image, *command]
    identity = f"{state.machine(machine.name)}:/etc/podsim:ro"
    return [*arguments, "--systemd", "always", "--volume", identity, image]


def start_machines(floor: Floor, image: str, podman: Podman, state: StateDirectory) -> int:
    """Start every machine that does not run, several at a time; returns how many that were."""
    states = podman.containers()

    def start(machine: Machine) -> None:
        if states.get(machine.container) == "exited":
            podman.run("start", machine.container)
        else:
            podman.run(*create_arguments(machine, image, state))

    missing = [machine for machine in floor.machines if states.get(machine.container) != "running"]
    with ThreadPoolExecutor(PARALLEL) as pool:
        list(pool.map(start, missing))
    return len(missing)


def wait_until_up(floor: Floor, podman: Podman) -> None:
    """Wait until every agent and every sshd answers and every systemd says `running`."""
    deadline = time.monotonic() + BOOT_SECONDS
    for machine in floor.machines:
        while not answers(machine):
            log = f"see `podman logs {machine.container}`"
            if podman.containers().get(machine.container) != "running":
                raise FloorError(f"{machine.name} stopped while it started; {log}.")
            if time.monotonic() > deadline:
                raise FloorError(f"{machine.name} does not answer after {BOOT_SECONDS:.0f} s; {log}.")
            time.sleep(POLL_SECONDS)
    with ThreadPoolExecutor(PARALLEL) as pool:
        hosts = [machine for machine in floor.machines if machine.kind is not Kind.IPU_MACHINE]
        list(pool.map(lambda machine: _wait_for_systemd(machine, podman), hosts))


def answers(machine: Machine) -> bool:
    """Whether an IPU-Machine's agent, or another machine's sshd, takes a connection at its management address."""
    port = AGENT_PORT if machine.kind is Kind.IPU_MACHINE else SSH_PORT
    try:
        socket.create_connection((str(machine.address), port), timeout=1).close()
    except OSError:
        return False
    return True


def _wait_for_systemd(machine: Machine, podman: Podman) -> None:
    try:
        podman.run("exec", machine.container, "systemctl", "is-system-running", "--wait")
    except FloorError:
        failed = podman.run("exec", machine.container, "systemctl", "--failed", "--plain", "--no-legend")
        units = ", ".join(line.split()[0] for line in failed.splitlines())
        raise FloorError(f"{machine.name} booted, but not well; units that failed: {units}.") from None
