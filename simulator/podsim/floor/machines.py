# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of the floor: what each container runs, and when a machine counts as up."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import podsim
from podsim.floor.commands import run
from podsim.floor.daemons import Daemons
from podsim.floor.errors import FloorError
from podsim.floor.facts import MachineType, Software
from podsim.floor.plan import BMC_PORT, MANAGEMENT_PORT, CloudPlan, Floor, Kind, Machine, Rnic
from podsim.floor.podman import STATE_LABEL, Podman
from podsim.floor.state import StateDirectory

SOURCE = Path(podsim.__file__).parent
CAPABILITIES = "NET_ADMIN,NET_RAW,SYS_CHROOT,AUDIT_WRITE"
# OpenStack's helpers want all that root may, and mount a stand-in for NFS.
CLOUD_CAPABILITIES = f"{CAPABILITIES},SYS_ADMIN,SYS_PTRACE,DAC_READ_SEARCH"
# Container engines mount file systems, make devices, want to know their processes, and give the last two to containers.
ENGINE_CAPABILITIES = f"{CAPABILITIES},SYS_ADMIN,SYS_PTRACE,MKNOD,DAC_READ_SEARCH,IPC_LOCK,SYS_NICE"
# Who has them; the manager of Backend.AI makes networks for sessions on several agents.
ENGINES = {
    Software.CONTAINERS: (Kind.POPLAR_SERVER,),
    Software.BACKEND_AI: (Kind.POPLAR_SERVER, Kind.CONTROLLER),
}
# They keep images in a file system that can be below another overlay.
ENGINE_DIRECTORIES = ("/var/lib/containers", "/var/lib/docker")
# Of servers whose RNICs have virtual functions.
FUNCTION_FILES = Path(__file__).parent / "with_functions" / "rootfs"
# What the kernel says of every network device.
KERNELS = Path("/sys/devices/virtual/net/lo")
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


def create_arguments(
    machine: Machine,
    image: str,
    state: StateDirectory,
    cloud: CloudPlan | None = None,
    software: Iterable[Software] = (),
) -> list[str]:
    """The arguments of `podman run` for a machine of a floor with this software, which may have a cloud."""
    in_cloud = cloud is not None and (machine.kind is Kind.CLOUD or machine.is_hypervisor)
    has_engines = machine.kind in {kind for each in software for kind in ENGINES.get(each, ())}
    capabilities = CLOUD_CAPABILITIES if in_cloud else ENGINE_CAPABILITIES if has_engines else CAPABILITIES
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
    if has_engines:
        arguments += ["--security-opt", "unmask=ALL", "--security-opt", "seccomp=unconfined"]
        arguments += [argument for each in ENGINE_DIRECTORIES for argument in ("--tmpfs", each)]
    if machine.rnics:
        arguments += ["--volume", f"{state.classes_of(machine.name)}:/sys/class:ro"]
    arguments += _stand_ins(machine, state)
    if cloud is None or machine.control is None:
        return [*arguments, image]
    if in_cloud:
        arguments += ["--volume", f"{state.volumes(cloud.declared.name)}:/srv/volumes"]
    if machine.is_hypervisor:
        arguments += ["--device", "/dev/net/tun"]
    return [*arguments, image, "/sbin/init", f"--unit={TARGETS[machine.kind]}"]


def _stand_ins(machine: Machine, state: StateDirectory) -> list[str]:
    """What a server with virtual functions has instead of a kernel that knows them; of sysfs it may write one file."""
    if not machine.with_functions:
        return []
    found = [path for path in FUNCTION_FILES.rglob("*") if path.is_file()]
    arguments = [argument for path in found for argument in ("--volume", f"{path}:/{_place(path)}:ro")]
    for rnic in machine.with_functions:
        written = nic_folder(state, machine, rnic) / "device" / "sriov_numvfs"
        arguments += ["--volume", f"{written}:/sys/class/net/{rnic.name}/device/sriov_numvfs"]
    return arguments


def _place(path: Path) -> Path:
    return path.relative_to(FUNCTION_FILES)


def make_device_classes(floor: Floor, state: StateDirectory) -> None:
    """The answer of a container's kernel about its RDMA devices, if it had any: that they are there."""
    for machine in floor.containers:
        if machine.kind is Kind.POPLAR_SERVER:
            classes = state.classes_of(machine.name)
            for number in range(len(machine.rnics)):
                (classes / "infiniband" / f"mlx5_{number}").mkdir(parents=True, exist_ok=True)
            network = classes / "net"
            if machine.with_functions:
                _make_network_devices(machine, state)
            elif machine.rnics and not network.is_symlink():
                network.symlink_to("../devices/virtual/net")


def _make_network_devices(machine: Machine, state: StateDirectory) -> None:
    """The network devices of a server one by one, as an RNIC with virtual functions has more than the kernel knows."""
    folder = state.classes_of(machine.name) / "net"
    for name in ("lo", MANAGEMENT_PORT, *(rnic.name for rnic in machine.rnics)):
        make_network_device(folder, name)
    for rnic in machine.with_functions:
        device = nic_folder(state, machine, rnic) / "device"
        device.mkdir(exist_ok=True)
        most = rnic.embedded_switch.functions if rnic.embedded_switch else 0
        for file, text in {"sriov_totalvfs": f"{most}", "sriov_numvfs": "0", "podsim": ""}.items():
            if not (device / file).exists():
                (device / file).write_text(f"{text}\n", encoding="ascii")


def make_network_device(folder: Path, name: str) -> None:
    """A directory for a network device, with all that the kernel of its server says of it."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    for each in KERNELS.iterdir():
        link = folder / name / each.name
        if not link.is_symlink():
            # Of what class it is, udev's library reads from the name at the end.
            link.symlink_to("/sys/class/net" if each.name == "subsystem" else f"{KERNELS.parent}/{name}/{each.name}")


def nic_folder(state: StateDirectory, machine: Machine, rnic: Rnic) -> Path:
    """Where a server's sysfs has an RNIC."""
    return state.classes_of(machine.name) / "net" / rnic.name


def function_device(rnic: Rnic, number: int) -> str:
    """What a server calls the interface of a virtual function."""
    return f"{rnic.name}v{number}"


def start_containers(floor: Floor, image: str, podman: Podman, state: StateDirectory) -> None:
    """Start every container that does not run, and in those that do what has failed; several at a time."""
    states = podman.containers()

    def start(machine: Machine) -> None:
        condition = states.get(machine.container)
        if condition == "exited":
            podman.run("start", machine.container)
        elif condition != "running":
            podman.run(*create_arguments(machine, image, state, floor.cloud, floor.software))
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
