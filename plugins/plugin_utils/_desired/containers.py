# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers on the bare-metal servers of a vPOD that have RNIC addresses of their own, by macvlan. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, Device, devices_of
from .._pod.hypervisors import hypervisors_of
from .._pod.kinds import Finding
from .._pod.model import FILES, MACVLAN, Declaration, Pod, Vpod
from .._pod.rack_plan import address

Options = dict[str, Any]

# Behind the addresses of the IPU-Machines and of the servers themselves: one such block for each of four servers.
FIRST_RANGE, ADDRESSES = 128, 32
PREFIX = 27


def container_network(pod: Pod, server: Device, vpod: Vpod | None) -> Options | None:
    """Return the RNIC network of a vPOD for a container engine; None if not declared.

    Servers have addresses of their own to give away, so that no two containers of a vPOD get the same.
    """
    if vpod is None or vpod.containers != MACVLAN:
        return None
    return {
        "network": f"ipu-{vpod.name}",
        "interface": server.facts["rnic_interface"],
        "subnet": str(rnic_subnet(server)),
        "range": str(address_block(pod, server)),
    }


def container_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return the problems of the container settings of vPODs."""
    asking = [vpod for vpod in declaration.vpods.values() if vpod.containers == MACVLAN]
    devices = devices_of(declaration) if asking else {}
    hypervisors = hypervisors_of(declaration)
    for vpod in asking:
        path = f"vpods.{vpod.name}.containers"
        if vpod.ipuof != FILES:
            yield path, f"a macvlan network reaches no V-IPU controller; declare vpods.{vpod.name}.ipuof: {FILES} too"
        for name in vpod.poplar_servers:
            if name in devices and name not in hypervisors:
                yield from block_clashes(path, "containers", declaration, devices[name], devices)


def block_clashes(
    path: str, what: str, declaration: Declaration, server: Device, devices: Mapping[str, Device]
) -> Iterator[Finding]:
    """Addresses, for ``what`` there is on a server, that nobody could reach, or that a device has."""
    block, subnet = address_block(declaration.pods[server.pod], server), rnic_subnet(server)
    if not block.subnet_of(subnet):
        yield (
            path,
            f"{what} on {server.name} would have addresses of {block}, which is not in {subnet} of its "
            f"RNIC; leave it out, or leave overrides.{server.name}.rnic_address to the plan of addresses",
        )
    for device in devices.values():
        if device.kind in (IPU_MACHINE, POPLAR_SERVER) and IPv4Address(device.facts["rnic_address"]) in block:
            yield (
                path,
                f"{what} on {server.name} would have addresses of {block}, of which {device.name} has "
                f"{device.facts['rnic_address']}; give that one another",
            )


def rnic_subnet(server: Device) -> IPv4Network:
    """The network of a Poplar server's RNIC."""
    return IPv4Network(f"{server.facts['rnic_address']}/{server.facts['rnic_prefix']}", strict=False)


def address_block(pod: Pod, server: Device) -> IPv4Network:
    """The RNIC addresses that a Poplar server has to give away, to containers or machines."""
    first = address(pod.addressing, "rnic", pod.lrack, FIRST_RANGE + ADDRESSES * (server.number - 1))
    return IPv4Network(f"{first}/{PREFIX}")


def machine_addresses(pod: Pod, server: Device) -> list[IPv4Address]:
    """Those for virtual machines on a hypervisor, without what could be taken for a broadcast."""
    return [each for each in address_block(pod, server) if each.packed[-1] != 255]
