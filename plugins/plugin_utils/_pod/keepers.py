# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the locks of pods and the records of runs are kept: beside the controller, as far as that is managed."""

from __future__ import annotations

from collections.abc import Sequence

from .devices import IPU_MACHINE, devices_of
from .managed import manages_controller, pods_of_controller, wholly_unmanaged
from .model import Declaration

CONTROL_NODE = "localhost"


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
