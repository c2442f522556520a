# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which layers of a pod the collection manages, and which devices it only reads. Adoption goes layer by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .devices import IPU_MACHINE, MANAGEMENT_SWITCH, POPLAR_SERVER, TOR, devices_of, devices_of_pod
from .model import CONTROLLER_LAYER, LAYERS, SERVERS_LAYER, SWITCH_LAYER, Controller, Declaration

LAYER_OF_KIND = {TOR: SWITCH_LAYER, MANAGEMENT_SWITCH: SWITCH_LAYER, POPLAR_SERVER: SERVERS_LAYER}
# Keeps the locks of pods without a managed host that others reach, too.
CONTROL_NODE = "localhost"


def pods_of_controller(declaration: Declaration, controller: Controller) -> list[str]:
    """The pods of a controller's clusters; before it has any, that of its host, and without one all of them."""
    clusters = [cluster for cluster in declaration.clusters.values() if cluster.controller == controller.name]
    named = [pod for cluster in clusters for pod in cluster.pods if pod in declaration.pods]
    if named or controller.host is None:
        return named or list(declaration.pods)
    of_host = [device.pod for device in devices_of(declaration).values() if device.name == controller.host]
    return of_host or list(declaration.pods)


def manages_controller(declaration: Declaration, controller: Controller) -> bool:
    """Whether a controller may be changed. That all of its pods agree, :mod:`consistency` has seen to."""
    pods = pods_of_controller(declaration, controller)
    return any(CONTROLLER_LAYER in declaration.pods[pod].managed for pod in pods)


def unmanaged(declaration: Declaration) -> dict[str, list[str]]:
    """Layer to the hosts that are only read there. A host that is a server and a controller has two layers."""
    result: dict[str, list[str]] = {layer: [] for layer in LAYERS}
    for host, layer, is_managed in _roles(declaration):
        if not is_managed:
            result[layer].append(host)
    return result


def wholly_unmanaged(declaration: Declaration) -> list[str]:
    """The hosts that are only read, whatever they are."""
    roles = list(_roles(declaration))
    managed = {host for host, _layer, is_managed in roles if is_managed}
    return list(dict.fromkeys(host for host, _layer, _is_managed in roles if host not in managed))


def _roles(declaration: Declaration) -> Iterator[tuple[str, str, bool]]:
    for device in devices_of(declaration).values():
        layer = LAYER_OF_KIND.get(device.kind)
        if layer:
            yield device.name, layer, layer in declaration.pods[device.pod].managed
    for controller in declaration.controllers.values():
        yield controller.host_name, CONTROLLER_LAYER, manages_controller(declaration, controller)
    for vpod in (*declaration.absent.values(), *declaration.vpods.values()):
        if vpod.controller_host is not None:
            yield (
                vpod.controller_host,
                CONTROLLER_LAYER,
                manages_controller(declaration, declaration.controller_of(vpod)),
            )


def lock_hosts(declaration: Declaration, hosts: Sequence[str]) -> dict[str, list[str]]:
    """Host to the pods whose lock it keeps, for those that a run on ``hosts`` may change.

    A pod's lock host is the host of its managed controller, else its first managed Poplar server, which all control
    nodes reach; else the control node.
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
        for host in changing
        for controller in declaration.controllers_on(host)
        if manages_controller(declaration, controller)
        for pod in pods_of_controller(declaration, controller)
    }
    of_clouds = {pod for cloud in declaration.clouds if cloud in changing for pod in _pods_of_cloud(declaration, cloud)}
    return pods | of_controllers | of_clouds


def _pods_of_cloud(declaration: Declaration, cloud: str) -> list[str]:
    """The pods of its vPODs; without any, all of them."""
    clusters = [declaration.clusters[vpod.cluster] for vpod in declaration.vpods_in(cloud)]
    return [pod for cluster in clusters for pod in cluster.pods] or list(declaration.pods)


def _lock_host(declaration: Declaration, pod: str) -> str:
    for cluster in declaration.clusters.values():
        controller = declaration.controllers[cluster.controller]
        if pod in cluster.pods and manages_controller(declaration, controller):
            return controller.host_name
    is_managed = SERVERS_LAYER in declaration.pods[pod].managed
    devices = devices_of_pod(declaration.pods[pod]) if is_managed else ()
    return next((device.name for device in devices if device.kind == POPLAR_SERVER), CONTROL_NODE)
