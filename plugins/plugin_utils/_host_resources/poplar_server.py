# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resources of the role poplar_server, besides RDMA NICs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .resources import Directory, File, KernelParameter, Packages, Resource, Unit

HEADER = "# Written by the role ipu.pod.poplar_server, which overwrites what is changed here by hand."
NETWORKD = "systemd-networkd.service"

# What RDMA needs, by OS family. dcb is in iproute2 from 5.11 on, so not on Ubuntu 20.04.
PACKAGES = {
    "Debian": ("rdma-core", "ibverbs-utils", "perftest", "lldpd", "iproute2", "ethtool"),
    "RedHat": ("rdma-core", "libibverbs-utils", "perftest", "lldpd", "iproute", "ethtool"),
}

Settings = Mapping[str, Any]


def poplar_server_resources(settings: Settings) -> list[Resource]:
    """Everything in its order; ``settings`` are the role's variables by their names."""
    network = [Unit(NETWORKD)] if settings["poplar_server_start_networkd"] else []
    return [*_packages(settings), *network, *_memlock(settings), *_kernel_parameters(settings)]


def _packages(settings: Settings) -> list[Resource]:
    names = settings["poplar_server_packages"]
    if names is None:
        return [Packages(by_os_family=PACKAGES, otherwise="poplar_server_packages")]
    return [Packages(tuple(names))] if names else []


def _memlock(settings: Settings) -> list[Resource]:
    """RDMA registers memory, which has to stay where it is, so sessions and units need a limit that allows it."""
    limit = settings["poplar_server_memlock"]
    if limit in (None, ""):
        return []
    sessions = [
        HEADER,
        "# RDMA registers memory, which has to stay where it is. The star does not mean root.",
        *(f"{who} {kind} memlock {limit}" for who in ("*", "root") for kind in ("soft", "hard")),
    ]
    of_unit = [HEADER, "[Service]", f"LimitMEMLOCK={'infinity' if limit == 'unlimited' else f'{limit}K'}"]
    directories = [f"/etc/systemd/system/{unit}.d" for unit in settings["poplar_server_memlock_units"]]
    return [
        File("/etc/security/limits.d/90-ipu-memlock.conf", _text(sessions)),
        *(Directory(directory) for directory in directories),
        *(File(f"{directory}/90-ipu-memlock.conf", _text(of_unit)) for directory in directories),
    ]


def _kernel_parameters(settings: Settings) -> list[Resource]:
    """The file is for the next start, the values are for now."""
    parameters = settings["poplar_server_sysctl"]
    if not parameters:
        return []
    lines = [HEADER, *(f"{name}={value}" for name, value in parameters.items())]
    return [
        File("/etc/sysctl.d/90-ipu-pod.conf", _text(lines)),
        *(KernelParameter(name, str(value)) for name, value in parameters.items()),
    ]


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
