# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which layers of a pod the collection manages, and which devices it only reads. Adoption goes layer by layer."""

from __future__ import annotations

from collections.abc import Iterator

from .devices import MANAGEMENT_SWITCH, POPLAR_SERVER, TOR, devices_of
from .model import CONTROLLER_LAYER, LAYERS, SERVERS_LAYER, SWITCH_LAYER, Controller, Declaration

LAYER_OF_KIND = {TOR: SWITCH_LAYER, MANAGEMENT_SWITCH: SWITCH_LAYER, POPLAR_SERVER: SERVERS_LAYER}


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
    """Each host with its layers, and whether that one is managed."""
    for device in devices_of(declaration).values():
        layer = LAYER_OF_KIND.get(device.kind)
        if layer:
            yield device.name, layer, layer in declaration.pods[device.pod].managed
    for controller in declaration.controllers.values():
        yield controller.host_name, CONTROLLER_LAYER, manages_controller(declaration, controller)
