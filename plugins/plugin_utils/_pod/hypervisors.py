# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hypervisors: Poplar servers that carry several vPODs, each through a virtual function of the RNIC. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address
from typing import Any

from .devices import Device, devices_of_pod
from .mac_addresses import mac_of
from .model import Declaration, Pod, Vpod
from .switches import QUARANTINE

Options = dict[str, Any]

# A NIC puts the frames of such a function into no VLAN.
NO_VLAN = 0


def hypervisors_of(declaration: Declaration) -> set[str]:
    """The names of all hypervisors."""
    return {name for pod in declaration.pods.values() for name in pod.hypervisors}


def guests_of(declaration: Declaration) -> dict[str, list[Vpod]]:
    """Hypervisor to the vPODs that it carries, in the order of the file."""
    guests: dict[str, list[Vpod]] = {name: [] for name in hypervisors_of(declaration)}
    for vpod in declaration.vpods.values():
        for name in vpod.poplar_servers:
            if name in guests:
                guests[name].append(vpod)
    return guests


def bare_metal_tenants(declaration: Declaration) -> dict[str, Vpod]:
    """Which vPOD each bare-metal Poplar server belongs to; one that is missing belongs to its pod."""
    hypervisors = hypervisors_of(declaration)
    return {
        name: vpod for vpod in declaration.vpods.values() for name in vpod.poplar_servers if name not in hypervisors
    }


def has_functions(declaration: Declaration, vpod: Vpod) -> bool:
    """Whether a vPOD's machines get virtual functions of RNICs, and not ports of a bridge."""
    return any(
        pod.virtual_functions and name in pod.hypervisors
        for pod in declaration.pods.values()
        for name in vpod.poplar_servers
    )


def rnics_with_functions(declaration: Declaration) -> dict[str, str]:
    """Hypervisor to its RNIC, of those whose RNIC has virtual functions."""
    return {
        device.name: device.facts["rnic_interface"]
        for pod in declaration.pods.values()
        if pod.virtual_functions
        for device in devices_of_pod(pod)
        if device.name in pod.hypervisors
    }


def virtual_functions(pod: Pod, server: Device, guests: Sequence[Vpod]) -> list[Options]:
    """All functions of a hypervisor's RNIC, as the option of rnic_network.

    There are always equally many: another number would take all of them away for a moment, those of other tenants, too.
    One that no vPOD has rests in quarantine, which no server port carries, where that VLAN is declared.
    """
    rest = pod.vlans[QUARANTINE].vlan_id if QUARANTINE in pod.vlans else NO_VLAN
    vlans: Mapping[int | None, int | None] = {vpod.virtual_function: vpod.vlan for vpod in guests}
    return [
        {"index": index, "mac": _mac(server, index), "vlan": vlans.get(index, rest)}
        for index in range(pod.virtual_functions)
    ]


def _mac(server: Device, index: int) -> str:
    """A locally administered MAC address of its own: the function's number, then the server's RNIC address."""
    return mac_of((0x02, index, *IPv4Address(server.facts["rnic_address"]).packed))
