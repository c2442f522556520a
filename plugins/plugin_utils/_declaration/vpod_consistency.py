# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contradictions among vPODs, their partitions, pins and allocations: key paths, with the remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ansible_collections.ipu.pod.plugins.module_utils._vipu import sizes
from ansible_collections.ipu.pod.plugins.module_utils._vipu.rules import sync_findings

from .._pod.devices import ipu_machines_of
from .._pod.kinds import Finding
from .._pod.managed import manages_controller
from .._pod.model import (
    DEDICATED,
    METRICS_PORT,
    OF_A_JOB,
    Cluster,
    Controller,
    Declaration,
    Partition,
    Vpod,
    is_of_a_job,
)
from .._pod.wording import some, unknown
from .device_consistency import tenant_vlan_findings
from .names import taken_names


def vpod_findings(declaration: Declaration) -> Iterator[Finding]:
    """The problems of the vPODs, their sizes, users and partitions, and of all of them together."""
    for name, vpod in declaration.vpods.items():
        path = f"vpods.{name}"
        if not sizes.is_allocation_size(vpod.ipus):
            yield f"{path}.ipus", f"{vpod.ipus} IPUs do not exist as a vPOD; use {sizes.ALLOCATION_SIZES}"
        cluster = declaration.clusters.get(vpod.cluster)
        if cluster is None:
            yield f"{path}.cluster", unknown(vpod.cluster, "cluster", declaration.clusters)
        controller = declaration.controllers.get(cluster.controller) if cluster else None
        if controller and controller.is_secure and not vpod.users:
            yield f"{path}.users", f"is missing; controller {controller.name} is secure, so name who may use the vPOD"
        yield from _partitions(path, vpod, controller)
    yield from _vpods_together(declaration)


def _partitions(path: str, vpod: Vpod, controller: Controller | None) -> Iterator[Finding]:
    for partition in vpod.partitions:
        yield from _partition(f"{path}.partitions.{partition.name}", partition, vpod)
        if controller is not None:
            yield from _by_the_guide(f"{path}.partitions.{partition.name}", partition, controller)
    total = sum(partition.ipus for partition in vpod.partitions)
    if total > vpod.ipus and all(partition.ipus <= vpod.ipus for partition in vpod.partitions):
        yield (
            f"{path}.partitions",
            f"together they need {total} IPUs, but the vPOD has {vpod.ipus}; enlarge it or make partitions smaller",
        )


def _partition(path: str, partition: Partition, vpod: Vpod) -> Iterator[Finding]:
    for field, message in (
        *sizes.partition_findings(partition.ipus, partition.gcds, partition.replicas, partition.reconfigurable),
        *sync_findings(partition.reconfigurable, partition.sync_type),
    ):
        yield f"{path}.{field}", message
    if sizes.is_partition_size(partition.ipus) and sizes.is_allocation_size(vpod.ipus) and partition.ipus > vpod.ipus:
        yield (
            f"{path}.ipus",
            f"{partition.ipus} IPUs are more than the {vpod.ipus} of vPOD {vpod.name}; "
            f"use at most {vpod.ipus} or enlarge vpods.{vpod.name}.ipus",
        )


def _by_the_guide(path: str, partition: Partition, controller: Controller) -> Iterator[Finding]:
    """The rules that a controller's owner may tighten or loosen."""
    option, ipus, gcds = f"controllers.{controller.name}", partition.ipus, partition.gcds
    findings: list[Finding] = []
    if controller.strict_sizes:
        findings += sizes.strict_findings(ipus, gcds, f"{option}.strict_sizes")
    if not controller.any_replica_size:
        findings += sizes.replica_findings(ipus, gcds, partition.replicas, f"{option}.any_replica_size")
    for field, message in findings:
        yield f"{path}.{field}", message


def _vpods_together(declaration: Declaration) -> Iterator[Finding]:
    yield from tenant_vlan_findings(declaration)
    partitions: dict[tuple[str, str], str] = {}
    wanted: dict[str, int] = {}
    for name, vpod in declaration.vpods.items():
        path = f"vpods.{name}"
        shared = getattr(declaration.clusters.get(vpod.cluster), "controller", "")
        controller = path if vpod.is_dedicated else shared
        for partition in vpod.partitions:
            key, where = (controller, partition.name), f"{path}.partitions.{partition.name}"
            if (other := partitions.setdefault(key, where)) != where:
                yield where, f"the controller knows this name from {other}; choose another"
        wanted[vpod.cluster] = wanted.get(vpod.cluster, 0) + vpod.ipus
    for cluster_name, ipus in wanted.items():
        cluster = declaration.clusters.get(cluster_name)
        if cluster is None or not cluster.pods or not declaration.pods.keys() >= {*cluster.pods}:
            continue
        there = sum(declaration.pods[pod].model.ipu_machines * sizes.IPUS_PER_MACHINE for pod in cluster.pods)
        if ipus > there:
            yield "vpods", f"those of cluster {cluster_name} need {ipus} IPUs, but it has {there}; make them smaller"


def block_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return the problems of excluded and pinned IPU-Machines, and of the GCDs on them.

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
    if size * sizes.IPUS_PER_MACHINE != vpod.ipus:
        yield f"{size} IPU-Machines are {size * sizes.IPUS_PER_MACHINE} IPUs, but ipus is {vpod.ipus}; make them agree"


def _gcds(declaration: Declaration, vpod: Vpod) -> Iterator[Finding]:
    cluster = declaration.clusters.get(vpod.cluster)
    for partition in vpod.partitions:
        gcds = partition.gcds or 1
        if cluster and partition.ipus % gcds == 0 and partition.ipus // gcds > sizes.IPUS_PER_ILD:
            yield (
                f"vpods.{vpod.name}.partitions.{partition.name}.gcds",
                f"a GCD of {partition.ipus // gcds} IPUs would lie over several IPU-Link domains, which are the pods "
                f"of clusters.{cluster.name} ({', '.join(cluster.pods)}) with {sizes.IPUS_PER_ILD} IPUs each; use at "
                f"least {-(-partition.ipus // sizes.IPUS_PER_ILD)} GCDs",
            )


def jobs_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return the problems of vPODs whose allocations are those of jobs, and of names that look like theirs."""
    for_jobs = [vpod for vpod in declaration.vpods.values() if vpod.is_for_jobs]
    for vpod in for_jobs:
        yield from _allocation_of_jobs(vpod)
    controllers = {_controller_of(declaration, vpod) for vpod in for_jobs} - {""}
    for vpod in declaration.vpods.values():
        if _controller_of(declaration, vpod) in controllers:
            yield from _names_of_jobs(vpod)


def _allocation_of_jobs(vpod: Vpod) -> Iterator[Finding]:
    path = f"vpods.{vpod.name}"
    if not vpod.ipu_machines:
        yield f"{path}.ipu_machines", "is missing; name the IPU-Machines that jobs get, as allocation is jobs"
    if vpod.partitions:
        yield f"{path}.partitions", "each job has its own, as allocation is jobs; leave them out, or say own"
    if vpod.is_dedicated:
        yield f"{path}.controller", "jobs have allocations on the controller of the cluster; say shared"


def _names_of_jobs(vpod: Vpod) -> Iterator[Finding]:
    """Names that Slurm gives away, and whose bearers it removes when the job is over."""
    path = f"vpods.{vpod.name}"
    names = [
        (path, "allocation", vpod.name),
        *((f"{path}.users", "user", user) for user in vpod.users),
        *((f"{path}.partitions.{partition.name}", "partition", partition.name) for partition in vpod.partitions),
    ]
    for where, kind, name in names:
        if is_of_a_job(kind, name):
            yield where, f"{name!r} is {OF_A_JOB}, and jobs have allocations on this controller; choose another name"


def _controller_of(declaration: Declaration, vpod: Vpod) -> str:
    """The controller of a vPOD's cluster; empty where that is not declared."""
    cluster = declaration.clusters.get(vpod.cluster)
    return cluster.controller if cluster else ""


def absent_findings(declaration: Declaration, servers: Collection[str]) -> Iterator[Finding]:
    """Return the problems of vPODs with state absent; ``servers`` are all Poplar servers."""
    for name, vpod in declaration.absent.items():
        path = f"vpods.{name}"
        if vpod.cluster not in declaration.clusters:
            yield f"{path}.cluster", unknown(vpod.cluster, "cluster", declaration.clusters)
        for server in vpod.poplar_servers:
            if server not in servers:
                yield f"{path}.poplar_servers", unknown(server, "Poplar server", servers)


def dedicated_findings(declaration: Declaration) -> Iterator[Finding]:
    """Return the problems of the controllers' hosts: several of clusters on one, a shared port, or a name."""
    hosts: dict[str, str] = {}
    ports: dict[tuple[str, int], str] = {}
    for name, controller in declaration.controllers.items():
        path = f"controllers.{name}"
        if (other := hosts.setdefault(controller.host_name, path)) != path:
            yield f"{path}.host", f"{controller.host_name} already runs {other}; put this one on another host"
        ports[controller.host_name, controller.user_port] = f"{path}.user_port"
        ports[controller.host_name, controller.admin_port] = f"{path}.admin_port"
        ports.setdefault((controller.host_name, METRICS_PORT), f"the metrics of {path}")
    for vpod in declaration.vpods.values():
        if vpod.is_dedicated:
            yield from _controller_ports(declaration, vpod, ports)
        elif vpod.controller_host:
            path = f"vpods.{vpod.name}.controller_address"
            yield path, f"is that of a dedicated controller; say controller: {DEDICATED}, or leave it out"
    yield from _own_hosts(declaration)


def _own_hosts(declaration: Declaration) -> Iterator[Finding]:
    taken = {**taken_names(declaration), **{name: f"clouds.{name}" for name in declaration.clouds}}
    for vpod in (*declaration.absent.values(), *declaration.vpods.values()):
        if vpod.controller_host in taken:
            yield (
                f"vpods.{vpod.name}.controller_address",
                f"its host would be called {vpod.controller_host!r}, which is the name of "
                f"{taken[vpod.controller_host]}; give that or the vPOD another name",
            )


def _controller_ports(declaration: Declaration, vpod: Vpod, ports: dict[tuple[str, int], str]) -> Iterator[Finding]:
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
    host = vpod.controller_host or controller.host_name
    for key in ("user", "admin", "metrics"):
        here, port = f"{path}.{key}", getattr(vpod.ports, key)
        there = ports.setdefault((host, port), here)
        if there != here:
            yield here, f"{port} on {host} is also {there}; declare another"
