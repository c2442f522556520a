# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who feels it when a thing of a device changes: vPODs and their partitions, as declared and placed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._cloud.entities import (
    controller_of,
    trait_name,
    vpod_of_mark,
)
from ansible_collections.ipu.pod.plugins.module_utils._tor.risk import carried_vlans, named_vlans

from .._desired.desired import tenants_of
from .._placement.placement import Placement
from .._pod.devices import TOR, Device, devices_of, ports_of
from .._pod.hypervisors import guests_of
from .._pod.model import Declaration, Vpod

Affected = dict[str, list[str]]
Fields = Mapping[str, Any]
# Switch to VLAN there to the name of the vPOD whose it is.
TenantVlans = Mapping[str, Mapping[int, str]]
NOTHING: Fields = MappingProxyType({})

# A VLAN's network is named by the VLAN's number, as the VLAN itself.
VLAN_KINDS = ("vlan", "vni")


class Tenants:
    """Answers for every device of a declaration; made once, then each answer is a look-up."""

    def __init__(
        self, declaration: Declaration, placement: Placement, vlans: TenantVlans = MappingProxyType({})
    ) -> None:
        self._devices = devices_of(declaration)
        self._declaration = declaration
        self._vlans = vlans
        self._tenants = tenants_of(declaration, placement)
        self._guests = guests_of(declaration)
        self._at_port = {
            (device.facts["switch"], port): self._tenants[device.name]
            for device in self._devices.values()
            if device.name in self._tenants
            for port in ports_of(device)
        }
        self._in_pod: dict[str, list[Vpod]] = {}
        for name, vpod in self._tenants.items():
            self._in_pod.setdefault(self._devices[name].pod, []).append(vpod)
        self._of_controller: dict[str, list[Vpod]] = {}
        for vpod in declaration.vpods.values():
            hosts = {declaration.controller_of(vpod).host_name, declaration.dedicated_host(vpod)}
            for host in hosts:
                self._of_controller.setdefault(host, []).append(vpod)

    def affected(
        self, device: str, layer: str, kind: str, name: str, before: Fields = NOTHING, after: Fields = NOTHING
    ) -> Affected:
        """The vPODs and partitions that a step on ``kind`` ``name`` of ``device`` is about.

        ``before`` and ``after`` are the fields of the thing. What a port leaves is felt by those who had it there.
        """
        if layer == "controller":
            return self._by_entity(device, kind, name, before)
        if layer in ("cloud", "machine"):
            in_cloud = layer == "cloud"
            vpods = self._in_cloud(device, name, {**before, **after}) if in_cloud else self._of_machine(device, name)
            return _named(vpods)
        known = self._devices.get(device)
        if known is None:
            return _named([])
        losers = self._losers(device, kind, name, before, after) if layer == "switch" else []
        if losers:
            return self._of_names(losers)
        if layer == "switch":
            return _named(self._by_port(known, kind, name))
        vpod = self._tenants.get(device)
        return _named([vpod] if vpod else self._guests.get(device, []), device)

    def _in_cloud(self, cloud: str, name: str, fields: Fields) -> list[Vpod]:
        """Whose a thing of a cloud is: it says so, is in a project, or is called as a project or a trait."""
        vpods = self._declaration.vpods_in(cloud)
        if "vpod" in fields:
            return [vpod for vpod in vpods if vpod.name == vpod_of_mark(fields["vpod"])]
        return [vpod for vpod in vpods if _names_in_cloud(vpod) & {name, fields.get("project")}]

    def _of_machine(self, place: str, name: str) -> list[Vpod]:
        """The vPOD that a machine should have."""
        machine = self._declaration.machines.get(f"{place}/{name}")
        vpod = self._declaration.vpods.get((machine and machine.vpod) or "")
        return [vpod] if vpod else []

    def _by_port(self, switch: Device, kind: str, name: str) -> list[Vpod]:
        """Those at a port, in a VLAN, or for what a whole switch has once, everybody in the pod."""
        there = self._in_pod.get(switch.pod, []) if switch.kind == TOR else []
        if kind in VLAN_KINDS:
            return [vpod for vpod in there if str(vpod.vlan) == name]
        if kind == "port":
            at_port = self._at_port.get((switch.name, name))
            return [at_port] if at_port else []
        return there

    def _losers(self, switch: str, kind: str, name: str, before: Fields, after: Fields) -> list[str]:
        """Whose VLAN goes, or is taken from a port."""
        vlans = self._vlans.get(switch, {})
        if kind in VLAN_KINDS:
            lost = {int(name)}
        elif kind == "port" and before.get("enabled") and after:
            lost = set(named_vlans(dict(before)) - carried_vlans(dict(after)))
        else:
            return []
        return list(dict.fromkeys(vlans[vlan] for vlan in sorted(lost) if vlan in vlans))

    def _of_names(self, names: Sequence[str]) -> Affected:
        """Those vPODs, also where pods.yml does not know them."""
        known = _named(self._declaration.vpods[name] for name in names if name in self._declaration.vpods)
        return {**known, "vpods": list(names)}

    def _by_entity(self, controller: str, kind: str, name: str, before: Fields) -> Affected:
        vpods = [vpod for vpod in self._of_controller.get(controller, []) if self._needs(vpod, kind, name)]
        if kind == "partition" and not vpods and before.get("allocation"):
            # A tenant's own, of which pods.yml does not know.
            return {"vpods": [before["allocation"]], "partitions": [name]}
        if kind == "partition":
            return {"vpods": [vpod.name for vpod in vpods], "partitions": [name] if vpods else []}
        return _named(vpods)

    def _needs(self, vpod: Vpod, kind: str, name: str) -> bool:
        """Whether a vPOD of a controller is about this entity of it."""
        if kind == "agent":
            return self._tenants.get(name) is vpod
        needed: dict[str, Sequence[str]] = {
            "partition": [partition.name for partition in vpod.partitions],
            # That of a dedicated controller is called as its vPOD.
            "cluster": [vpod.cluster, vpod.name],
            "allocation": [vpod.name],
            "user": vpod.users,
            "service": [f"vipu-server-{vpod.name}.service" if vpod.is_dedicated else "vipu-server.service"],
        }
        return name in needed.get(kind, ())


def _named(vpods: Iterable[Vpod], server: str = "") -> Affected:
    """Each once, by name; with ``server`` only the partitions that it works for."""
    each = {vpod.name: vpod for vpod in vpods}
    partitions = [
        partition.name
        for vpod in each.values()
        for partition in vpod.partitions
        if not server or not partition.poplar_servers or server in partition.poplar_servers
    ]
    return {"vpods": list(each), "partitions": partitions}


def _names_in_cloud(vpod: Vpod) -> set[str]:
    """The projects and traits of a vPOD and of its controller in a cloud."""
    projects = (vpod.cloud and vpod.cloud.project, vpod.controller_host)
    traits = (trait_name(vpod.name), trait_name(controller_of(vpod.name)))
    return {name for name in (*projects, *traits) if name}
