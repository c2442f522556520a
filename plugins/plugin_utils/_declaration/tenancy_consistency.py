# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be true at the same time of the Poplar servers that vPODs and their partitions have. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from .._pod.hypervisors import guests_of
from .._pod.model import Declaration, Partition, Pod, Vpod
from .._pod.wording import some, unknown

Finding = tuple[str, str]


def tenancy_findings(declaration: Declaration, servers: Collection[str]) -> Iterator[Finding]:
    """What is wrong with who has which Poplar server.

    Args:
        declaration: what pods.yml says.
        servers: the names of all Poplar servers.
    """
    guests = guests_of(declaration)
    owners: dict[str, str] = {}
    for vpod in declaration.vpods.values():
        path = f"vpods.{vpod.name}"
        for server in vpod.poplar_servers:
            if server not in servers:
                yield f"{path}.poplar_servers", unknown(server, "Poplar server", servers)
            elif server not in guests and server in owners:
                yield (
                    f"{path}.poplar_servers",
                    f"{server!r} already belongs to {owners[server]}; remove it from one, or name it in hypervisors "
                    "of its pod",
                )
            owners.setdefault(server, path)
        for partition in vpod.partitions:
            yield from _partition(f"{path}.partitions.{partition.name}.poplar_servers", vpod, partition)
        if vpod.virtual_function is not None and not any(server in guests for server in vpod.poplar_servers):
            yield f"{path}.virtual_function", "it is for hypervisors, and none of its servers is one; leave it out"
    for pod in declaration.pods.values():
        yield from _hypervisors(pod, guests, servers)


def _partition(path: str, vpod: Vpod, partition: Partition) -> Iterator[Finding]:
    """Servers of other vPODs, and servers that are neither one for each GCD nor one for all of them."""
    named, gcds = partition.poplar_servers, partition.gcds or 1
    for server in dict.fromkeys(named):
        if server not in vpod.poplar_servers:
            yield path, f"{server!r} is not a server of this vPOD; add it to vpods.{vpod.name}.poplar_servers"
    if gcds > 1 and len(named) not in (0, 1, gcds):
        yield (
            path,
            f"{len(named)} servers for {gcds} GCDs; name one for each GCD in their order ({gcds} names, a server may "
            "stand there several times), or one for all of them",
        )
    elif gcds == 1 and len(set(named)) < len(named):
        twice = max(named, key=named.count)
        yield path, f"{twice!r} is listed twice, but there is one GCD; keep one"


def _hypervisors(pod: Pod, guests: Mapping[str, Sequence[Vpod]], servers: Collection[str]) -> Iterator[Finding]:
    path = f"pods.{pod.name}"
    if pod.hypervisors and pod.rnic_vlan is None:
        yield (
            f"{path}.hypervisors",
            f"their ports are trunks; declare {path}.rnic.vlan, the VLAN that these carry untagged, for the host",
        )
    for name in pod.hypervisors:
        if name not in servers:
            yield f"{path}.hypervisors", f"{name!r} is no Poplar server; the servers are {some(servers)}"
            continue
        numbers: dict[int, str] = {}
        for vpod in guests[name]:
            here = f"vpods.{vpod.name}"
            if vpod.vlan is None:
                yield f"{here}.vlan", f"is missing; only by its VLAN {name}, a hypervisor, keeps it apart from others"
            if vpod.virtual_function is None:
                yield (
                    f"{here}.virtual_function",
                    f"is missing; say which one of {name}, a hypervisor, it gets, 0 to {pod.virtual_functions - 1}",
                )
            elif vpod.virtual_function >= pod.virtual_functions:
                yield (
                    f"{here}.virtual_function",
                    f"{name} has {path}.virtual_functions {pod.virtual_functions}, counted from 0; use a smaller "
                    "number",
                )
            elif vpod.virtual_function in numbers:
                yield (
                    f"{here}.virtual_function",
                    f"{vpod.virtual_function} of {name} is already that of {numbers[vpod.virtual_function]}; "
                    "use another",
                )
            else:
                numbers[vpod.virtual_function] = here
