# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which racks are one network, by what is declared. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from .._pod.devices import devices_of
from .._pod.model import Declaration


def joined_racks(declaration: Declaration) -> dict[str, frozenset[str]]:
    """For each pod those that carry one another's VLANs, itself among them."""
    joined = {name: frozenset({name}) for name in declaration.pods}
    for pods in _together(declaration):
        # What is not declared is another finding's.
        all_of_them = frozenset().union(*(joined[pod] for pod in pods & joined.keys()))
        joined |= dict.fromkeys(all_of_them, all_of_them)
    return joined


def _together(declaration: Declaration) -> Iterator[set[str]]:
    """A cluster, whose vPODs may lie in all of its racks; a vPOD with its servers; what has networks in one cloud."""
    yield from (set(cluster.pods) for cluster in declaration.clusters.values())
    devices, clouds = devices_of(declaration), dict[str, set[str]]()
    for vpod in declaration.vpods.values():
        cluster = declaration.clusters.get(vpod.cluster)
        servers = (devices[name].pod for name in vpod.poplar_servers if name in devices)
        pods = {*(cluster.pods if cluster else ()), *servers}
        yield pods
        if vpod.cloud:
            clouds.setdefault(vpod.cloud.name, set()).update(pods)
    yield from clouds.values()
