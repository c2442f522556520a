# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be true at the same time of IPU-Machines, as pins, as out of order, and under GCDs. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import IPUS_PER_ILD, IPUS_PER_MACHINE

from .._pod.devices import ipu_machines_of
from .._pod.model import Cluster, Declaration, Vpod
from .._pod.wording import some, unknown

Finding = tuple[str, str]


def block_findings(declaration: Declaration) -> Iterator[Finding]:
    """What is wrong with the IPU-Machines that are excluded and pinned, and with the GCDs on them.

    Names of clusters, pods and IPU-Machines that do not exist, and sizes that do not, are not judged here.
    """
    yield from _excluded(declaration)
    excluded = {name: f"pods.{pod.name}.excluded" for pod in declaration.pods.values() for name in pod.excluded}
    machines = {cluster.name: _machines(declaration, cluster) for cluster in declaration.clusters.values()}
    pinned: dict[str, str] = {}
    for vpod in declaration.vpods.values():
        path = f"vpods.{vpod.name}.ipu_machines"
        for name in vpod.ipu_machines:
            # The others of jobs stay in service, in a block that has a dead one.
            if name in excluded and not vpod.is_for_jobs:
                yield path, f"{name!r} is out of order by {excluded[name]}; pin others, or take it from there"
            if name in pinned:
                yield path, f"{name!r} is also in {pinned[name]}; pin it once"
            pinned.setdefault(name, path)
        if vpod.ipu_machines and vpod.cluster in machines:
            for message in _pins(vpod, machines[vpod.cluster]):
                yield path, message
        yield from _gcds(declaration, vpod)


def _excluded(declaration: Declaration) -> Iterator[Finding]:
    for pod in declaration.pods.values():
        path, machines = f"pods.{pod.name}.excluded", ipu_machines_of(pod)
        for name in pod.excluded:
            if name not in machines:
                yield path, f"{name!r} is no IPU-Machine of {pod.name}; its IPU-Machines are {some(machines)}"
            if name in pod.tor.canary:
                yield f"pods.{pod.name}.tor.canary", f"{name!r} is out of order by {path}; name another"


def _machines(declaration: Declaration, cluster: Cluster) -> set[str]:
    pods = [declaration.pods[name] for name in cluster.pods if name in declaration.pods]
    return {name for pod in pods for name in ipu_machines_of(pod)}


def _pins(vpod: Vpod, machines: Collection[str]) -> Iterator[str]:
    """Pins that are not in the cluster, too many or too few. Whether they are a block, placement sees."""
    for name in vpod.ipu_machines:
        if name not in machines:
            yield unknown(name, f"IPU-Machine of cluster {vpod.cluster}", machines)
    size = len(vpod.ipu_machines)
    if size * IPUS_PER_MACHINE != vpod.ipus:
        yield f"{size} IPU-Machines are {size * IPUS_PER_MACHINE} IPUs, but ipus is {vpod.ipus}; make them agree"


def _gcds(declaration: Declaration, vpod: Vpod) -> Iterator[Finding]:
    cluster = declaration.clusters.get(vpod.cluster)
    for partition in vpod.partitions:
        gcds = partition.gcds or 1
        if cluster and partition.ipus % gcds == 0 and partition.ipus // gcds > IPUS_PER_ILD:
            yield (
                f"vpods.{vpod.name}.partitions.{partition.name}.gcds",
                f"a GCD of {partition.ipus // gcds} IPUs would lie over several IPU-Link domains, which are the pods "
                f"of clusters.{cluster.name} ({', '.join(cluster.pods)}) with {IPUS_PER_ILD} IPUs each; use at least "
                f"{-(-partition.ipus // IPUS_PER_ILD)} GCDs",
            )
