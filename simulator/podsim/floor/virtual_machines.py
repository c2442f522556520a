# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of the floor that have a kernel of their own: QEMU with a NIC for each cable.

They are emulated, not accelerated: that works on every x86-64 host, also on one that is a virtual machine itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from ipaddress import IPv4Network

from podsim.floor.commands import run
from podsim.floor.daemons import Daemons
from podsim.floor.network import SWITCH_LINK_MTU, beyond
from podsim.floor.plan import DATA_PLANE_NAMESPACE, Floor, Machine
from podsim.floor.state import StateDirectory
from podsim.floor.tap_launcher import FIRST_DESCRIPTOR
from podsim.floor.vm_image import VmImage, vm_image

QEMU = "qemu-system-x86_64"
MEMORY_MIB = 640
TRANSLATION_CACHE_MIB = 128
# What a virtual NIC says of its link; without it no bond would speak LACP.
RNIC_LINK = "speed=100000,duplex=full"
# As a boot loader has it: the machine's own systemd makes the root file system writable, with its fstab.
KERNEL_OPTIONS = (
    *("root=/dev/vda", "ro", "console=ttyS0", "quiet", "net.ifnames=0", "mitigations=off"),
    # On a busy host an emulated timer ticks too late for the kernel's test of it, which ends in a panic.
    "no_timer_check",
)


def start_virtual_machines(floor: Floor, state: StateDirectory, daemons: Daemons) -> None:
    """Start every virtual machine that does not run; one that ran before keeps its disk."""
    running, image = daemons.running(), vm_image()
    for machine in floor.virtual_machines:
        if machine.name in running:
            continue
        disk = state.virtual_machine(machine.name, "disk")
        if not disk.exists():
            run("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(image.disk), str(disk))
        command = launch_command(machine, floor.networks, image, state)
        daemons.start(machine.name, command, state.virtual_machine(machine.name, "log"))


def launch_command(
    machine: Machine, networks: Iterable[IPv4Network], image: VmImage, state: StateDirectory
) -> list[str]:
    """The command that becomes the virtual machine."""
    taps = [machine.management_link, *(f"{DATA_PLANE_NAMESPACE}/{rnic.switch_link}" for rnic in machine.rnics)]
    return [
        *(sys.executable, "-m", "podsim.cli", "tap-launcher"),
        *(f"--tap={tap}" for tap in taps),
        "--",
        *(QEMU, "-name", machine.name, "-nodefaults", "-no-user-config", "-display", "none"),
        *("-machine", "q35", "-accel", f"tcg,tb-size={TRANSLATION_CACHE_MIB}", "-cpu", "Nehalem"),
        *("-m", f"{MEMORY_MIB}M", "-device", "virtio-rng-pci"),
        *("-kernel", str(image.kernel), "-initrd", str(image.initramfs)),
        *("-append", " ".join((*KERNEL_OPTIONS, *boot_options(machine, networks)))),
        # Its disk is made anew with the pod: nothing on it outlives a crash of the host.
        *("-drive", f"file={state.virtual_machine(machine.name, 'disk')},format=qcow2,if=virtio,cache=unsafe"),
        *("-virtfs", f"local,path={state.machine(machine.name)},mount_tag=identity,security_model=none,readonly=on"),
        *_nics(machine),
        *("-serial", f"file:{state.virtual_machine(machine.name, 'console')}"),
        *("-qmp", f"unix:{state.virtual_machine(machine.name, 'qmp')},server=on,wait=off"),
    ]


def boot_options(machine: Machine, networks: Iterable[IPv4Network]) -> list[str]:
    """The kernel options by which a virtual machine knows its name, its links by MAC, and its management port."""
    return [
        f"systemd.hostname={machine.name}",
        *(f"podsim.link={rnic.mac},{rnic.name}" for rnic in machine.rnics),
        *(f"podsim.address={address}" for address in machine.management),
        *(f"podsim.route={network}" for network in beyond(machine.management, networks)),
    ]


def _nics(machine: Machine) -> list[str]:
    """The management port, which the kernel calls eth0 because it is the first, and the RNICs."""
    # Any MAC does, but QEMU gives all machines the same one.
    mac = machine.management_mac or "02:00:" + machine.address.packed.hex(":")
    models = [f"virtio-net-pci,mac={mac}"]
    models += [f"virtio-net-pci,mac={rnic.mac},host_mtu={SWITCH_LINK_MTU},{RNIC_LINK}" for rnic in machine.rnics]
    arguments = []
    for number, model in enumerate(models):
        arguments += ["-netdev", f"tap,id=net{number},fd={FIRST_DESCRIPTOR + number}"]
        arguments += ["-device", f"{model},netdev=net{number},id=nic{number}"]
    return arguments
