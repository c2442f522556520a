# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which port of a pod's ToR switch is for what: by the port map, the devices' overrides, and what the owner says."""

from __future__ import annotations

from dataclasses import dataclass

from .devices import IPU_MACHINE, POPLAR_SERVER, Device, devices_of_pod, ports_of
from .model import Pod
from .rack_plan import LAST_PORT, LAST_UPLINK, port_names
from .switches import RNIC_OF_MACHINE, RNIC_OF_SERVER, SPARE, UPLINK, SwitchPort

FRONT_PANEL = tuple(port_names(1, LAST_PORT))
UPLINKS = frozenset(port_names(1, LAST_UPLINK))
ROLE_OF_KIND = {IPU_MACHINE: RNIC_OF_MACHINE, POPLAR_SERVER: RNIC_OF_SERVER}


@dataclass(frozen=True)
class Place:
    """One port of the ToR."""

    name: str  # in full, for example ``Ethernet9/1``
    role: str | None  # what it is for; None where neither the port map nor the owner says so
    declared: SwitchPort | None  # what the owner says of it by name; empty where nothing is said
    device: Device | None = None  # whose RNIC is cabled to it, if any
    rnic: int = 0  # which of the device's RNIC ports, 1 or 2; 0 without a device


def places_of(pod: Pod) -> dict[str, Place]:
    """Every front panel port of the pod's ToR by name, and what the owner declares beside them."""
    declared = {port.port: port for port in pod.tor.ports}
    cabled = {
        port: (device, number) for device in devices_of_pod(pod) for number, port in enumerate(ports_of(device), 1)
    }
    places = {}
    for name in dict.fromkeys([*FRONT_PANEL, *cabled, *declared]):
        if name in cabled:
            device, number = cabled[name]
            places[name] = Place(name, ROLE_OF_KIND[device.kind], declared.get(name), device, number)
        else:
            places[name] = Place(name, _role(name, declared.get(name)), declared.get(name))
    return places


def _role(name: str, declared: SwitchPort | None) -> str | None:
    if declared and declared.role:
        return declared.role
    if name in UPLINKS:
        return UPLINK
    # What the owner names is in use.
    return None if declared else SPARE
