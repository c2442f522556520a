# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be true at the same time of what is managed, and of what goes first: key paths with the remedies."""

from __future__ import annotations

from collections.abc import Iterator

from .._pod.devices import IPU_MACHINE, devices_of_pod
from .._pod.managed import pods_of_controller
from .._pod.model import CONTROLLER_LAYER, Declaration

Finding = tuple[str, str]


def ownership_findings(declaration: Declaration) -> Iterator[Finding]:
    """Everything that contradicts itself in ``managed`` and ``canary`` of the pods."""
    yield from _canaries(declaration)
    yield from _managed(declaration)


def _canaries(declaration: Declaration) -> Iterator[Finding]:
    for pod in (pod for pod in declaration.pods.values() if pod.canary):
        able = [device.name for device in devices_of_pod(pod) if device.kind != IPU_MACHINE]
        for name in pod.canary:
            if name not in able:
                yield (
                    f"pods.{pod.name}.canary",
                    f"{name!r} is no switch or Poplar server of {pod.name}; use {', '.join(able)}",
                )


def _managed(declaration: Declaration) -> Iterator[Finding]:
    """A controller cannot be changed for one of its pods and not for another."""
    with_clusters = {cluster.controller for cluster in declaration.clusters.values()}
    for controller in declaration.controllers.values():
        if controller.name not in with_clusters:
            continue
        pods = [declaration.pods[name] for name in pods_of_controller(declaration, controller)]
        managing = [pod.name for pod in pods if CONTROLLER_LAYER in pod.managed]
        others = [pod.name for pod in pods if CONTROLLER_LAYER not in pod.managed]
        if managing and others:
            yield (
                f"pods.{others[0]}.managed",
                f"leaves the controller out, but {controller.name} is also that of {', '.join(managing)}; "
                "say the same of all pods of a controller",
            )
