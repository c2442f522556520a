# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requirements on the host: Debian packages, root, and nothing else."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess

from podsim.floor.commands import run
from podsim.floor.errors import FloorError, Unavailable
from podsim.floor.podman import container_runtime

LOCK_SECONDS = 600
# Package -> one program of it that the floor calls.
PROGRAMS = {
    "podman": "podman",
    "conmon": "conmon",
    "openvswitch-switch": "ovs-vswitchd",
    "mmdebstrap": "mmdebstrap",
    "dnsmasq-base": "dnsmasq",
    "iproute2": "ip",
    "ethtool": "ethtool",
    # For whoever asks whether frames of a size get through the switch.
    "iputils-ping": "ping",
    "util-linux": "nsenter",
    "openssh-client": "ssh",
}
# Only for machines that are declared as virtual machines.
VIRTUAL_MACHINE_PROGRAMS = {
    "qemu-system-x86": "qemu-system-x86_64",
    "qemu-utils": "qemu-img",
    "e2fsprogs": "mke2fs",
    # For whoever wants to see their frames on the switch's ports.
    "tcpdump": "tcpdump",
}
# Only for the image that the virtual machines of a cloud start from.
CLOUD_PROGRAMS = {
    "qemu-utils": "qemu-img",
    "e2fsprogs": "mke2fs",
    "mtools": "mcopy",
    "syslinux": "syslinux",
    # For whoever starts it without a cloud, and gives it its config drive.
    "genisoimage": "genisoimage",
    # For whoever wants to see its frames on the switch's ports.
    "tcpdump": "tcpdump",
}


def missing_packages(*, virtual_machines: bool, clouds: bool = False) -> list[str]:
    """The Debian packages that the floor, without or with virtual machines and clouds, needs and this host lacks."""
    programs = {**PROGRAMS, container_runtime(): container_runtime()}
    if virtual_machines:
        programs |= VIRTUAL_MACHINE_PROGRAMS
    if clouds:
        programs |= CLOUD_PROGRAMS
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [package for package, program in programs.items() if shutil.which(program, path=path) is None]


def refuse_missing(*, virtual_machines: bool, clouds: bool = False) -> None:
    """Refuse to start on a host that lacks a package, or without root."""
    if virtual_machines or clouds:
        _refuse_other_processors()
    if missing := missing_packages(virtual_machines=virtual_machines, clouds=clouds):
        how = "podsim prerequisites --install"
        how += (" --virtual-machines" if virtual_machines else "") + (" --clouds" if clouds else "")
        raise FloorError(f"missing on this host: {', '.join(missing)}; run `{how}` as root.")
    require_root()


def require_root() -> None:
    """Refuse without root: network namespaces and containers on cables of our own need it."""
    if os.geteuid() != 0:
        raise FloorError("the simulated pod needs root for its networks and containers; repeat the command with sudo.")


def install(*, virtual_machines: bool, clouds: bool = False) -> None:
    """Say what is missing, and install it with apt-get, which waits for another one to finish.

    Packages that are there stay as they are, but where one that is missing needs a newer release of them.

    Raises:
        Unavailable: virtual machines are asked for, and this host's processor or package archive has none.
    """
    if virtual_machines or clouds:
        _refuse_other_processors()
    missing = missing_packages(virtual_machines=virtual_machines, clouds=clouds)
    if not missing:
        return
    require_root()
    if platform.freedesktop_os_release().get("ID") not in ("debian", "ubuntu"):
        raise FloorError(f"this is neither Debian nor Ubuntu; install by hand what provides: {', '.join(missing)}.")
    print(f"Installing packages of this host's distribution: {', '.join(missing)}", flush=True)
    _apt_get("update")
    # Only what nothing but virtual machines needs can be done without.
    optional = {**VIRTUAL_MACHINE_PROGRAMS, **CLOUD_PROGRAMS}
    unknown = [package for package in missing if package in optional and not _is_in_archive(package)]
    if unknown:
        raise Unavailable(
            f"virtual machines need {', '.join(unknown)}, which this host's package archive does not have."
        )
    _apt_get("install", "--yes", "--no-install-recommends", "--no-upgrade", *missing)


def _refuse_other_processors() -> None:
    if platform.machine() != "x86_64":
        raise Unavailable(f"virtual machines need an x86-64 host, and this one is {platform.machine()}.")


def _is_in_archive(package: str) -> bool:
    policy = run("apt-cache", "policy", package, environment={"LC_ALL": "C"})
    # Of a package that it has never heard of apt says nothing at all.
    return "Candidate: " in policy and "Candidate: (none)" not in policy


def _apt_get(*arguments: str) -> None:
    options = ("-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}", "-o", "Acquire::Retries=3", "-qq")
    result = subprocess.run(
        ["apt-get", *options, *arguments],
        check=False,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        # What each package does while it is unpacked is of interest only if that fails.
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode:
        raise FloorError(f"`apt-get {' '.join(arguments)}` failed:\n{result.stdout.strip()}")
