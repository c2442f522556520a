# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions in one pod's switches: key paths, each with a sentence and its remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared_qos import declare_qos
from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import canonical_port

from .._desired.roce import roce
from .._pod.model import Declaration, Pod
from .._pod.ports import Place, places_of
from .._pod.schema import Finding
from .._pod.switches import EXTERNAL, KEPT, QUARANTINE, RNIC_OF_SERVER, SPARE, STORAGE, SwitchPort, Vlan, is_range

OF_ONE_MEMBER = ("description", "enabled", "lldp")
"""What may differ between the members of a port channel."""


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
    """Return the conflicts between VLANs of vPODs and pods."""
    of_pods = {
        f"pods.{pod.name}.{key}": vlan for pod in declaration.pods.values() for key, vlan in _vlans_of(pod).items()
    }
    ids = {vlan.vlan_id: path for path, vlan in of_pods.items()}
    vnis = {vlan.vni: path for path, vlan in of_pods.items() if vlan.vni is not None}
    for name, vpod in declaration.vpods.items():
        path = f"vpods.{name}"
        if vpod.vlan is None:
            for key, value in (("vni", vpod.vni), ("vlan_name", vpod.vlan_name)):
                if value is not None:
                    yield f"{path}.{key}", f"it belongs to a VLAN; declare {path}.vlan too"
            continue
        if vpod.vlan in ids:
            yield f"{path}.vlan", f"VLAN {vpod.vlan} is also {ids[vpod.vlan]}; give each its own"
        ids[vpod.vlan] = f"{path}.vlan"
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
                yield f"{here}.{key}", f"{reference!r} is no VLAN of {vlans_path}; {known}"
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
        is_said = place.declared and "mtu" in place.declared.settings
        if place.device and own is not None and pod.tor.mtu is not None and not is_said and own > pod.tor.mtu:
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
    """Members of one channel that do not end at one device, or of which different things are said."""
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
