# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desired state of switches: VLANs, ports by role with owners, the RoCE profile. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.settings import FROM_CHANNEL
from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import canonical_port, vlan_ids, vlan_ranges

from .._pod.devices import Device, ports_of
from .._pod.hypervisors import guests_of
from .._pod.model import Declaration, Pod, Vpod
from .._pod.ports import Place, places_of
from .._pod.switches import (
    EXTERNAL,
    KEPT,
    POD_OWNER,
    QUARANTINE,
    RNIC_OF_MACHINE,
    RNIC_OF_SERVER,
    SPARE,
    STORAGE,
    UPLINK,
    ManagementSwitch,
    SwitchPort,
    Vlan,
    is_range,
)
from .roce import roce
from .tenant_vlans import gone_vlans, keep_apart, vlan_name, vlans_of, vpods_near

Options = dict[str, Any]

ROCE_ROLES = (RNIC_OF_MACHINE, RNIC_OF_SERVER, UPLINK)
VLAN_SETTINGS = ("mode", "vlan", "native_vlan", "allowed_vlans")


def owner_of(vpod: Vpod | None) -> str:
    """The owner of what belongs to a vPOD, or to its pod."""
    return f"vpod {vpod.name}" if vpod else POD_OWNER


def desired_tor(
    declaration: Declaration, switch: Device, tenants: Mapping[str, Vpod], strays: Collection[str] = ()
) -> Options:
    """Return a ToR switch as options of tor_switch, ``cables`` for tor_info, and the ``roles`` of its ports.

    ``tenants`` maps devices to their vPODs; what is missing belongs to its pod. ``strays`` as in :mod:`desired`.
    """
    pod = declaration.pods[switch.pod]
    guests = guests_of(declaration) if pod.hypervisors else {}
    places = places_of(pod)
    qos = None if pod.tor.roce is None else roce(pod.tor.roce)
    profile = qos["profiles"][0]["name"] if qos else None
    ports = {
        name: _tor_port(pod, place, _tenant(place, tenants), _guests(place, guests), profile)
        for name, place in places.items()
        if _is_managed(pod, place, strays)
    }
    _move_to_channels(ports)
    near = vpods_near(declaration, pod)
    keep_apart(pod, ports, places, near)
    ours = [places[name] for name in ports if _is_ours(ports[name], places)]
    vlans = _tor_vlans(pod, [vpod for place in ours for vpod in (_tenant(place, tenants), *_guests(place, guests))])
    return {
        "vlans": [*vlans, *gone_vlans(near, [vlan["vlan_id"] for vlan in vlans])],
        "ports": list(ports.values()),
        "qos": qos,
        "canary": _canary(pod, places, ports),
        "cables": _cables(places),
        "roles": _roles(places, ports),
    }


def desired_management_switch(switch: ManagementSwitch) -> Options:
    """Return a management switch exactly as declared."""
    ports = {
        port.port: {"name": port.port, "owner": port.owner or POD_OWNER, **_settings(port, switch.vlans, frozenset())}
        for port in switch.ports
    }
    return {"vlans": _vlan_options({vlan: name for name, vlan in switch.vlans.items()}), "ports": list(ports.values())}


def _tenant(place: Place, tenants: Mapping[str, Vpod]) -> Vpod | None:
    return tenants.get(place.device.name) if place.device else None


def _guests(place: Place, guests: Mapping[str, Sequence[Vpod]]) -> Sequence[Vpod]:
    """The vPODs on a hypervisor, whose frames its port carries tagged."""
    return guests.get(place.device.name, ()) if place.device else ()


def _is_managed(pod: Pod, place: Place, strays: Collection[str]) -> bool:
    """Whether anything is wanted of a port: of the first RNIC port of every device, and of what the owner names.

    The port of an IPU-Machine that is excluded is kept as it is, unless that is one of the ``strays``.
    """
    if place.device and place.device.name in pod.excluded and place.device.name not in strays:
        return False
    return place.rnic == 1 or place.declared is not None or (place.role == SPARE and pod.tor.spare_ports == QUARANTINE)


def _is_ours(options: Options, places: Mapping[str, Place]) -> bool:
    return options["name"] in places and options["owner"] != EXTERNAL


def _tor_port(pod: Pod, place: Place, vpod: Vpod | None, guests: Sequence[Vpod], profile: str | None) -> Options:
    declared = place.declared or SwitchPort(place.name, place.name)
    if declared.owner == EXTERNAL:
        return {"name": place.name, "owner": EXTERNAL}
    # A vPOD without a VLAN of its own is in that of its pod, not in quarantine.
    vlan = (pod.rnic_vlan if vpod.vlan is None else vpod.vlan) if vpod else pod.rest_vlan
    # Left out is kept; an option with choices would take no None.
    tagged = [each for guest in guests for each in vlans_of(guest)]
    derived = {name: value for name, value in _derived(pod, place, vlan, tagged).items() if value is not None}
    if declared.settings.get("mode") not in (None, derived.get("mode")):
        derived = {name: value for name, value in derived.items() if name not in VLAN_SETTINGS}
    tenant_vlans = frozenset({vlan, *tagged} if place.role == RNIC_OF_SERVER and vlan is not None else ())
    wants_roce = place.role in ROCE_ROLES if declared.roce is None else declared.roce
    return {
        "name": place.name,
        "owner": owner_of(vpod),
        **derived,
        **({"qos_profile": profile, "qos_trust": "dscp"} if profile and wants_roce else {}),
        **_settings(declared, pod.vlans, tenant_vlans),
    }


def _derived(pod: Pod, place: Place, vlan: int | None, tagged: Sequence[int]) -> Options:
    """Return the port that its role implies, or None."""
    if place.device:
        number = "" if place.rnic == 1 else f" {place.rnic}"
        named: Options = {
            "description": None if pod.tor.descriptions == KEPT else f"{place.device.name} RNIC{number}",
            "mtu": pod.tor.mtu,
            "spanning_tree_edge": pod.tor.spanning_tree_edge,
        }
        if place.role == RNIC_OF_MACHINE:
            return {**named, "mode": None if vlan is None else "access", "vlan": vlan}
        # A trunk, untagged in the tenant's VLAN, that keeps the pod's other VLANs; of a hypervisor, with its guests'.
        carried = None if vlan is None else vlan_ranges({vlan, *tagged, *_carried_by_servers(pod)})
        return {**named, "mode": None if vlan is None else "trunk", "native_vlan": vlan, "allowed_vlans": carried}
    if place.role == STORAGE and STORAGE in pod.vlans:
        return {"mode": "access", "vlan": pod.vlans[STORAGE].vlan_id, "mtu": pod.tor.mtu}
    if place.role == SPARE and pod.tor.spare_ports == QUARANTINE:
        return {"mode": "access", "vlan": pod.vlans[QUARANTINE].vlan_id}
    return {"mtu": pod.tor.mtu} if place.role in (STORAGE, UPLINK) else {}


def _carried_by_servers(pod: Pod) -> list[int]:
    return [vlan.vlan_id for name, vlan in pod.vlans.items() if name != QUARANTINE]


def _settings(declared: SwitchPort, vlans: Mapping[str, Vlan], tenant_vlans: frozenset[int]) -> Options:
    """Return a port as declared, with VLAN numbers; a trunk also carries its native VLAN and its tenant's."""
    settings = {
        name: _vlan_id(value, vlans) if name in ("vlan", "native_vlan") else value
        for name, value in declared.settings.items()
        if name != "vlans"
    }
    if "vlans" in declared.settings:
        # VLAN 1 as native is EOS's default, and says nothing of what the trunk carries.
        native = {settings.get("native_vlan", 1)} - {1}
        named = vlan_ids([_range_or_id(value, vlans) for value in declared.settings["vlans"]])
        settings["allowed_vlans"] = vlan_ranges(named | native | tenant_vlans)
    return settings


def _range_or_id(reference: Any, vlans: Mapping[str, Vlan]) -> str:
    return reference if isinstance(reference, str) and is_range(reference) else str(_vlan_id(reference, vlans))


def _vlan_id(reference: Any, vlans: Mapping[str, Vlan]) -> int:
    return vlans[reference].vlan_id if isinstance(reference, str) else int(reference)


def _move_to_channels(ports: dict[str, Options]) -> None:
    """Give each port channel the settings of its members; those declared for the channel itself take precedence."""
    for member in list(ports.values()):
        if not member.get("channel_group"):
            continue
        moved = {name: member.pop(name) for name in FROM_CHANNEL if name in member}
        channel = f"Port-Channel{member['channel_group']}"
        declared = ports.get(channel, {})
        if declared.get("owner") == EXTERNAL:
            continue
        ports[channel] = {**moved, **declared, "name": channel, "owner": member["owner"]}
        if "allowed_vlans" in declared and moved.get("native_vlan"):
            ports[channel]["allowed_vlans"] = vlan_ranges(vlan_ids(declared["allowed_vlans"]) | {moved["native_vlan"]})


def _tor_vlans(pod: Pod, tenants: Sequence[Vpod | None]) -> list[Options]:
    """The VLANs of the pod, and those that its RNIC ports need."""
    names = {vlan: name for name, vlan in pod.vlans.items()}
    for vpod in tenants:
        if vpod and vpod.vlan is not None:
            names.setdefault(Vlan(vpod.vlan, vpod.vni), vlan_name(vpod))
            if vpod.storage_vlan is not None:
                names.setdefault(Vlan(vpod.storage_vlan, None), vlans_of(vpod)[vpod.storage_vlan])
        elif pod.rnic_vlan is not None:
            names.setdefault(Vlan(pod.rnic_vlan, pod.rnic_vni), pod.rnic_vlan_name or f"{pod.name}-rnic")
    return _vlan_options(names)


def _vlan_options(names: Mapping[Vlan, str]) -> list[Options]:
    return [
        {"vlan_id": vlan.vlan_id, "name": names[vlan], **({} if vlan.vni is None else {"vni": vlan.vni})}
        for vlan in sorted(names, key=lambda vlan: vlan.vlan_id)
    ]


def _canary(pod: Pod, places: Mapping[str, Place], ports: Mapping[str, Options]) -> list[str]:
    """The ports to change first: named ones, and those of named devices, with the channels that they belong to."""
    of_devices = {
        place.device.name: ports_of(place.device) for place in places.values() if place.device and place.name in ports
    }
    named = [port for name in pod.tor.canary for port in of_devices.get(name, [name])]
    canary = [name for name in map(canonical_port, named) if name in ports]
    channels = [f"Port-Channel{ports[name]['channel_group']}" for name in canary if ports[name].get("channel_group")]
    return list(dict.fromkeys([*canary, *channels]))


def _roles(places: Mapping[str, Place], ports: Mapping[str, Options]) -> dict[str, str]:
    """Return the purpose of the ports, where that is known; a port channel has that of its members."""
    roles = {name: role for name in ports if name in places for role in [places[name].role] if role}
    for name, port in ports.items():
        if port.get("channel_group") and name in roles:
            roles.setdefault(f"Port-Channel{port['channel_group']}", roles[name])
    return roles


def _cables(places: Mapping[str, Place]) -> list[Options]:
    """Which device is to be on which port, and its MAC address there where it is known."""
    return [
        {
            "port": place.name,
            "device": place.device.name,
            "mac": place.device.facts.get("rnic_mac") if place.rnic == 1 else None,
        }
        for place in places.values()
        if place.device
    ]
