# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions between clouds, the vPODs in them, and the pods."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv4Network

from ansible_collections.ipu.pod.plugins.module_utils._cloud.wanted import DEFAULT_DOMAIN

from .._desired.clouds import pools_of
from .._desired.containers import block_clashes, rnic_subnet
from .._desired.controllers import controller_hosts
from .._pod.clouds import TENANT, CloudShare
from .._pod.devices import POPLAR_SERVER, devices_of
from .._pod.hypervisors import hypervisors_of
from .._pod.kinds import Finding
from .._pod.model import DEDICATED, Declaration, Vpod
from .._pod.wording import unknown
from .names import taken_names


def cloud_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return the problems of what vPODs have in clouds, but for addresses."""
    hypervisors = hypervisors_of(declaration)
    projects: dict[tuple[str, str, str], str] = {}
    vlans = _vlans(declaration)
    yield from _names(declaration)
    yield from _controllers(declaration)
    yield from _management(declaration)
    for vpod, share in _shares(declaration):
        path = f"vpods.{vpod.name}.cloud"
        if share.name not in declaration.clouds:
            yield f"{path}.name", unknown(share.name, "cloud", declaration.clouds)
        yield from _carriers(path, vpod, hypervisors)
        yield from _kinds_of_ports(path, declaration, vpod)
        if vpod.ipus % share.ipus_per_machine:
            yield (
                f"{path}.ipus_per_machine",
                f"{vpod.ipus} IPUs are no multiple of {share.ipus_per_machine}; use a divisor of {vpod.ipus}",
            )
        for key, project in _projects(vpod, share).items():
            here = f"{path}.{key}"
            if (other := projects.setdefault((share.name, *project), here)) != here:
                yield here, f"{project[1]!r} is already the project of {other}; each has one of its own"
        yield from _machines(path, share)
        yield from _controller_machine(path, declaration, vpod, share)
        if share.storage:
            here = f"{path}.storage.vlan"
            if (owner := vlans.setdefault(share.storage.vlan, here)) != here:
                yield here, f"VLAN {share.storage.vlan} is also {owner}; give each its own"


def cloud_address_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return the problems of addresses of machines and of storage networks in clouds."""
    devices = devices_of(declaration)
    networks = {
        f"of the RNIC of {device.name}": rnic_subnet(device)
        for device in devices.values()
        if device.kind == POPLAR_SERVER
    }
    for vpod, share in _shares(declaration):
        path = f"vpods.{vpod.name}.cloud"
        servers = [devices[name] for name in vpod.poplar_servers]
        for server in servers:
            yield from block_clashes(path, "machines", declaration, server, devices)
            if rnic_subnet(server) != rnic_subnet(servers[0]):
                yield (
                    path,
                    f"the RNICs of {server.name} and {servers[0].name} are in different networks; machines of a vPOD "
                    "are in one",
                )
        pools = pools_of(declaration, vpod, devices)
        addresses, machines = sum(map(len, pools)), vpod.ipus // share.ipus_per_machine
        if share.is_kept and machines > addresses:
            yield (
                f"{path}.ipus_per_machine",
                f"{machines} machines are more than the {addresses} addresses of its hypervisors; use a larger number",
            )
        if not share.storage:
            continue
        here, subnet = f"{path}.storage.subnet", IPv4Network(share.storage.subnet)
        for whose, network in networks.items():
            if subnet.overlaps(network):
                yield here, f"{subnet} overlaps {network} {whose}; use other addresses"
                break
        else:
            for device in devices.values():
                address = device.facts.get("management_address")
                if address and IPv4Address(address) in subnet:
                    yield here, f"{subnet} has {address}, the management address of {device.name}; use other addresses"
                    break


def _names(declaration: Declaration) -> Iterator[Finding]:
    taken = taken_names(declaration)
    for name in declaration.clouds:
        if name in taken:
            yield f"clouds.{name}", f"{name!r} is the name of {taken[name]}; give the cloud another name"


def _controllers(declaration: Declaration) -> Iterator[Finding]:
    hosts = controller_hosts(declaration)
    for name, cloud in declaration.clouds.items():
        addresses: dict[str, str] = {}
        for host, address in cloud.controllers.items():
            path = f"clouds.{name}.controllers.{host}"
            if host not in hosts:
                yield path, unknown(host, "host of a V-IPU controller", hosts)
            if (other := addresses.setdefault(address, host)) != host:
                yield path, f"{address} is already that of {other}; give each host its own"


def _management(declaration: Declaration) -> Iterator[Finding]:
    servers = {device.name for device in devices_of(declaration).values() if device.kind == POPLAR_SERVER}
    for name, cloud in declaration.clouds.items():
        for host in sorted(servers.intersection(cloud.management.hypervisors if cloud.management else ())):
            yield (
                f"clouds.{name}.management.hypervisors",
                f"{host!r} is a Poplar server, which gives tenants' machines no way to management addresses; name "
                "compute nodes that are none",
            )


def _controller_machine(path: str, declaration: Declaration, vpod: Vpod, share: CloudShare) -> Iterator[Finding]:
    """What the machine of a dedicated V-IPU controller needs."""
    if share.controller is None:
        return
    if not (vpod.is_dedicated and vpod.controller_host):
        yield (
            f"{path}.controller",
            f"is the machine of a dedicated controller; say controller: {DEDICATED} and its controller_address in "
            f"vpods.{vpod.name}, or leave it out",
        )
        return
    host, cloud = str(vpod.controller_host), declaration.clouds.get(share.name)
    if cloud and cloud.management is None:
        yield f"clouds.{cloud.name}.management", f"is missing; the machine of {host} needs a port there"
    if cloud and host not in cloud.controllers:
        yield (
            f"clouds.{cloud.name}.controllers",
            f"has no {host}; say there by which address machines of vPOD {vpod.name} reach it",
        )


def _carriers(path: str, vpod: Vpod, hypervisors: Collection[str]) -> Iterator[Finding]:
    if not vpod.poplar_servers:
        yield path, f"its machines need hypervisors; name them in vpods.{vpod.name}.poplar_servers"
    for server in vpod.poplar_servers:
        if server not in hypervisors:
            yield path, f"{server!r} is bare metal and carries no machines; name it in hypervisors of its pod"


def _projects(vpod: Vpod, share: CloudShare) -> dict[str, tuple[str, str]]:
    """Key of a vPOD's entry to domain and name of the project that it makes."""
    own = {"controller": (DEFAULT_DOMAIN, str(vpod.controller_host))} if share.controller else {}
    return {"project": (share.domain, share.project), **own}


def _kinds_of_ports(path: str, declaration: Declaration, vpod: Vpod) -> Iterator[Finding]:
    hypervisors = {
        name: pod.virtual_functions
        for pod in declaration.pods.values()
        for name in vpod.poplar_servers
        if name in pod.hypervisors
    }
    with_functions = [name for name, functions in hypervisors.items() if functions]
    without = [name for name, functions in hypervisors.items() if not functions]
    if with_functions and without:
        yield (
            path,
            f"the RNIC of {with_functions[0]} has virtual functions, and that of {without[0]} none; machines of a vPOD "
            "have one kind of port",
        )


def _shares(declaration: Declaration) -> Iterator[tuple[Vpod, CloudShare]]:
    for vpod in declaration.vpods.values():
        if vpod.cloud:
            yield vpod, vpod.cloud


def _vlans(declaration: Declaration) -> dict[int, str]:
    """Every VLAN of pods and vPODs, and which key declares it."""
    pods = declaration.pods.values()
    return {
        **{vlan.vlan_id: f"pods.{pod.name}.vlans.{name}" for pod in pods for name, vlan in pod.vlans.items()},
        **{pod.rnic_vlan: f"pods.{pod.name}.rnic.vlan" for pod in pods if pod.rnic_vlan is not None},
        **{vpod.vlan: f"vpods.{vpod.name}.vlan" for vpod in declaration.vpods.values() if vpod.vlan is not None},
    }


def _machines(path: str, share: CloudShare) -> Iterator[Finding]:
    if share.is_kept:
        for key in ("image", "key"):
            if getattr(share, key) is None:
                yield f"{path}.{key}", f"is missing; machines that the run keeps need it, or say machines: {TENANT}"
    elif share.volumes:
        yield (
            f"{path}.volumes",
            f"are of machines that the run keeps; say machines: kept, or leave them to the {TENANT}",
        )
