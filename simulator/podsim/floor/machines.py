# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of the floor: what each container runs, and when a machine counts as up."""

from __future__ import annotations

import contextlib
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import podsim
from podsim.floor.commands import run
from podsim.floor.daemons import Daemons
from podsim.floor.errors import FloorError
from podsim.floor.facts import MachineType
from podsim.floor.plan import BMC_PORT, MANAGEMENT_PORT, CloudPlan, Floor, Kind, Machine
from podsim.floor.podman import STATE_LABEL, Podman
from podsim.floor.state import StateDirectory

SOURCE = Path(podsim.__file__).parent
CAPABILITIES = "NET_ADMIN,NET_RAW,SYS_CHROOT,AUDIT_WRITE"
# OpenStack's helpers want all that root may, and mount a stand-in for NFS.
CLOUD_CAPABILITIES = f"{CAPABILITIES},SYS_ADMIN,SYS_PTRACE,DAC_READ_SEARCH"
AGENT_PORT = 8080
SSH_PORT = 22
# What is started in a machine that has a cable to a cloud's control network, beside what every machine has.
TARGETS = {
    Kind.CONTROLLER: "in-control-network.target",
    Kind.CLOUD: "cloud.target",
    Kind.COMPUTE_NODE: "hypervisor.target",
    Kind.POPLAR_SERVER: "hypervisor.target",
}
PARALLEL = 6
BOOT_SECONDS = 90.0
EMULATED_BOOT_SECONDS = 600.0
POLL_SECONDS = 0.2
LIST_FAILED_UNITS = ("systemctl", "--failed", "--plain", "--no-legend")


def create_arguments(machine: Machine, image: str, state: StateDirectory, cloud: CloudPlan | None = None) -> list[str]:
    """The arguments of `podman run` for a machine of a floor, which may have a cloud."""
    in_cloud = cloud is not None and (machine.kind is Kind.CLOUD or machine.is_hypervisor)
    capabilities = CLOUD_CAPABILITIES if in_cloud else CAPABILITIES
    arguments = [
        # A container that an interrupted start left half-made never ran, so a new one takes its place.
        *("run", "--detach", "--replace", "--name", machine.container, "--hostname", machine.name),
        *("--add-host", f"{machine.name}:{machine.address}"),
        *("--label", f"{STATE_LABEL}={state.root}"),
        *("--network", f"ns:/run/netns/{machine.container}", "--cap-add", capabilities),
        *("--volume", f"{SOURCE}:/opt/podsim/podsim:ro"),
    ]
    if machine.kind is Kind.IPU_MACHINE:
        # Where nobody has given the gateway its address yet, the agent takes whichever comes.
        listen, ask = ("0.0.0.0", (MANAGEMENT_PORT, BMC_PORT)) if machine.bmc_mac else (machine.address, ())
        command = ["podsim", "machine", "--agent", f"{listen}:{AGENT_PORT}"]
        command += [argument for port in ask for argument in ("--ask", port)]
        command += ["--rnic", machine.rnics[0].name, "--mtu", str(machine.rnics[0].mtu), machine.name]
        return [*arguments, "--stop-signal", "SIGTERM", image, *command]
    arguments += ["--systemd", "always", "--volume", f"{state.machine(machine.name)}:/etc/podsim:ro"]
    if machine.rnics:
        arguments += ["--volume", f"{state.classes_of(machine.name)}:/sys/class:ro"]
    if cloud is None or machine.control is None:
        return [*arguments, image]
    if in_cloud:
        arguments += ["--volume", f"{state.volumes(cloud.declared.name)}:/srv/volumes"]
    if machine.is_hypervisor:
        arguments += ["--device", "/dev/net/tun"]
    return [*arguments, image, "/sbin/init", f"--unit={TARGETS[machine.kind]}"]


def make_device_classes(floor: Floor, state: StateDirectory) -> None:
    """The answer of a container's kernel about its RDMA devices, if it had any: that they are there."""
    for machine in floor.containers:
        if machine.kind is Kind.POPLAR_SERVER:
            classes = state.classes_of(machine.name)
            for number in range(len(machine.rnics)):
                (classes / "infiniband" / f"mlx5_{number}").mkdir(parents=True, exist_ok=True)
            network = classes / "net"
            if machine.rnics and not network.is_symlink():
                network.symlink_to("../devices/virtual/net")


def start_containers(floor: Floor, image: str, podman: Podman, state: StateDirectory) -> None:
    """Start every container that does not run, and in those that do what has failed; several at a time."""
    states = podman.containers()

    def start(machine: Machine) -> None:
        condition = states.get(machine.container)
        if condition == "exited":
            podman.run("start", machine.container)
        elif condition != "running":
            podman.run(*create_arguments(machine, image, state, floor.cloud))
        elif machine.kind is not Kind.IPU_MACHINE:
            _start_failed_units(machine, podman)

    with ThreadPoolExecutor(PARALLEL) as pool:
        list(pool.map(start, floor.containers))


def _start_failed_units(machine: Machine, podman: Podman) -> None:
    # A machine that is still starting does not answer yet, and is waited for.
    with contextlib.suppress(FloorError):
        if failed := _failed_units(podman.run("exec", machine.container, *LIST_FAILED_UNITS)):
            # A unit that has failed too often in a short time may start again only then.
            podman.run("exec", machine.container, "systemctl", "reset-failed", *failed)
            podman.run("exec", machine.container, "systemctl", "start", *failed)


def running(floor: Floor, podman: Podman, daemons: Daemons) -> set[str]:
    """The names of the machines that are switched on."""
    states, processes = podman.containers(), daemons.running()
    return {
        *(machine.name for machine in floor.containers if states.get(machine.container) == "running"),
        *(machine.name for machine in floor.virtual_machines if machine.name in processes),
    }


def wait_until_up(floor: Floor, podman: Podman, daemons: Daemons, state: StateDirectory) -> None:
    """Wait until every agent and every sshd answers and every systemd says `running`.

    An IPU-Machine that has yet to be served an address only has to be switched on.
    """
    start = time.monotonic()
    for machine in floor.machines:
        virtual = machine.type is MachineType.VIRTUAL_MACHINE
        limit = EMULATED_BOOT_SECONDS if virtual else BOOT_SECONDS
        log = str(state.virtual_machine(machine.name, "log")) if virtual else f"`podman logs {machine.container}`"
        while not answers(machine):
            if machine.name not in running(floor, podman, daemons):
                raise FloorError(f"{machine.name} stopped while it started; see {log}.")
            if machine.bmc_mac:
                break
            if time.monotonic() > start + limit:
                raise FloorError(f"{machine.name} does not answer after {limit:.0f} s; see {log}.")
            time.sleep(POLL_SECONDS)
    with ThreadPoolExecutor(PARALLEL) as pool:
        hosts = [machine for machine in floor.machines if machine.kind is not Kind.IPU_MACHINE]
        list(pool.map(lambda machine: _wait_for_systemd(machine, podman, state), hosts))


def answers(machine: Machine) -> bool:
    """Whether an IPU-Machine's agent, or another machine's sshd, takes a connection at its management address."""
    port = AGENT_PORT if machine.kind is Kind.IPU_MACHINE else SSH_PORT
    try:
        socket.create_connection((str(machine.address), port), timeout=1).close()
    except OSError:
        return False
    return True


def _wait_for_systemd(machine: Machine, podman: Podman, state: StateDirectory) -> None:
    def inside(*command: str) -> str:
        if machine.type is MachineType.VIRTUAL_MACHINE:
            return run("ssh", "-F", str(state.ssh_config), machine.name, *command)
        return podman.run("exec", machine.container, *command)

    try:
        inside("systemctl", "is-system-running", "--wait")
    except FloorError:
        units = ", ".join(_failed_units(inside(*LIST_FAILED_UNITS)))
        raise FloorError(f"{machine.name} booted, but not well; units that failed: {units}.") from None


def _failed_units(listed: str) -> list[str]:
    return [line.split()[0] for line in listed.splitlines()]
