# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a cluster has no spine: in which racks a vPOD has to lie so that its servers reach its GCDs. Pure.

Only servers that run GCDs count: those of the partitions, or all of a vPOD that declares no partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import IPUS_PER_ILD

from .._pod.devices import POPLAR_SERVER, device_name, ipu_machines_of
from .._pod.kinds import Finding
from .._pod.model import Cluster, Declaration, Partition, Vpod
from .._pod.wording import listed


def pods_of_servers(declaration: Declaration) -> dict[str, str]:
    """Poplar server to its pod."""
    return {
        device_name(pod, POPLAR_SERVER, number): pod.name
        for pod in declaration.pods.values()
        for number in range(1, pod.poplar_servers + 1)
    }


def racks_needed(cluster: Cluster, vpod: Vpod, pods: Mapping[str, str]) -> list[str]:
    """The pods in each of which a vPOD of a cluster needs IPU-Machines; empty where it may lie anywhere.

    ``pods`` are those of all servers, from :func:`pods_of_servers`.
    """
    if cluster.spine:
        return []
    servers = [name for partition in vpod.partitions for name in _servers(vpod, partition)]
    return list(dict.fromkeys(pods[name] for name in (servers if vpod.partitions else vpod.poplar_servers)))


def rack_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return declared servers that could not reach their IPU-Machines in any place."""
    pods = pods_of_servers(declaration)
    machines = {name: pod.name for pod in declaration.pods.values() for name in ipu_machines_of(pod)}
    ilds = {name: dict(zip(cluster.pods, count())) for name, cluster in declaration.clusters.items()}
    for vpod in declaration.vpods.values():
        cluster = declaration.clusters[vpod.cluster]
        needed = racks_needed(cluster, vpod, pods)
        where = _elsewhere(vpod, needed, machines, ilds[vpod.cluster])
        if where:
            reason = f"servers of it stand in {listed(needed)}, but {where}"
            yield f"vpods.{vpod.name}.poplar_servers", f"{reason}; {_remedy(cluster)}"
        elif needed and vpod.ipus > IPUS_PER_ILD:
            for partition in vpod.partitions:
                for message in _out_of_reach(cluster, vpod, partition, pods):
                    path = f"vpods.{vpod.name}.partitions.{partition.name}.poplar_servers"
                    yield path, f"{message}; {_remedy(cluster)}"


def misplaced(cluster: Cluster, needed: Sequence[str], there: Sequence[str]) -> str:
    """Why servers do not reach the IPU-Machines of a vPOD that has its place already; empty if they do."""
    if set(needed) <= set(there):
        return ""
    return f"servers of it stand in {listed(needed)}, but its allocation lies in {listed(there)}; {_remedy(cluster)}"


def _servers(vpod: Vpod, partition: Partition) -> tuple[str, ...]:
    return partition.poplar_servers or vpod.poplar_servers


def _elsewhere(vpod: Vpod, needed: Sequence[str], machines: Mapping[str, str], ilds: Mapping[str, int]) -> str:
    """Why a vPOD cannot have IPU-Machines in all the pods that it needs; empty if it can.

    ``machines`` maps IPU-Machines to their pods, and ``ilds`` the pods of the cluster to their order.
    """
    if vpod.ipu_machines:
        pinned = list(dict.fromkeys(machines[name] for name in vpod.ipu_machines))
        return "" if set(needed) <= set(pinned) else f"it is pinned to {listed(pinned)}"
    if not needed:
        return ""
    if not set(needed) <= ilds.keys():
        return f"its cluster is {listed(list(ilds))}"
    size, places = -(-vpod.ipus // IPUS_PER_ILD), [ilds[pod] for pod in needed]
    if max(places) - min(places) < size:
        return ""
    return f"{vpod.ipus} IPUs lie in {'one pod' if size == 1 else f'{size} pods in a row'}"


def _out_of_reach(cluster: Cluster, vpod: Vpod, partition: Partition, pods: Mapping[str, str]) -> Iterator[str]:
    """GCDs of a partition that fills a vPOD of several racks, and that none of its servers reaches."""
    servers = _servers(vpod, partition)
    # Where a smaller partition lies in its vPOD is the controller's choice.
    if not servers or partition.ipus != vpod.ipus:
        return
    standing = {pods[server] for server in servers}
    racks = [name for name in cluster.pods if name in standing]
    if len(racks) < vpod.ipus // IPUS_PER_ILD:
        yield f"it lies in {vpod.ipus // IPUS_PER_ILD} racks, and only {listed(racks)} has a server of it"
    elif partition.is_shared_out:
        share = partition.ipus // len(servers)
        for gcd, server in enumerate(servers):
            rack = racks[gcd * share // IPUS_PER_ILD]
            if pods[server] != rack:
                yield f"GCD {gcd} lies in {rack}, but its server {server} stands in {pods[server]}"


def _remedy(cluster: Cluster) -> str:
    return (
        f"use servers beside the IPU-Machines, or declare clusters.{cluster.name}.spine: true if RNICs of its racks "
        "reach each other"
    )
