# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers on the servers of vPODs that have RNIC addresses of their own, by macvlan. Pure.

On a bare-metal server they are beside it on its RNIC, whose switch port is in the vPOD's VLAN. On a server that several
vPODs share, each vPOD has a virtual function of the RNIC, which the NIC keeps in its VLAN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, Device, devices_of
from .._pod.kinds import Finding
from .._pod.model import FILES, MACVLAN, Declaration, Pod, Vpod
from .._pod.rack_plan import address
from .controllers import user_end_point

Options = dict[str, Any]

# Behind the addresses of the IPU-Machines and of the servers themselves: one such block for each of four servers.
FIRST_RANGE, ADDRESSES = 128, 32
PREFIX = 27
# Of the addresses of a virtual function each of two engines gets half, and can give the first of them to nobody.
FUNCTION_PREFIX = 30
MOST_FUNCTIONS = 1 << (FUNCTION_PREFIX - PREFIX)


def vpods_with_containers(
    declaration: Declaration, server: Device, vpods: Sequence[Vpod], devices: Mapping[str, Device]
) -> list[Options]:
    """Return those of a server's vPODs whose containers it has, each with its V-IPU controller and its RNIC network.

    Servers, and the functions of a server, have addresses of their own to give away, so that no two containers get the
    same. Who has a function has a V-IPU client of its own, ``vipu``, beside those of the others; ``vipu_kept`` where
    a run leaves it aside, with its controller.
    """
    return [_vpod_with_containers(declaration, server, vpod, devices) for vpod in vpods if vpod.containers == MACVLAN]


def _vpod_with_containers(
    declaration: Declaration, server: Device, vpod: Vpod, devices: Mapping[str, Device]
) -> Options:
    pod, client = declaration.pods[server.pod], user_end_point(declaration, vpod, devices)
    function = vpod.virtual_function if server.name in pod.hypervisors else None
    block = address_block(pod, server)
    network = {
        "name": network_name(vpod),
        "interface": server.facts["rnic_interface"],
        "function": function,
        "subnet": str(rnic_subnet(server)),
        "range": str(block if function is None else list(block.subnets(new_prefix=FUNCTION_PREFIX))[function]),
    }
    return {
        "name": vpod.name,
        "ipus": vpod.ipus,
        "allocation": vpod.name,
        "vlan": vpod.vlan,
        "api_host": client["api_host"],
        "api_port": client["api_port"],
        "vipu": None if function is None else client,
        "vipu_kept": False,
        "network": network,
    }


def network_name(vpod: Vpod) -> str:
    """What the RNIC network of a vPOD's containers is called, in each engine."""
    return f"ipu-{vpod.name}"


def container_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return the problems of the container settings of vPODs."""
    asking = [vpod for vpod in declaration.vpods.values() if vpod.containers == MACVLAN]
    devices = devices_of(declaration) if asking else {}
    for vpod in asking:
        path = f"vpods.{vpod.name}.containers"
        if vpod.ipuof != FILES:
            yield path, f"a macvlan network reaches no V-IPU controller; declare vpods.{vpod.name}.ipuof: {FILES} too"
        if vpod.cloud:
            yield path, f"its machines in {vpod.cloud.name} have its virtual functions; leave containers or cloud out"
        for name in vpod.poplar_servers:
            yield from _sharing_findings(path, declaration, vpod, name)
            yield from block_clashes(path, "containers", declaration, devices[name], devices)


def _sharing_findings(path: str, declaration: Declaration, vpod: Vpod, server: str) -> Iterator[Finding]:
    """What containers lack on a server that several vPODs may share."""
    pod = next((pod for pod in declaration.pods.values() if server in pod.hypervisors), None)
    if pod is None:
        return
    if not pod.virtual_functions:
        yield (
            path,
            f"{server} is a hypervisor without virtual functions, and its bridge never sees RDMA, so nothing would "
            f"isolate containers there; declare pods.{pod.name}.virtual_functions, or leave containers out",
        )
    elif pod.virtual_functions > MOST_FUNCTIONS:
        yield (
            f"pods.{pod.name}.virtual_functions",
            f"{pod.virtual_functions} functions share the {ADDRESSES} RNIC addresses that {server} has for containers, "
            f"which is enough for {MOST_FUNCTIONS}; declare so many at most, or leave vpods.{vpod.name}.containers out",
        )


def shared_vlans(declaration: Declaration) -> list[str]:
    """One sentence for each vPOD with containers: these are not isolated from each other."""
    return [
        f"vpods.{vpod.name}.containers: containers that share a VLAN are not isolated from each other, and those of "
        f"{vpod.name} share {'that of their pod' if vpod.vlan is None else f'VLAN {vpod.vlan}'}; give people "
        "who must not reach each other's IPUs a vPOD each, with a VLAN of its own"
        for vpod in declaration.vpods.values()
        if vpod.containers == MACVLAN
    ]


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
