# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""V-IPU controllers: ports of dedicated ones, what is wrong with them on one host, and the locks they keep. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .devices import IPU_MACHINE, devices_of
from .managed import manages_controller, pods_of_controller, wholly_unmanaged
from .model import ControllerPorts, Declaration, Vpod

Finding = tuple[str, str]

# Below the ports that Linux gives to clients, and apart from those that controllers of clusters usually have.
FIRST_PORT = 10000
PORTS_OF_ONE = 4
# What a controller serves its metrics on where nobody says otherwise.
METRICS_PORT = 2113
# Keeps the locks of pods without a managed controller.
CONTROL_NODE = "localhost"


def controller_ports(vlan: int | None, declared: Mapping[str, int]) -> ControllerPorts | None:
    """The ports of a dedicated controller: as ``declared``, the others by the vPOD's VLAN, which no other vPOD has.

    None where some are neither declared nor follow from a VLAN.
    """
    first = None if vlan is None else FIRST_PORT + PORTS_OF_ONE * vlan
    derived = {} if first is None else {"user": first, "admin": first + 1, "metrics": first + 2}
    ports = {**derived, **declared}
    return ControllerPorts(**ports) if len(ports) == 3 else None


def dedicated_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return the problems of one host's controllers: several of clusters, or a shared port."""
    hosts: dict[str, str] = {}
    ports: dict[tuple[str, int], str] = {}
    for name, controller in declaration.controllers.items():
        path = f"controllers.{name}"
        if controller.host_name in hosts:
            yield (
                f"{path}.host",
                f"{controller.host_name} already runs {hosts[controller.host_name]}; put this one on another host",
            )
        hosts.setdefault(controller.host_name, path)
        ports[controller.host_name, controller.user_port] = f"{path}.user_port"
        ports[controller.host_name, controller.admin_port] = f"{path}.admin_port"
        ports.setdefault((controller.host_name, METRICS_PORT), f"the metrics of {path}")
    for vpod in declaration.vpods.values():
        if vpod.is_dedicated:
            yield from _of_vpod(declaration, vpod, ports)


def _of_vpod(declaration: Declaration, vpod: Vpod, ports: dict[tuple[str, int], str]) -> Iterator[Finding]:
    path = f"vpods.{vpod.name}.controller_ports"
    if vpod.ports is None:
        yield path, f"a dedicated controller needs ports of its own; declare vpods.{vpod.name}.vlan, or all three here"
        return
    cluster = declaration.clusters.get(vpod.cluster)
    controller = declaration.controllers.get(cluster.controller) if cluster else None
    if controller is None:
        return
    if not manages_controller(declaration, controller):
        yield (
            f"vpods.{vpod.name}.controller",
            f"the controller on {controller.host_name} is not managed, and so none is made beside it; say shared, or "
            "add controller to `managed` of its pods",
        )
    for key in ("user", "admin", "metrics"):
        here, port = f"{path}.{key}", getattr(vpod.ports, key)
        there = ports.setdefault((controller.host_name, port), here)
        if there != here:
            yield here, f"{port} on {controller.host_name} is also {there}; declare another"


def lock_hosts(declaration: Declaration, hosts: Sequence[str]) -> dict[str, list[str]]:
    """Host to the pods whose lock it keeps, for those that a run on ``hosts`` may change.

    A pod's lock host is the host of its managed controller, else the control node.
    """
    changed = _changed_pods(declaration, hosts)
    result: dict[str, list[str]] = {}
    for pod in declaration.pods:
        if pod in changed:
            result.setdefault(_lock_host(declaration, pod), []).append(pod)
    return result


def _changed_pods(declaration: Declaration, hosts: Sequence[str]) -> set[str]:
    only_read = wholly_unmanaged(declaration)
    changing = {host for host in hosts if host not in only_read}
    pods = {
        device.pod
        for device in devices_of(declaration).values()
        if device.name in changing and device.kind != IPU_MACHINE and device.pod
    }
    of_controllers = {
        pod
        for controller in declaration.controllers.values()
        if controller.host_name in changing and manages_controller(declaration, controller)
        for pod in pods_of_controller(declaration, controller)
    }
    return pods | of_controllers


def _lock_host(declaration: Declaration, pod: str) -> str:
    for cluster in declaration.clusters.values():
        controller = declaration.controllers[cluster.controller]
        if pod in cluster.pods and manages_controller(declaration, controller):
            return controller.host_name
    return CONTROL_NODE
