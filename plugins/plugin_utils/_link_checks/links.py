# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A NIC's link and firmware against what a pod needs. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from .mismatches import end
from .server import Options


def link_findings(name: str, nic: Options, port: str, port_enabled: bool, minimum: Options) -> Iterator[str]:
    """What is wrong with a NIC that should work.

    Args:
        name: host and interface.
        nic: one of ``nics`` of ``rnic_info``.
        port: host and port of the switch.
        port_enabled: whether the switch has it switched on.
        minimum: as ``rnic_info`` returned it.
    """
    if not nic["up"]:
        yield f"{end(name, 'switched off')} and {port}: switch the NIC on, or run playbooks/poplar_servers.yml"
    elif not nic["carrier"]:
        other = end(port, "switched on" if port_enabled else "switched off")
        remedy = "check the cable and its transceivers" if port_enabled else "switch the port on"
        yield f"{end(name, 'no link')} and {other}: {remedy}"
    elif nic["speed_verdict"] == "slower":
        speed, wanted = nic["speed"], f"at least {minimum['speed']} Mbit/s are expected"
        remedy = "check cable, transceivers and forced speeds, or set preflight_minimum_speed"
        yield f"{end(name, f'{speed} Mbit/s')} and {port}: {wanted}; {remedy}"
    if nic["firmware"]["verdict"] == "older":
        version = nic["firmware"]["version"]
        yield (
            f"{end(name, f'firmware {version}')} and preflight_minimum_firmware ({minimum['firmware']}): "
            "update the NIC's firmware, or set another minimum"
        )
