# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start a simulated pod, remove it, and say how it is.

Every step makes only what is missing, so an interrupted start is finished by the next one or removed by `down`.
"""

from __future__ import annotations

import contextlib
import fcntl
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from podsim.floor import (
    cloud,
    data_plane,
    dhcp,
    functions,
    guest_image,
    image,
    machines,
    network,
    switch,
    virtual_machines,
    vm_image,
)
from podsim.floor.daemons import Daemons
from podsim.floor.errors import FloorError
from podsim.floor.facts import Facts, Software
from podsim.floor.facts_file import read_facts, sim_section
from podsim.floor.keys import make_keys
from podsim.floor.plan import Floor, Kind, plan
from podsim.floor.podman import Podman
from podsim.floor.prerequisites import refuse_missing, require_root
from podsim.floor.progress import Progress
from podsim.floor.state import StateDirectory

LOCK = Path("/run/podsim.lock")


def up(pods_file: Path, state: StateDirectory, progress: Progress) -> None:
    """Start the pod that the `sim:` section of `pods_file` describes, or what is missing of it."""
    facts = read_facts(pods_file)
    floor = plan(facts)
    dhcp.server_addresses(floor)
    refuse_missing(virtual_machines=bool(floor.virtual_machines), clouds=floor.cloud is not None)
    with _machine_lock():
        _refuse_other_pod(state, facts)
        network.refuse_overlap(floor.reached_networks)
        state.create()
        try:
            _build(floor, pods_file, state, progress)
        finally:
            state.hand_over()
    progress.total(f"the pod is up, {len(floor.machines)} machines")


def provide_image(pods_file: Path | None, progress: Progress) -> None:
    """Build the container image that `up` needs, unless it is there: the one for a file's floor, or the plain one."""
    software = read_facts(pods_file).software if pods_file else ()
    refuse_missing(virtual_machines=False)
    with _machine_lock(waits=True), tempfile.TemporaryDirectory() as directory:
        temporary = StateDirectory(Path(directory))
        temporary.create()
        podman = Podman(temporary)
        podman.configure()
        _provide_image(software, podman, temporary, progress)


def provide_guest_image(progress: Progress) -> Path:
    """The disk that the virtual machines of a cloud start from, built unless it is there."""
    refuse_missing(virtual_machines=False, clouds=True)
    with _machine_lock(waits=True), tempfile.TemporaryDirectory() as directory:
        temporary = StateDirectory(Path(directory))
        temporary.create()
        return _guest_image(temporary, progress)


def down(state: StateDirectory, progress: Progress) -> None:
    """Remove all of the pod: containers, daemons, links, namespaces and the state directory; the image is kept."""
    require_root()
    with _machine_lock():
        owner = network.owner()
        if owner not in (None, str(state.root)):
            raise FloorError(f"the running pod belongs to {owner}; run `podsim down --state {owner}`.")
        with progress.step("removing containers"):
            Podman(state).remove_containers()
        with progress.step("removing switches and networks"):
            Daemons(state).stop()
            network.remove_network()
        state.remove()


def status(state: StateDirectory) -> list[tuple[str, str, str, str]]:
    """One row per machine and switch: name, kind, state, management addresses; no row when no pod runs."""
    require_root()
    if network.owner() != str(state.root):
        return []
    floor = plan(read_facts(state.facts))
    podman, daemons = Podman(state), Daemons(state)
    running = {*daemons.running(), *machines.running(floor, podman, daemons)}
    rows = []
    for tor in floor.switches:
        condition = _condition(running >= {tor.name, *data_plane.DAEMONS}, switch.answers(tor))
        rows.append((tor.name, "ToR switch", condition, str(tor.address)))
    for machine in floor.machines:
        answering = machines.answers(machine)
        if floor.cloud and machine.kind is Kind.CLOUD:
            answering = answering and not cloud.missing(floor.cloud, state)
        condition = _condition(machine.name in running, answering)
        addresses = ", ".join(str(address.ip) for address in machine.management)
        rows.append((machine.name, machine.kind.value, condition, addresses))
    return rows


def _build(floor: Floor, pods_file: Path, state: StateDirectory, progress: Progress) -> None:
    podman, daemons, tag = Podman(state), Daemons(state), image.tag(floor.software)
    with progress.step("keys and certificates"):
        state.facts.write_text(yaml.safe_dump({"sim": sim_section(pods_file)}, sort_keys=False), encoding="utf-8")
        podman.configure()
        make_keys(floor, state)
        cloud.configure(floor, state)
    _provide_image(floor.software, podman, state, progress)
    if floor.virtual_machines and not vm_image.vm_image().directory.exists():
        with progress.step("virtual machines' image (built once, takes two minutes)"):
            vm_image.build_vm_image(state)
    if floor.cloud:
        _guest_image(state, progress)
    with progress.step("management network and cables"):
        network.build_management(floor, state)
        network.build_cables(floor)
        network.build_control_network(floor)
        dhcp.build_dhcp_cables(floor)
    with progress.step("switches and DHCP"):
        data_plane.start_open_vswitch(state, daemons)
        data_plane.build_switches(floor, state)
        data_plane.build_embedded_switches(floor, state)
        dhcp.start_dhcp_server(floor, state, daemons)
        switch.start_eos(floor, state, daemons)
    with progress.step(f"starting {len(floor.machines)} machines"):
        virtual_machines.start_virtual_machines(floor, state, daemons)
        machines.make_device_classes(floor, state)
        functions.start_embedded_switches(floor, state, daemons)
        machines.start_containers(floor, tag, podman, state)
    with progress.step("waiting until all of them answer"):
        machines.wait_until_up(floor, podman, daemons, state)
    if floor.cloud:
        with progress.step("waiting until the cloud has its hypervisors"):
            cloud.wait_until_up(floor.cloud, state)


def _provide_image(software: Iterable[Software], podman: Podman, state: StateDirectory, progress: Progress) -> None:
    if not podman.images(image.tag(software)):
        minutes = "three minutes" if {Software.OPENSTACK, Software.BACKEND_AI} & {*software} else "a minute"
        with progress.step(f"container image (built once, takes {minutes})"):
            image.build_image(podman, state, software)


def _guest_image(state: StateDirectory, progress: Progress) -> Path:
    disk = guest_image.guest_image()
    if not disk.exists():
        with progress.step("image of a cloud's virtual machines (built once, takes a minute)"):
            guest_image.build_guest_image(state)
    guest_image.link(disk)
    return disk


def _refuse_other_pod(state: StateDirectory, facts: Facts) -> None:
    """One pod per machine; and a running pod does not change under the feet of those who use it."""
    owner = network.owner()
    if owner is None:
        return
    if owner != str(state.root):
        raise FloorError(f"another pod is running, from {owner}; run `podsim down --state {owner}` first.")
    if not state.facts.exists():
        raise FloorError(f"the running pod lost its state directory {owner}; run `podsim down --state {owner}` first.")
    if read_facts(state.facts) != facts:
        raise FloorError("the running pod was started from another `sim:` section; run `podsim down` first.")


@contextlib.contextmanager
def _machine_lock(waits: bool = False) -> Iterator[None]:
    """Only one podsim at a time changes this machine; the kernel frees the lock of one that was killed.

    Another one is an error, except for what can be done after it just as well.
    """
    with LOCK.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FloorError("another podsim is starting or removing a pod here; wait until it ends.") from None
        yield


def _condition(running: bool, answering: bool) -> str:
    if not running:
        return "down"
    return "up" if answering else "not answering"
