# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a ToR sees at its ports to the words for its cabling: the order, and the devices that are not in it. Pure.

Where nothing is seen, nothing is said: the port map stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._tor.cabling import check, declare_cables
from ansible_collections.ipu.pod.plugins.module_utils._tor.observed import Observed

from .._declaration.declaration import parse_declaration
from .._pod.devices import IPU_MACHINE, POPLAR_SERVER, devices_of_pod, ports_of
from .._pod.rack_plan import LAST_PORT, ipu_machine_port, poplar_server_ports, port_names
from .._pod.switches import ASCENDING, DESCENDING
from .adoption import Adoption, Document, filled, without

# Device name to the ports at which it was recognised, each with the name that the device gives its own end.
Seen = dict[str, dict[str, str]]


def take_cabling(result: Adoption, host: str, pod: str, there: Mapping[str, Any]) -> None:
    """Declare the order in which most of the IPU-Machines stand, and the ports of the others.

    Of a ToR that was gathered without ``neighbours`` nothing is known of its cables.
    """
    seen = _seen_devices(result.document, pod, there)
    if not seen:
        return
    home = ("pods", pod)
    order = result.document["pods"][pod].get("tor", {}).get("ipu_machine_order", ASCENDING)
    other = ASCENDING if order == DESCENDING else DESCENDING
    plain = Adoption(_without_ports(result.document, pod, seen), elsewhere=result.elsewhere)
    if _fitting(plain.document, pod, seen, other) > _fitting(plain.document, pod, seen, order):
        plain.take((*home, "tor"), {"ipu_machine_order": other})
    moved = _moved(plain.document, pod, seen)
    overrides = plain.document["pods"][pod].get("overrides", {})
    if not moved or plain.take(
        (*home, "overrides"), {name: {**overrides.get(name, {}), **words} for name, words in moved.items()}
    ):
        result.document = plain.document
    else:
        result.reasons.append(f"{host}: its cables stay as declared, because those seen contradict each other")


def _seen_devices(document: Document, pod: str, there: Mapping[str, Any]) -> Seen:
    """Which declared devices of a pod its ToR recognises, and where."""
    neighbours = there.get("neighbours") or {}
    devices = list(devices_of_pod(parse_declaration(document).pods[pod]))
    cables: list[dict[str, Any]] = [
        {"port": port, "device": device.name, "mac": device.facts.get("rnic_mac") if number == 0 else None}
        for device in devices
        for number, port in enumerate(ports_of(device))
    ]
    seen: Seen = {}
    for finding in check(declare_cables(cables), Observed(neighbours=neighbours, macs=there.get("macs") or {})):
        for name in finding.seen:
            if any(device.name == name for device in devices):
                ends = neighbours.get(finding.port) or [{"port": ""}]
                seen.setdefault(name, {})[finding.port] = ends[0]["port"]
    return seen


def _without_ports(document: Document, pod: str, seen: Seen) -> Document:
    """The document without ports that are said of devices which are seen."""
    words = document["pods"][pod]
    overrides = {
        name: without(fields, ("switch_port", "switch_ports") if name in seen else ())
        for name, fields in words.get("overrides", {}).items()
    }
    kept = {**without(words, ("overrides",)), **filled({"overrides": filled(overrides)})}
    return {**document, "pods": {**document["pods"], pod: kept}}


def _fitting(document: Document, pod: str, seen: Seen, order: str) -> int:
    """How many IPU-Machines stand in this order."""
    machines = [each for each in devices_of_pod(parse_declaration(document).pods[pod]) if each.kind == IPU_MACHINE]
    return sum(list(seen.get(each.name, {})) == [ipu_machine_port(each.number, order)] for each in machines)


def _moved(document: Document, pod: str, seen: Seen) -> dict[str, dict[str, Any]]:
    """The devices that were seen at other ports than those that follow from the port map."""
    moved: dict[str, dict[str, Any]] = {}
    for device in devices_of_pod(parse_declaration(document).pods[pod]):
        ports = [port for port in port_names(1, LAST_PORT) if port in seen.get(device.name, {})]
        if device.kind == IPU_MACHINE and len(ports) == 1 and ports != ports_of(device):
            moved[device.name] = {"switch_port": ports[0]}
        elif device.kind == POPLAR_SERVER and len(ports) == len(poplar_server_ports(1)):
            ordered = sorted(ports, key=lambda port: seen[device.name][port] != device.facts["rnic_interface"])
            # A server has to say which of its ports is which.
            if ordered != ports_of(device) and device.facts["rnic_interface"] in seen[device.name].values():
                moved[device.name] = {"switch_ports": ordered}
    return moved
