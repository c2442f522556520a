# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every device of the declared pods, with the figures that follow from its place, and the overrides by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import IPUS_PER_MACHINE

from .model import Declaration, Pod
from .rack_plan import FIRST_POPLAR_SERVER, RNIC_PREFIX, TOR_SWITCH, address, ipu_machine_port, poplar_server_ports

IPU_MACHINE, POPLAR_SERVER, TOR, CONTROLLER = "ipu_machine", "poplar_server", "tor_switch", "vipu_controller"
MANAGEMENT_SWITCH, CLOUD = "management_switch", "cloud"


@dataclass(frozen=True)
class Device:
    """One thing on the floor. ``facts`` are its host variables, under their documented names."""

    name: str
    kind: str
    pod: str
    number: int
    facts: Mapping[str, Any]


def devices_of(declaration: Declaration) -> dict[str, Device]:
    """All devices by name. Names of two pods must not clash (:mod:`consistency` reports it)."""
    devices = {device.name: device for pod in declaration.pods.values() for device in devices_of_pod(pod)}
    for controller in declaration.controllers.values():
        if controller.host is None:
            devices[controller.name] = _own_host(controller.name, controller.address)
    for vpod in (*declaration.absent.values(), *declaration.vpods.values()):
        if vpod.controller_host is not None:
            devices[vpod.controller_host] = _own_host(vpod.controller_host, vpod.controller_address)
    for cloud in declaration.clouds.values():
        devices[cloud.name] = Device(cloud.name, CLOUD, pod="", number=1, facts={"cloud_entry": cloud.entry})
    return devices


def devices_of_pod(pod: Pod) -> Iterator[Device]:
    """ToR switch, management switch if declared, Poplar servers and IPU-Machines of one pod, in that order."""
    yield _tor_switch(pod)
    if pod.management_switch:
        yield _device(pod, MANAGEMENT_SWITCH, 1, {"management_address": pod.management_switch.address})
    for number in range(1, pod.poplar_servers + 1):
        yield _poplar_server(pod, number)
    for number in range(1, pod.model.ipu_machines + 1):
        yield _ipu_machine(pod, number)


def ports_of(device: Device) -> list[str]:
    """The ports of the ToR that the device's RNIC is cabled to, none for what has no RNIC."""
    ports: list[str] = device.facts.get("switch_ports") or [device.facts.get("switch_port")]
    return [port for port in ports if port]


def ipu_machines_of(pod: Pod) -> list[str]:
    """The names of the pod's IPU-Machines from the bottom up, which is the order inside an ILD."""
    return [device_name(pod, IPU_MACHINE, number) for number in range(1, pod.model.ipu_machines + 1)]


def cluster_agents(declaration: Declaration, cluster: str) -> list[str]:
    """The IPU-Machines of a cluster in ILD-major order."""
    return [name for pod in declaration.clusters[cluster].pods for name in ipu_machines_of(declaration.pods[pod])]


def device_name(pod: Pod, kind: str, number: int) -> str:
    """The name by the pod's template for that kind of device."""
    return pod.names[kind].format(pod=pod.name, lrack=pod.lrack, n=number)


def _tor_switch(pod: Pod) -> Device:
    management = pod.tor.address or address(pod.addressing, "switch", pod.lrack, TOR_SWITCH)
    return _device(pod, TOR, 1, {"management_address": management})


def _poplar_server(pod: Pod, number: int) -> Device:
    last = FIRST_POPLAR_SERVER - 1 + number
    facts = {
        "management_address": address(pod.addressing, "management", pod.lrack, last),
        "rnic_address": address(pod.addressing, "rnic", pod.lrack, last),
        "rnic_interface": pod.rnic_interface,
        "rnic_mtu": pod.rnic_mtu,
        "rnic_prefix": RNIC_PREFIX[pod.addressing],
        "switch": device_name(pod, TOR, 1),
        "switch_ports": poplar_server_ports(number),
    }
    return _device(pod, POPLAR_SERVER, number, facts)


def _ipu_machine(pod: Pod, number: int) -> Device:
    facts = {
        "bmc_address": address(pod.addressing, "bmc", pod.lrack, number),
        "gateway_address": address(pod.addressing, "gateway", pod.lrack, number),
        "rnic_address": address(pod.addressing, "rnic", pod.lrack, number),
        "rnic_prefix": RNIC_PREFIX[pod.addressing],
        "ipus": IPUS_PER_MACHINE,
        "switch": device_name(pod, TOR, 1),
        "switch_port": ipu_machine_port(number, pod.tor.ipu_machine_order),
    }
    return _device(pod, IPU_MACHINE, number, facts)


def _device(pod: Pod, kind: str, number: int, derived: Mapping[str, Any]) -> Device:
    name = device_name(pod, kind, number)
    facts = {**derived, **pod.overrides.get(name, {}), "ipu_pod": pod.name, "lrack": pod.lrack, "number": number}
    if "switch_ports" in facts:
        facts["switch_port"] = facts["switch_ports"][0]
    return Device(name, kind, pod.name, number, facts)


def _own_host(name: str, address: str | None) -> Device:
    return Device(name, CONTROLLER, "", 1, {"management_address": address})
