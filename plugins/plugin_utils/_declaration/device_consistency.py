# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions between switches, their ports and VLANs, and Poplar servers, their cables, addresses and tenants."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared_qos import declare_qos
from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import canonical_port

from .._desired.roce import roce
from .._desired.switches import desired_tor
from .._desired.tenant_vlans import vlan_name
from .._link_checks.ends import NicEnd, declared_port
from .._link_checks.mismatches import mismatches
from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, TOR, Device, devices_of_pod
from .._pod.hypervisors import bare_metal_tenants, guests_of
from .._pod.kinds import Finding
from .._pod.model import Declaration, Partition, Pod, Vpod
from .._pod.ports import Place, places_of
from .._pod.switches import EXTERNAL, KEPT, QUARANTINE, RNIC_OF_SERVER, SPARE, STORAGE, SwitchPort, Vlan, is_range
from .._pod.wording import meant, some, unknown
from .joined_racks import joined_racks

OF_ONE_MEMBER = ("description", "enabled", "lldp")
"""The settings that may differ between the members of a port channel."""
LONGEST_VLAN_NAME = 32
WORDS = {"mtu": ("mtu",), "vlan": ("vlan", "native_vlan", "mode")}
"""Setting of a NIC to the keys of a port that are about it."""


def switch_findings(pod: Pod) -> Iterator[Finding]:
    """Return the problems of a pod's ToR switch, management switch and VLANs."""
    path = f"pods.{pod.name}"
    yield from _vlans(path, _vlans_of(pod))
    yield from _ports(f"{path}.tor.ports", pod.tor.ports, pod.vlans, f"{path}.vlans")
    yield from _tor(path, pod)
    if pod.management_switch:
        switch, path = pod.management_switch, f"{path}.management_switch"
        yield from _vlans(path, {f"vlans.{name}": vlan for name, vlan in switch.vlans.items()})
        yield from _ports(f"{path}.ports", switch.ports, switch.vlans, f"{path}.vlans")


def tenant_vlan_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return the conflicts between VLANs of vPODs and pods, as far as their racks are one network."""
    joined = joined_racks(declaration)
    racks_of = {
        name: joined[pod] for name, cluster in declaration.clusters.items() for pod in cluster.pods if pod in joined
    }
    of_pods = [
        (pod.name, f"pods.{pod.name}.{key}", vlan)
        for pod in declaration.pods.values()
        for key, vlan in _vlans_of(pod).items()
    ]
    ids: dict[tuple[frozenset[str] | None, int], str] = {
        (joined[pod], vlan.vlan_id): path for pod, path, vlan in of_pods
    }
    vnis = {vlan.vni: path for _pod, path, vlan in of_pods if vlan.vni is not None}
    for name, vpod in declaration.vpods.items():
        path = f"vpods.{name}"
        if vpod.vlan is None:
            for key, value in (("vni", vpod.vni), ("vlan_name", vpod.vlan_name)):
                if value is not None:
                    yield f"{path}.{key}", f"it belongs to a VLAN; declare {path}.vlan too"
            continue
        if len(name_of := vlan_name(vpod)) > LONGEST_VLAN_NAME:
            longest = f"and switches take {LONGEST_VLAN_NAME} characters"
            yield f"{path}.vlan_name", f"is missing; its VLAN would be called {name_of}, {longest}"
        here = (racks_of.get(vpod.cluster), vpod.vlan)
        if here in ids:
            yield f"{path}.vlan", f"VLAN {vpod.vlan} is also {ids[here]}; give each its own"
        ids[here] = f"{path}.vlan"
        if vpod.vni is not None:
            if vpod.vni in vnis:
                yield f"{path}.vni", f"VNI {vpod.vni} is also that of {vnis[vpod.vni]}; give each its own"
            vnis[vpod.vni] = f"{path}.vlan"


def _vlans_of(pod: Pod) -> dict[str, Vlan]:
    vlans = {f"vlans.{name}": vlan for name, vlan in pod.vlans.items()}
    if pod.rnic_vlan is not None:
        vlans["rnic.vlan"] = Vlan(pod.rnic_vlan, pod.rnic_vni)
    return vlans


def _vlans(path: str, vlans: Mapping[str, Vlan]) -> Iterator[Finding]:
    ids: dict[int, str] = {}
    vnis: dict[int, str] = {}
    for key, vlan in vlans.items():
        here = f"{path}.{key}"
        if (other := ids.setdefault(vlan.vlan_id, here)) != here:
            yield here, f"VLAN {vlan.vlan_id} is also {other}; give each its own"
        if vlan.vni is not None and (other := vnis.setdefault(vlan.vni, here)) != here:
            yield here, f"VNI {vlan.vni} is also that of {other}; give each its own"


def _ports(path: str, ports: Sequence[SwitchPort], vlans: Mapping[str, Vlan], vlans_path: str) -> Iterator[Finding]:
    spelled: dict[str, str] = {}
    for port in ports:
        here, name = f"{path}.{port.name}", port.port
        if (other := spelled.setdefault(name, port.name)) != port.name:
            yield here, f"it is {name}, as is {other!r}; declare each port once"
        if port.owner == EXTERNAL and port.settings:
            yield f"{here}.{min(port.settings)}", "an external port is not touched; leave this or owner out"
        for key, reference in _vlan_references(port):
            if isinstance(reference, str) and not is_range(reference) and reference not in vlans:
                known = f"known are {', '.join(vlans)}" if vlans else "none is declared"
                yield f"{here}.{key}", f"{reference!r} is no VLAN of {vlans_path}{meant(reference, vlans)}; {known}"
        if port.settings.get("mode") == "access" and not {"vlans", "native_vlan"}.isdisjoint(port.settings):
            yield (
                f"{here}.mode",
                "an access port has one VLAN; say vlan instead of vlans and native_vlan, or mode: trunk",
            )
        if "channel_group" in port.settings and name.startswith("Port-Channel"):
            yield f"{here}.channel_group", "a port channel is no member of one; say it at its Ethernet ports"
        if "lacp" in port.settings and not port.settings.get("channel_group"):
            yield f"{here}.lacp", "it is for a member of a port channel; say its channel_group too"


def _vlan_references(port: SwitchPort) -> Iterator[tuple[str, int | str]]:
    for key in ("vlan", "native_vlan"):
        if key in port.settings:
            yield key, port.settings[key]
    for reference in port.settings.get("vlans", ()):
        yield "vlans", reference


def _tor(path: str, pod: Pod) -> Iterator[Finding]:
    places = places_of(pod)
    if pod.tor.spare_ports == QUARANTINE and QUARANTINE not in pod.vlans:
        yield f"{path}.tor.spare_ports", f"it needs the VLAN; declare {path}.vlans.{QUARANTINE}, or say {KEPT}"
    for key, value in (("vni", pod.rnic_vni), ("vlan_name", pod.rnic_vlan_name)):
        if value is not None and pod.rnic_vlan is None:
            yield f"{path}.rnic.{key}", "it belongs to a VLAN; declare rnic.vlan too"
    yield from _roce(path, pod.tor.roce or {})
    yield from _mtus(path, pod, places)
    yield from _canaries(path, pod, places)
    for place in places.values():
        if place.declared:
            yield from _place(f"{path}.tor.ports.{place.declared.name}", pod, place, place.declared)
    yield from _channels(f"{path}.tor.ports", places)


def _roce(path: str, settings: Mapping[str, Any]) -> Iterator[Finding]:
    try:
        qos = roce(settings)
    except Refused as error:
        key, sentence = str(error).split(": ", 1)
        yield f"{path}.tor.{key}", sentence
        return
    try:
        declare_qos(qos)
    except Refused as error:
        yield f"{path}.tor.roce", str(error)


def _mtus(path: str, pod: Pod, places: Mapping[str, Place]) -> Iterator[Finding]:
    """Frames that an RNIC may send and its ToR drops without a word; a server's port is judged with its server."""
    for place in places.values():
        own = pod.overrides.get(place.device.name, {}).get("rnic_mtu") if place.device else None
        is_declared = place.declared and "mtu" in place.declared.settings
        if place.device and own is not None and pod.tor.mtu is not None and not is_declared and own > pod.tor.mtu:
            here = f"{path}.overrides.{place.device.name}.rnic_mtu"
            yield here, f"{own} is more than the {pod.tor.mtu} of its port {place.name}; make it smaller"
    if pod.rnic_mtu is None:
        return
    if pod.tor.mtu is not None and pod.rnic_mtu > pod.tor.mtu:
        yield f"{path}.rnic.mtu", f"{pod.rnic_mtu} is more than the {pod.tor.mtu} of {path}.tor.mtu; make it smaller"
    for place in places.values():
        is_judged_here = place.device and place.role != RNIC_OF_SERVER
        mtu = place.declared.settings.get("mtu") if place.declared and is_judged_here else None
        if mtu is not None and pod.rnic_mtu > mtu:
            here = f"{path}.tor.ports.{place.declared.name if place.declared else place.name}.mtu"
            yield here, f"{mtu} is less than the {pod.rnic_mtu} of {path}.rnic.mtu; make it larger"


def _canaries(path: str, pod: Pod, places: Mapping[str, Place]) -> Iterator[Finding]:
    devices = {place.device.name for place in places.values() if place.device}
    for name in pod.tor.canary:
        if name in devices:
            continue
        try:
            place = places.get(canonical_port(name))
        except ValueError:
            place = None
        if place is None or (place.declared is None and place.rnic != 1):
            yield f"{path}.tor.canary", f"{name!r} is no IPU-Machine, Poplar server or declared port; name one of these"


def _place(here: str, pod: Pod, place: Place, declared: SwitchPort) -> Iterator[Finding]:
    if declared.role and place.device:
        yield (
            f"{here}.role",
            f"{place.name} is the port of {place.device.name}; leave role out, or give {place.device.name} another "
            f"port in pods.{pod.name}.overrides",
        )
    is_our_storage = declared.role == STORAGE and declared.owner != EXTERNAL
    if is_our_storage and STORAGE not in pod.vlans and "mode" not in declared.settings:
        yield here, f"which VLAN? declare pods.{pod.name}.vlans.{STORAGE}, or mode and VLAN of this port"
    if declared.role == SPARE and declared.settings:
        yield f"{here}.{min(declared.settings)}", "a spare port is not configured; leave this or role out"
    if declared.roce and pod.tor.roce is None:
        yield f"{here}.roce", f"there is no profile to give it; declare pods.{pod.name}.tor.roce, for example reference"


def _channels(path: str, places: Mapping[str, Place]) -> Iterator[Finding]:
    """Members of one channel that do not end at one device, or whose declarations differ."""
    first: dict[int, Place] = {}
    for place in places.values():
        group = place.declared.settings.get("channel_group") if place.declared else None
        if not group or not place.declared:
            continue
        here, other = f"{path}.{place.declared.name}", first.setdefault(group, place)
        if other.device and place.device and other.device != place.device:
            yield (
                f"{here}.channel_group",
                f"channel {group} also has {other.name} of {other.device.name}, but a channel ends at one device; "
                f"give {place.device.name} another",
            )
        for key in sorted({*place.declared.settings, *(other.declared.settings if other.declared else {})}):
            theirs = other.declared.settings.get(key) if other.declared else None
            if key not in OF_ONE_MEMBER and place.declared.settings.get(key) != theirs:
                yield f"{here}.{key}", f"{other.name} of the same channel {group} has {theirs!r}; say the same of both"


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
    with_functions = {name for pod in declaration.pods.values() if pod.virtual_functions for name in pod.hypervisors}
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
        if vpod.virtual_function is not None and (why := _no_function(vpod, guests, with_functions)):
            yield f"{path}.virtual_function", f"{why}; leave it out"
    for pod in declaration.pods.values():
        yield from _hypervisors(pod, guests, servers)


def _no_function(vpod: Vpod, hypervisors: Collection[str], with_functions: set[str]) -> str:
    """Why a vPOD can have no virtual function; empty where it can."""
    if not with_functions.isdisjoint(vpod.poplar_servers):
        return "Nova chooses the functions of its machines" if vpod.cloud else ""
    is_hosted = any(server in hypervisors for server in vpod.poplar_servers)
    return "its hypervisors have none" if is_hosted else "it is for hypervisors, and none of its servers is one"


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
            yield (
                f"{path}.hypervisors",
                f"{name!r} is no Poplar server{meant(name, servers)}; the servers are {some(servers)}",
            )
            continue
        numbers: dict[int, str] = {}
        in_cloud = next((f"vpods.{vpod.name}.cloud" for vpod in guests[name] if vpod.cloud), "")
        for vpod in guests[name]:
            here = f"vpods.{vpod.name}"
            if vpod.vlan is None:
                yield f"{here}.vlan", f"is missing; only by its VLAN {name}, a hypervisor, keeps it apart from others"
            if not pod.virtual_functions or vpod.cloud:
                continue
            if in_cloud:
                whose = f"Nova has all virtual functions of {name!r}, for the machines of {in_cloud}"
                yield f"{here}.poplar_servers", f"{whose}; give {vpod.name} another hypervisor"
            elif problem := _virtual_function(pod, name, vpod, numbers):
                yield f"{here}.virtual_function", problem


def _virtual_function(pod: Pod, name: str, vpod: Vpod, numbers: dict[int, str]) -> str:
    """What is wrong with the number of a vPOD's function on a hypervisor; ``numbers`` are those that others have."""
    number, here = vpod.virtual_function, f"vpods.{vpod.name}"
    if number is None:
        return f"is missing; say which one of {name}, a hypervisor, it gets, 0 to {pod.virtual_functions - 1}"
    if number >= pod.virtual_functions:
        count = f"pods.{pod.name}.virtual_functions {pod.virtual_functions}"
        return f"{name} has {count}, counted from 0; use a smaller number"
    if (other := numbers.setdefault(number, here)) != here:
        return f"{number} of {name} is already that of {other}; use another"
    return ""
