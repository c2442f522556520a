# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Strays: Poplar servers and IPU-Machines in the VLAN of a vPOD that is not theirs. Pure.

A device that leaves its vPOD, in whatever way, is one until its port has left the VLAN.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.spelling import TENANT_VLAN

from .._desired.desired import tenants_of
from .._desired.tenant_vlans import vlan_name, vpods_near
from .._link_checks.ends import untagged_vlans
from .._placement.placement import Placement
from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, Device, devices_of, ports_of
from .._pod.model import Declaration

# What tor_info has returned of a switch, with ``vlans`` and ``ports``; and the same by its name.
Switch = Mapping[str, Any]
Seen = Mapping[str, Switch]


def strays(declaration: Declaration, placement: Placement, reached: Mapping[str, str]) -> dict[str, str]:
    """Of what is ``reached`` (:func:`vpods_reaching`), what is to be another's or nobody's."""
    tenants = tenants_of(declaration, placement)
    return {name: vpod for name, vpod in reached.items() if name not in tenants or tenants[name].name != vpod}


def left_by(
    declaration: Declaration, placement: Placement, found: Mapping[str, str], names: Collection[str]
) -> list[str]:
    """The servers and IPU-Machines that these vPODs leave and that are no vPOD's then; ``found`` are all strays.

    What one of them that is to go was pinned to counts, too: of jobs' vPODs no allocation says what they have.
    """
    tenants = tenants_of(declaration, placement)
    pinned = [name for vpod in declaration.absent.values() if vpod.name in names for name in vpod.ipu_machines]
    left = [*pinned, *(name for name, vpod in found.items() if vpod in names)]
    return [name for name in dict.fromkeys(left) if name not in tenants]


def vpods_reaching(declaration: Declaration, seen: Seen) -> dict[str, str]:
    """Poplar server or IPU-Machine to the vPOD in whose VLAN its port is; missing where it is in none, or not seen."""
    devices, vlans = devices_of(declaration), tenant_vlans(declaration, seen)
    untagged = {switch: untagged_vlans(there) for switch, there in seen.items()}
    return {
        device.name: vlans[switch][vlan]
        for device in devices.values()
        if device.kind in (POPLAR_SERVER, IPU_MACHINE) and device.facts["switch"] in seen
        for switch in [device.facts["switch"]]
        for port in ports_of(device)[:1]
        for vlan in [untagged[switch].get(port)]
        if vlan in vlans[switch]
    }


def tenant_vlans(declaration: Declaration, seen: Seen) -> dict[str, dict[int, str]]:
    """Switch to VLAN there to the vPOD whose it is, by its name on the switch, else by pods.yml."""
    devices = devices_of(declaration)
    return {switch: _tenant_vlans(declaration, devices[switch], there) for switch, there in seen.items()}


def _tenant_vlans(declaration: Declaration, switch: Device, there: Switch) -> dict[int, str]:
    near = vpods_near(declaration, declaration.pods[switch.pod])
    found: dict[int, str] = {vpod.vlan: vpod.name for vpod in reversed(near) if vpod.vlan is not None}
    names = {vlan_name(vpod): vpod.name for vpod in reversed(near)}
    for vlan in there["vlans"]:
        name = vlan.get("name") or ""
        if name in names or name.startswith(TENANT_VLAN):
            found[vlan["vlan_id"]] = names.get(name, name.removeprefix(TENANT_VLAN))
    return found
