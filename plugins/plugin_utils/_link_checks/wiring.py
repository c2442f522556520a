# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which port of the switch a NIC is cabled to: as the switch sees it, else as it is declared. Pure."""

from __future__ import annotations

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import CHANNEL
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.mac_addresses import mac_address

from .server import Options, Server


def seen_port(server: Server, nic: Options, gathered: Options) -> str | None:
    """The port at which a switch sees a NIC, by LLDP, else by the only place where its MAC address was learned.

    Args:
        server: whose NIC it is.
        nic: its ``name`` and ``mac``.
        gathered: what ``tor_info`` returned.
    """
    for port, neighbours in (gathered.get("neighbours") or {}).items():
        for neighbour in neighbours:
            is_here = neighbour["device"].partition(".")[0].lower() == server.name.partition(".")[0].lower()
            if is_here and (neighbour["port"] == nic["name"] or mac_address(neighbour["port"]) == nic["mac"].lower()):
                return str(port)
    learned = [
        port for port, entries in (gathered.get("macs") or {}).items() for each in entries if each["mac"] == nic["mac"]
    ]
    places = {_at_server(server, port, gathered) for port in learned}
    return places.pop() if len(places) == 1 else None


def _at_server(server: Server, port: str, gathered: Options) -> str:
    """A channel's member that is declared to be the server's; the port itself otherwise."""
    if not port.startswith(CHANNEL):
        return port
    groups = {each["name"]: each.get("channel_group") for each in gathered["ports"]}
    group = int(port[len(CHANNEL) :])
    return next((member for member in server.ports if groups.get(member) == group), port)
