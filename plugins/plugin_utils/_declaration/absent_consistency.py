# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to be known of a vPOD that is to go; the rest of what is said of it no longer has to hold. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from .._pod.model import Declaration, Pod, Vpod
from .._pod.switches import QUARANTINE
from .._pod.wording import unknown

Finding = tuple[str, str]


def absent_findings(declaration: Declaration, servers: Collection[str]) -> Iterator[Finding]:
    """What is wrong with the vPODs whose state is absent; ``servers`` are all Poplar servers."""
    for name, vpod in declaration.absent.items():
        path = f"vpods.{name}"
        if vpod.cluster not in declaration.clusters:
            yield f"{path}.cluster", unknown(vpod.cluster, "cluster", declaration.clusters)
        for server in vpod.poplar_servers:
            if server not in servers:
                yield f"{path}.poplar_servers", unknown(server, "Poplar server", servers)
        for pod in _pods_of(declaration, vpod):
            if vpod.vlan is not None and pod.rest_vlan is None:
                here = f"pods.{pod.name}"
                yield (
                    f"{path}.state",
                    f"its ports in {pod.name} have no VLAN to go to; declare {here}.rnic.vlan, or "
                    f"{here}.vlans.{QUARANTINE}",
                )


def _pods_of(declaration: Declaration, vpod: Vpod) -> list[Pod]:
    """The pods in which the vPOD's IPU-Machines stand."""
    cluster = declaration.clusters.get(vpod.cluster)
    return [declaration.pods[name] for name in (cluster.pods if cluster else ()) if name in declaration.pods]
