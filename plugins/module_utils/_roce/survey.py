# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The survey of a server's RDMA NICs. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Mapping

from .._plan.converge import DeviceError
from .._rnic.server import Link
from .settings import Settings
from .tool_sets import Nic, ToolSet


@dataclass(frozen=True)
class Surveyed:
    """One interface: its NIC, its running settings, and the files that bring them back, None where there are none."""

    nic: Nic
    running: Settings
    script: str | None = None
    unit: str | None = None
    starts: bool = False


@dataclass(frozen=True)
class Survey:
    """One survey."""

    tools: ToolSet
    links: Mapping[str, Link]
    interfaces: Mapping[str, Surveyed] = field(default_factory=dict)


def rdma_devices_from(answer: str | None) -> dict[str, tuple[str, int]]:
    """RDMA device and port by network device, from ``rdma -j link show``; None where there is no RDMA."""
    if not answer or not answer.strip():
        return {}
    try:
        links = json.loads(answer, strict=False)
        return {link["netdev"]: (link["ifname"], link["port"]) for link in links if "netdev" in link}
    except (KeyError, TypeError, ValueError) as error:
        raise DeviceError(f"rdma -j link show: unknown answer: {error!r}") from error


def nics_of(links: Mapping[str, Link]) -> list[Link]:
    """The links that are hardware, or stand for it in a container."""
    return [link for link in links.values() if link.is_nic and link.device != "lo"]
