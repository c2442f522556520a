# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tasks of playbooks/gather.yml have read, sorted by what was read, and what could not be read. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Result = dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """Everything that was read of a fleet.

    Args:
        switches: switch to what tor_info returned.
        servers: Poplar server to ``gathered`` and ``lasting`` of rnic_network, ``nics`` of rnic_info, and ``roce`` and
            ``lasting_roce`` of rnic_roce.
        controllers: host of a controller to what vipu_info returned.
        leases: Poplar server to the lines of dnsmasq's leases there.
        unread: devices that could not be read at all, each with ``device`` and ``message``.
        partly: what could not be read of the others, as ``unread``.
    """

    switches: dict[str, Result] = field(default_factory=dict)
    servers: dict[str, Result] = field(default_factory=dict)
    controllers: dict[str, Result] = field(default_factory=dict)
    leases: dict[str, list[str]] = field(default_factory=dict)
    unread: list[dict[str, str]] = field(default_factory=list)
    partly: list[dict[str, str]] = field(default_factory=list)


def reading_from(
    switches: Mapping[str, Result], controllers: Mapping[str, Result], servers: Mapping[str, Sequence[Result]]
) -> Reading:
    """Sort the results of tasks; of a device that was not asked there is an empty one.

    Args:
        switches: host to the result of tor_info.
        controllers: host to the result of vipu_info.
        servers: host to the results of rnic_info, rnic_network, rnic_roce, and of reading the leases.
    """
    reading = Reading()
    for host, result in switches.items():
        if _is_read(reading.unread, host, result):
            reading.switches[host] = result
    for host, result in controllers.items():
        if _is_read(reading.unread, host, result):
            reading.controllers[host] = result
    for host, (nics, network, roce, leases) in servers.items():
        has_nics = _is_read(reading.unread if nics.get("unreachable") else reading.partly, host, nics)
        if _is_read(reading.unread, host, network):
            reading.servers[host] = {
                "gathered": network["gathered"],
                "lasting": network["lasting"],
                "nics": nics["nics"] if has_nics else [],
                "roce": roce["gathered"] if _is_read(reading.partly, host, roce) else [],
                "lasting_roce": roce.get("lasting", []),
            }
            reading.leases[host] = list(leases.get("stdout_lines", ()))
    return reading


def _is_read(unread: list[dict[str, str]], host: str, result: Result) -> bool:
    """Whether there is something in a result; a failed one is told."""
    if result.get("failed") or result.get("unreachable"):
        unread.append({"device": host, "message": " ".join(str(result.get("msg", "")).split())})
        return False
    return bool(result) and not result.get("skipped")
