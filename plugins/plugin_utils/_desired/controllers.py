# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desired entities of a cluster's V-IPU controller, and of dedicated ones. Pure.

The allocation on the cluster's controller says where a vPOD lies, whoever makes its partitions. For a vPOD with a
dedicated controller it is only the reservation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._vipu.sizes import IPUS_PER_ILD

from .._pod.devices import Device, cluster_agents
from .._pod.model import FILES, Controller, ControllerPorts, Declaration, Partition, Vpod
from .degraded import Placement, stranded

AGENT_PORT = 8080

Options = dict[str, Any]
Devices = Mapping[str, Device]


def shared_controller(
    declaration: Declaration, controller: Controller, devices: Devices, placement: Placement
) -> Options:
    """Return the desired entities of the controller of some clusters: allocations, except those of jobs, and vPODs."""
    clusters = [cluster for cluster in declaration.clusters.values() if cluster.controller == controller.name]
    vpods = vpods_of(declaration, controller)
    sharing = [vpod for vpod in vpods if not vpod.is_dedicated]
    agents = {cluster.name: cluster_agents(declaration, cluster.name) for cluster in clusters}
    return {
        "name": controller.name,
        **_settings(declaration, controller, controller.host_name),
        "user_port": controller.user_port,
        "admin_port": controller.admin_port,
        "agents": [agent for names in agents.values() for agent in _agents(names, devices)],
        "clusters": [
            _given(
                name=cluster.name,
                agents=agents[cluster.name],
                topology=cluster.topology,
                ipu_link_domains=len(cluster.pods),
                looped=cluster.looped,
            )
            for cluster in clusters
        ],
        "allocations": [_allocation(vpod, vpod.cluster, placement) for vpod in vpods if not vpod.is_for_jobs],
        "users": _users(sharing) if controller.is_secure else [],
        "partitions": _partitions(sharing, stranded(declaration, placement)),
    }


def dedicated_controllers(declaration: Declaration, devices: Devices, placement: Placement) -> dict[str, list[Options]]:
    """Host to the desired entities of dedicated controllers there, each with only its vPOD's IPU-Machines.

    The one cluster there, and the one allocation in it, have the vPOD's name.
    """
    found: dict[str, list[Options]] = {host: [] for host in controller_hosts(declaration)}
    for vpod in declaration.vpods.values():
        if vpod.is_dedicated and vpod.ports:
            own = _dedicated_controller(declaration, vpod, vpod.ports, devices, placement)
            found[declaration.dedicated_host(vpod)].append(own)
    return found


def removed_controllers(declaration: Declaration) -> dict[str, list[str]]:
    """Host to the vPODs that are to go and may have a dedicated controller there."""
    found: dict[str, list[str]] = {host: [] for host in controller_hosts(declaration)}
    for vpod in declaration.absent.values():
        found[declaration.dedicated_host(vpod)].append(vpod.name)
    return found


def controller_hosts(declaration: Declaration) -> list[str]:
    """The hosts of all controllers: those of clusters, and those that dedicated ones have to themselves."""
    vpods = (*declaration.absent.values(), *declaration.vpods.values())
    hosts = [controller.host_name for controller in declaration.controllers.values()]
    return list(dict.fromkeys((*hosts, *(vpod.controller_host for vpod in vpods if vpod.controller_host))))


def user_end_point(declaration: Declaration, vpod: Vpod, devices: Devices) -> Options:
    """Where a server of the vPOD finds its V-IPU controller, and as whom; without a user where nobody is asked."""
    controller = declaration.controller_of(vpod)
    dedicated = vpod.ports if vpod.is_dedicated else None
    host = declaration.dedicated_host(vpod)
    return {
        "controller": host,
        "dedicated": vpod.name if dedicated else None,
        "admin_port": dedicated.admin if dedicated else controller.admin_port,
        "api_host": devices[host].facts["management_address"],
        "api_port": dedicated.user if dedicated else controller.user_port,
        "user": vpod.users[0] if controller.is_secure else None,
    }


def gcds_on(vpod: Vpod | None, server: Device, client: Options | None) -> list[Options]:
    """Return the IPUoF options of a server: files of all its GCDs, or one environment for each partition.

    Of the GCDs that a partition's servers share, the environment is of the first; a server that is named for some GCDs
    of it has an environment for each of them.
    """
    if vpod is None or client is None:
        return []
    where = {name: client[name] for name in ("api_host", "api_port")}
    return [
        dict(where, name=partition.name, gcd=gcd)
        for partition in vpod.partitions
        for gcds in [partition.gcds_of(server.name)]
        for gcd in (gcds if vpod.ipuof == FILES or partition.is_shared_out else gcds[:1])
    ]


def vpods_of(declaration: Declaration, controller: Controller) -> list[Vpod]:
    """The vPODs in the clusters of a controller."""
    return [vpod for vpod in declaration.vpods.values() if declaration.controller_of(vpod) == controller]


def _dedicated_controller(
    declaration: Declaration, vpod: Vpod, ports: ControllerPorts, devices: Devices, placement: Placement
) -> Options:
    cluster, controller = declaration.clusters[vpod.cluster], declaration.controller_of(vpod)
    machines = list(placement[vpod.name])
    # IPU-Links close to a torus in a whole IPU-Link domain, GW-Links to a loop in a whole cluster.
    topology = cluster.topology if vpod.ipus >= IPUS_PER_ILD else None
    looped = cluster.looped if vpod.ipus == IPUS_PER_ILD * len(cluster.pods) else None
    return {
        "name": vpod.name,
        **_settings(declaration, controller, declaration.dedicated_host(vpod)),
        "user_port": ports.user,
        "admin_port": ports.admin,
        "metrics_port": ports.metrics,
        "agents": _agents(machines, devices),
        "clusters": [
            _given(
                name=vpod.name,
                agents=machines,
                topology=topology,
                ipu_link_domains=max(1, vpod.ipus // IPUS_PER_ILD),
                looped=looped,
            )
        ],
        "allocations": [_allocation(vpod, vpod.name, placement)],
        "users": _users([vpod]) if controller.is_secure else [],
        "partitions": _partitions([vpod], stranded(declaration, placement)),
    }


def _settings(declaration: Declaration, controller: Controller, host: str) -> Options:
    """Return the options that a cluster's controller and dedicated ones have in common, on the host of one of them."""
    return {
        "mode": controller.mode,
        "certificate_addresses": sorted(
            {
                cloud.controllers[host]
                for cloud in declaration.clouds.values()
                if controller.is_secure and host in cloud.controllers
            }
        ),
        "strict_sizes": controller.strict_sizes,
        "any_replica_size": controller.any_replica_size,
    }


def _agents(machines: Sequence[str], devices: Devices) -> list[Options]:
    return [{"name": name, "host": devices[name].facts["gateway_address"], "port": AGENT_PORT} for name in machines]


def _allocation(vpod: Vpod, cluster: str, placement: Placement) -> Options:
    return {"name": vpod.name, "cluster": cluster, "size": vpod.ipus, "agents": list(placement[vpod.name])}


def _users(vpods: Sequence[Vpod]) -> list[Options]:
    """The users of all vPODs, each with what is granted to them, which is nothing where jobs have the allocations."""
    allocations: dict[str, list[str]] = {}
    for vpod in vpods:
        for user in dict.fromkeys(vpod.users):
            allocations.setdefault(user, []).extend([] if vpod.is_for_jobs else [vpod.name])
    return [{"name": user, "allocations": names} for user, names in allocations.items()]


def _partitions(vpods: Sequence[Vpod], left: Collection[str]) -> list[Options]:
    """The partitions of vPODs, except of those that are left as they are."""
    return [_partition(vpod, partition) for vpod in vpods if vpod.name not in left for partition in vpod.partitions]


def _partition(vpod: Vpod, partition: Partition) -> Options:
    return _given(
        name=partition.name,
        allocation=vpod.name,
        size=partition.ipus,
        gcds=partition.gcds,
        replicas=partition.replicas,
        reconfigurable=partition.reconfigurable,
        routing=partition.routing,
        gw_routing=partition.gw_routing,
        sync_type=partition.sync_type,
        relocatable=partition.relocatable,
        disable_auto_reset=partition.disable_auto_reset,
    )


def _given(**options: Any) -> Options:
    """The options that were declared; what is left out is kept, and an option with choices would take no None."""
    return {name: value for name, value in options.items() if value is not None}
