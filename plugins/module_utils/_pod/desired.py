# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``desired(declaration, placement)``: what every device should be, with one owner per port, NIC and V-IPU entity.

The result is plain data in the shape of the modules' options, so that a role passes it on as it is.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Sequence

from .desired_switches import desired_management_switch, desired_tor, owner_of
from .devices import IPU_MACHINE, MANAGEMENT_SWITCH, POPLAR_SERVER, TOR, Device, devices_of
from .model import ENVIRONMENT, FILES, Declaration, Partition, Vpod
from .placement import cluster_agents

AGENT_PORT = 8080

Options = Dict[str, Any]


def desired(declaration: Declaration, placement: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Options]]:
    """What every device should be.

    Args:
        declaration: the checked pods.yml.
        placement: vPOD name to its IPU-Machines, from :func:`placement.place`.

    Returns:
        ``tor_switches``, ``management_switches``, ``poplar_servers`` and ``vipu_controllers``: each maps host names to
        module options. Those of a ToR switch also say what :mod:`desired_switches` and its role need to check it.
    """
    devices = devices_of(declaration)
    tenants = tenants_of(declaration, placement)
    in_pod: dict[str, list[Device]] = {}
    for device in devices.values():
        in_pod.setdefault(device.pod, []).append(device)
    servers = {
        device.name: _poplar_server(declaration, device, devices, in_pod[device.pod], tenants)
        for device in devices.values()
        if device.kind == POPLAR_SERVER
    }
    return {
        "tor_switches": {
            device.name: dict(
                desired_tor(declaration, device, tenants),
                wakers={
                    server.name: _waker(server, servers[server.name], devices)
                    for server in in_pod[device.pod]
                    if server.kind == POPLAR_SERVER
                },
            )
            for device in devices.values()
            if device.kind == TOR
        },
        "management_switches": {
            device.name: desired_management_switch(switch)
            for device in devices.values()
            if device.kind == MANAGEMENT_SWITCH
            for switch in [declaration.pods[device.pod].management_switch]
            if switch
        },
        "poplar_servers": servers,
        "vipu_controllers": {
            controller.host_name: _vipu_controller(declaration, name, devices, placement)
            for name, controller in declaration.controllers.items()
        },
    }


def tenants_of(declaration: Declaration, placement: Mapping[str, Sequence[str]]) -> dict[str, Vpod]:
    """Which vPOD each IPU-Machine and Poplar server belongs to; a device that is missing belongs to its pod."""
    tenants = {}
    for vpod in declaration.vpods.values():
        for name in (*vpod.poplar_servers, *placement.get(vpod.name, ())):
            tenants[name] = vpod
    return tenants


def _poplar_server(
    declaration: Declaration,
    server: Device,
    devices: Mapping[str, Device],
    in_pod: Sequence[Device],
    tenants: Mapping[str, Vpod],
) -> Options:
    vpod = tenants.get(server.name)
    interface = {
        "name": server.facts["rnic_interface"],
        "mac": server.facts.get("rnic_mac"),
        "addresses": [f"{server.facts['rnic_address']}/{server.facts['rnic_prefix']}"],
        "mtu": server.facts["rnic_mtu"],
    }
    partitions = [partition for partition in vpod.partitions if _serves(partition, server)] if vpod else []
    client = _vipu_client(declaration, vpod, devices) if vpod else None
    return {
        "owner": owner_of(vpod),
        "interfaces": [interface],
        "vipu": client,
        "partitions": [partition.name for partition in partitions],
        "ipuof": {"mode": vpod.ipuof if vpod else ENVIRONMENT, "partitions": _gcds(vpod, partitions, client)},
        "peers": {
            device.name: device.facts["rnic_address"]
            for device in in_pod
            if device.kind == IPU_MACHINE and _is_same_tenant(server, device, tenants)
        },
    }


def _waker(server: Device, options: Options, devices: Mapping[str, Device]) -> Options:
    """Which IPU-Machines a server can ask for a frame, so that their switch knows again what is at these ports."""
    return {
        "interface": options["interfaces"][0]["name"],
        "addresses": list(options["peers"].values()),
        "ports": [device.facts["switch_port"] for device in (server, *map(devices.__getitem__, options["peers"]))],
    }


def _is_same_tenant(server: Device, machine: Device, tenants: Mapping[str, Vpod]) -> bool:
    """Whether a server and an IPU-Machine of one rack are to reach each other: same tenant, or both without one."""
    return tenants.get(machine.name) == tenants.get(server.name)


def _serves(partition: Partition, server: Device) -> bool:
    return not partition.poplar_servers or server.name in partition.poplar_servers


def _gcds(vpod: Vpod | None, partitions: Sequence[Partition], client: Options | None) -> list[Options]:
    """What Poplar on a server is told of: every GCD has a file, but the environment is of the first one."""
    if vpod is None or client is None:
        return []
    where = {name: client[name] for name in ("api_host", "api_port")}
    return [
        dict(where, name=partition.name, gcd=gcd)
        for partition in partitions
        for gcd in range((partition.gcds or 1) if vpod.ipuof == FILES else 1)
    ]


def _vipu_client(declaration: Declaration, vpod: Vpod, devices: Mapping[str, Device]) -> Options:
    """Where a server of the vPOD finds its V-IPU controller, and as whom; without a user where nobody is asked."""
    controller = declaration.controllers[declaration.clusters[vpod.cluster].controller]
    return {
        "controller": controller.host_name,
        "admin_port": controller.admin_port,
        "api_host": devices[controller.host_name].facts["management_address"],
        "api_port": controller.user_port,
        "user": vpod.users[0] if controller.is_secure else None,
    }


def _vipu_controller(
    declaration: Declaration,
    controller: str,
    devices: Mapping[str, Device],
    placement: Mapping[str, Sequence[str]],
) -> Options:
    fields = declaration.controllers[controller]
    clusters = [cluster for cluster in declaration.clusters.values() if cluster.controller == controller]
    names = {cluster.name for cluster in clusters}
    vpods = [vpod for vpod in declaration.vpods.values() if vpod.cluster in names]
    return {
        "name": controller,
        "mode": fields.mode,
        "user_port": fields.user_port,
        "admin_port": fields.admin_port,
        "strict_sizes": fields.strict_sizes,
        "any_replica_size": fields.any_replica_size,
        "agents": [
            {"name": name, "host": devices[name].facts["gateway_address"], "port": AGENT_PORT}
            for cluster in clusters
            for name in cluster_agents(declaration, cluster.name)
        ],
        "clusters": [
            _said(
                name=cluster.name,
                agents=cluster_agents(declaration, cluster.name),
                topology=cluster.topology,
                ipu_link_domains=len(cluster.pods),
                looped=cluster.looped,
            )
            for cluster in clusters
        ],
        "allocations": [
            {
                "name": vpod.name,
                "cluster": vpod.cluster,
                "size": vpod.ipus,
                "agents": list(placement[vpod.name]),
            }
            for vpod in vpods
        ],
        "users": _users(vpods) if fields.is_secure else [],
        "partitions": [_partition(vpod, partition) for vpod in vpods for partition in vpod.partitions],
    }


def _users(vpods: Sequence[Vpod]) -> list[Options]:
    """The users of all vPODs, each with what is granted to them."""
    allocations: dict[str, list[str]] = {}
    for vpod in vpods:
        for user in dict.fromkeys(vpod.users):
            allocations.setdefault(user, []).append(vpod.name)
    return [{"name": user, "allocations": names} for user, names in allocations.items()]


def _partition(vpod: Vpod, partition: Partition) -> Options:
    return _said(
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


def _said(**options: Any) -> Options:
    """The options that were declared; what is left out is kept, and an option with choices would take no None."""
    return {name: value for name, value in options.items() if value is not None}
