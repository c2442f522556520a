# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cables between a server and its switch: the port that each NIC is on, and both ends as they were seen. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import CHANNEL
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.mac_addresses import mac_address

from .devices import Options, SeenServer, Server, Switch, kernel_names
from .ends import NicEnd, PortEnd, gathered_port, nic_end


@dataclass(frozen=True)
class Cable:
    """Both ends of one cable, and what else is known of them."""

    device: str  # the NIC's name on the server
    nic: NicEnd
    link: Options  # the NIC as rnic_info returned it
    is_declared: bool  # whether the owner declares the NIC, or a bond of it
    declared_mtu: int | None  # of the NIC, in bytes; None where it is kept
    port: PortEnd
    port_name: str
    port_enabled: bool  # whether the switch has it switched on
    port_wanted: Options  # what is declared of the port; empty for nothing


def cables_of(server: Server, seen: SeenServer, switch: Switch, gathered: Options) -> list[Cable]:
    """The cables whose ports are known; ``seen`` and ``gathered`` are as they were read, or will be after a run."""
    names = kernel_names(server.interfaces, seen.interfaces)
    declared = {names[each["name"]]: each for each in server.interfaces}
    bonded = {names[member] for each in server.interfaces for member in each.get("members") or () if member in names}
    first = names.get(server.rnic, server.rnic)
    cables = []
    for link in seen.nics:
        device = link["name"]
        is_first = device in (first, *members_of(first, seen.interfaces))
        name = _seen_port(server, link, gathered) or (server.ports[0] if is_first else None)
        port = next((port for port in gathered["ports"] if port["name"] == name), None)
        if name is None or port is None:
            continue
        wanted = switch.declared_port(name)
        roce = next((each for each in seen.roce if each["name"] == device), {})
        end = gathered_port(switch.name, gathered, name, bool(wanted.get("qos_profile")))
        cables.append(
            Cable(
                device=device,
                nic=nic_end(server.name, device, seen.interfaces, roce, server.vlan if is_first else None),
                link=link,
                is_declared=device in declared or device in bonded,
                declared_mtu=declared.get(device, {}).get("mtu"),
                # The untagged VLAN of somebody else's port is their business.
                port=replace(end, untagged=None) if wanted.get("owner") == "external" else end,
                port_name=name,
                port_enabled=switch.has_on(name),
                port_wanted=wanted,
            )
        )
    return cables


def members_of(bond: str, interfaces: Sequence[Options]) -> list[str]:
    """The NICs of a bond; none for what is no bond."""
    return [member for each in interfaces if each["name"] == bond for member in each.get("members") or ()]


def _seen_port(server: Server, nic: Options, gathered: Options) -> str | None:
    """The port at which a switch sees a NIC, by LLDP, else by the only place where its MAC address was learned."""
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
