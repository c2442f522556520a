# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be true at the same time of Poplar servers: who has which, and both ends of each RNIC's cable. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network

from .._desired.switches import desired_tor
from .._link_checks.ends import NicEnd, declared_port
from .._link_checks.mismatches import mismatches
from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, TOR, Device, devices_of_pod
from .._pod.hypervisors import bare_metal_tenants, guests_of
from .._pod.model import Declaration, Partition, Pod, Vpod
from .._pod.ports import Place, places_of
from .._pod.schema import Finding
from .._pod.switches import QUARANTINE
from .._pod.wording import some, unknown

WORDS = {"mtu": ("mtu",), "vlan": ("vlan", "native_vlan", "mode")}
"""What may be said of a port about a setting of its NIC."""


def server_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return the contradictions between the pods' servers, their switch ports and addresses."""
    pinned = {name: vpod for vpod in declaration.vpods.values() for name in vpod.ipu_machines}
    tenants = {**bare_metal_tenants(declaration), **pinned}
    for pod in declaration.pods.values():
        yield from _cables(declaration, pod, tenants)
        yield from _subnets(pod, tenants)


def _cables(declaration: Declaration, pod: Pod, tenants: Mapping[str, Vpod]) -> Iterator[Finding]:
    """VLAN and MTU of an RNIC against what is said of its port by name; what is derived agrees with itself."""
    places = places_of(pod)
    servers = [
        (place, place.device)
        for place in places.values()
        if place.declared and place.device and place.device.kind == POPLAR_SERVER
    ]
    if not servers:
        return
    (switch,) = (device for device in devices_of_pod(pod) if device.kind == TOR)
    options = desired_tor(declaration, switch, tenants)
    for place, server in servers:
        paths = {key: _path(pod, place, places, words) for key, words in WORDS.items()}
        port = replace(
            declared_port(switch.name, options, place.name), source={key: path for key, path in paths.items() if path}
        )
        for mismatch in mismatches(_nic(pod, place, server, tenants.get(server.name)), port):
            if mismatch.setting in port.source:
                yield port.source[mismatch.setting], str(mismatch)


def _nic(pod: Pod, place: Place, server: Device, vpod: Vpod | None) -> NicEnd:
    """An RNIC as pods.yml declares it; what the second one is for, only its port says."""
    own = pod.overrides.get(server.name, {}).get("rnic_mtu")
    source = {"mtu": f"pods.{pod.name}.{'rnic.mtu' if own is None else f'overrides.{server.name}.rnic_mtu'}"}
    mtu = server.facts["rnic_mtu"]
    if place.rnic != 1:
        return NicEnd(f"{server.name} RNIC {place.rnic}", mtu=mtu, source=source)
    vlan, path = _vlan(pod, vpod)
    name = f"{server.name} {server.facts['rnic_interface']}"
    return NicEnd(name, mtu=mtu, vlan=vlan, source={**source, "vlan": path})


def _path(pod: Pod, place: Place, places: Mapping[str, Place], words: Sequence[str]) -> str | None:
    """The key path of the first of some words that is said of a port by name, at its channel before itself."""
    group = place.declared.settings.get("channel_group") if place.declared else None
    for each in (places.get(f"Port-Channel{group}"), place):
        for word in words:
            if each and each.declared and word in each.declared.settings:
                return f"pods.{pod.name}.tor.ports.{each.declared.name}.{word}"
    return None


def _vlan(pod: Pod, vpod: Vpod | None) -> tuple[int | None, str]:
    """The VLAN of an RNIC without tag, and which key says so."""
    if vpod and vpod.vlan is not None:
        return vpod.vlan, f"vpods.{vpod.name}.vlan"
    if vpod is None and pod.rnic_vlan is None:
        return pod.rest_vlan, f"pods.{pod.name}.vlans.{QUARANTINE}"
    return pod.rnic_vlan, f"pods.{pod.name}.rnic.vlan"


def _subnets(pod: Pod, tenants: Mapping[str, Vpod]) -> Iterator[Finding]:
    """Servers and IPU-Machines that shall reach each other and are not in one subnet."""
    devices = list(devices_of_pod(pod))
    machines = [(device, IPv4Address(device.facts["rnic_address"])) for device in devices if device.kind == IPU_MACHINE]
    reported = set()
    for server in (device for device in devices if device.kind == POPLAR_SERVER):
        network = IPv4Network(f"{server.facts['rnic_address']}/{server.facts['rnic_prefix']}", strict=False)
        for machine, address in machines:
            if address in network or not _may_meet(server, machine, tenants):
                continue
            culprit, other = (server, machine) if _is_overridden(pod, server) else (machine, server)
            if culprit.name not in reported:
                reported.add(culprit.name)
                yield (
                    f"pods.{pod.name}.overrides.{culprit.name}.rnic_address",
                    f"{culprit.facts['rnic_address']} of {culprit.name} and {other.facts['rnic_address']} of "
                    f"{other.name} are not in one /{other.facts['rnic_prefix']}, and RNICs have no gateway; give both "
                    "addresses of one subnet",
                )


def _is_overridden(pod: Pod, device: Device) -> bool:
    return "rnic_address" in pod.overrides.get(device.name, {})


def _may_meet(server: Device, machine: Device, tenants: Mapping[str, Vpod]) -> bool:
    """Whether a server may have to reach an IPU-Machine: which ones a vPOD without pins gets, placement tells later."""
    tenant, owner = tenants.get(server.name), tenants.get(machine.name)
    if owner is not None or tenant is None:
        return tenant == owner
    return not tenant.ipu_machines


def tenancy_findings(declaration: Declaration, servers: Collection[str]) -> Iterator[Finding]:
    """Return the problems in the assignment of Poplar servers; ``servers`` are the names of all of them."""
    guests = guests_of(declaration)
    owners: dict[str, str] = {}
    for vpod in declaration.vpods.values():
        path = f"vpods.{vpod.name}"
        for server in vpod.poplar_servers:
            if server not in servers:
                yield f"{path}.poplar_servers", unknown(server, "Poplar server", servers)
            elif server not in guests and server in owners:
                remedy = "remove it from one, or name it in hypervisors of its pod"
                yield f"{path}.poplar_servers", f"{server!r} already belongs to {owners[server]}; {remedy}"
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
        vlan = f"{path}.rnic.vlan, the VLAN that these carry untagged, for the host"
        yield f"{path}.hypervisors", f"their ports are trunks; declare {vlan}"
    for name in pod.hypervisors:
        if name not in servers:
            yield f"{path}.hypervisors", f"{name!r} is no Poplar server; the servers are {some(servers)}"
            continue
        numbers: dict[int, str] = {}
        for vpod in guests[name]:
            here = f"vpods.{vpod.name}"
            if vpod.vlan is None:
                yield f"{here}.vlan", f"is missing; only by its VLAN {name}, a hypervisor, keeps it apart from others"
            number, problem = vpod.virtual_function, ""
            if number is None:
                problem = (
                    f"is missing; say which one of {name}, a hypervisor, it gets, 0 to {pod.virtual_functions - 1}"
                )
            elif number >= pod.virtual_functions:
                count = f"{path}.virtual_functions {pod.virtual_functions}"
                problem = f"{name} has {count}, counted from 0; use a smaller number"
            elif (other := numbers.setdefault(number, here)) != here:
                problem = f"{number} of {name} is already that of {other}; use another"
            if problem:
                yield f"{here}.virtual_function", problem
