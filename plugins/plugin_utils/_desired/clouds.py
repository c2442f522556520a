# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every cloud should have for its vPODs, in the shape of the options of cloud_state. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._cloud.entities import (
    DIRECT,
    NORMAL,
    controller_of,
    trait_name,
)

from .._pod.clouds import Cloud, CloudShare
from .._pod.devices import Device, devices_of
from .._pod.hypervisors import has_functions, hypervisors_of
from .._pod.model import Declaration, Vpod
from .cloud_controllers import controller_machine
from .cloud_sizes import SSH, rules, size
from .containers import machine_addresses, rnic_subnet

Options = dict[str, Any]
# What is of one vPOD each; images are of the whole cloud.
OF_VPODS = (
    *("projects", "members", "quotas", "networks", "subnets", "security_groups"),
    *("flavors", "traits", "volumes", "servers"),
)


def desired_clouds(declaration: Declaration) -> dict[str, Options]:
    """Cloud to what it should have; of ``absent_vpods``, vPODs and controllers, it shall have nothing any more."""
    devices = devices_of(declaration)
    return {cloud.name: _desired_cloud(declaration, cloud, devices) for cloud in declaration.clouds.values()}


def pools_of(declaration: Declaration, vpod: Vpod, devices: Mapping[str, Device]) -> list[list[IPv4Address]]:
    """The RNIC addresses of a vPOD's machines, of each of its hypervisors."""
    carriers = [devices[name] for name in vpod.poplar_servers if name in hypervisors_of(declaration)]
    return [machine_addresses(declaration.pods[server.pod], server) for server in carriers]


def images_of(vpod: Vpod) -> list[str]:
    """The images from which a run starts machines of a vPOD."""
    share = vpod.cloud
    named = [share.image, share.controller.image if share.controller else None] if share else []
    return [image for image in named if image is not None]


def rnic_network(vpod: Vpod) -> str:
    """What the RNIC network of a vPOD is called in its cloud."""
    return f"vpod-{vpod.name}-rnic"


def _desired_cloud(declaration: Declaration, cloud: Cloud, devices: Mapping[str, Device]) -> Options:
    options: Options = {
        "entry": cloud.entry,
        **{each: [] for each in (*OF_VPODS, "images")},
        "absent_vpods": _absent(declaration, cloud),
    }
    options["images"] = [
        {"name": image.name, "file": image.file, "disk_format": image.disk_format} for image in cloud.images
    ]
    for vpod in declaration.vpods_in(cloud.name):
        if vpod.cloud and vpod.name in declaration.vpods:
            for kind, entries in _of_vpod(declaration, cloud, vpod, vpod.cloud, devices).items():
                options[kind] += entries
            for kind, entries in controller_machine(cloud, vpod, vpod.cloud, devices).items():
                options[kind] += entries
    return options


def _absent(declaration: Declaration, cloud: Cloud) -> list[str]:
    vpods = declaration.vpods_in(cloud.name)
    gone = [vpod.name for vpod in vpods if vpod.name in declaration.absent]
    with_controller = {vpod.name for vpod in vpods if vpod.cloud and vpod.cloud.controller} - set(gone)
    return [*gone, *(controller_of(vpod.name) for vpod in vpods if vpod.name not in with_controller)]


def _of_vpod(
    declaration: Declaration, cloud: Cloud, vpod: Vpod, share: CloudShare, devices: Mapping[str, Device]
) -> Options:
    mine: Options = {"vpod": vpod.name, "project": share.project}
    group = f"vpod-{vpod.name}"
    project = {"name": share.project, "domain": share.domain, "description": f"vPOD {vpod.name}", "vpod": vpod.name}
    return {
        "projects": [project],
        "members": [{**mine, "user": user, "role": share.role} for user in share.users],
        "quotas": [{**mine, **share.quota}] if share.quota else [],
        **_networks(declaration, cloud, vpod, share, devices),
        "security_groups": [{**mine, "name": group, "rules": rules(SSH, cloud.control_sources)}],
        "flavors": [{**mine, "name": _flavor(vpod, share), **size(share.machine, trait_name(vpod.name))}],
        "traits": [{"name": trait_name(vpod.name), "vpod": vpod.name, "hypervisors": list(vpod.poplar_servers)}],
        **(_kept_machines(declaration, cloud, vpod, share, devices) if share.is_kept else {}),
    }


def _networks(
    declaration: Declaration, cloud: Cloud, vpod: Vpod, share: CloudShare, devices: Mapping[str, Device]
) -> Options:
    servers = [devices[name] for name in vpod.poplar_servers]
    mtus = [server.facts["rnic_mtu"] for server in servers if server.facts["rnic_mtu"] is not None]
    network = {
        "name": rnic_network(vpod),
        "vpod": vpod.name,
        "project": share.project,
        "physical_network": cloud.physical_network,
        "vlan": vpod.vlan,
        "mtu": min(mtus, default=None),
    }
    pools = [f"{pool[0]}-{pool[-1]}" for pool in pools_of(declaration, vpod, devices)]
    subnet = {
        "name": rnic_network(vpod),
        "vpod": vpod.name,
        "network": rnic_network(vpod),
        "cidr": str(rnic_subnet(servers[0])),
    }
    networks, subnets = [network], [{**subnet, "pools": pools}]
    if share.storage:
        name = _storage(vpod)
        physical, vlan = share.storage.physical_network, share.storage.vlan
        networks.append({**network, "name": name, "physical_network": physical, "vlan": vlan, "mtu": None})
        subnets.append({**subnet, "name": name, "network": name, "cidr": share.storage.subnet, "pools": []})
    return {"networks": networks, "subnets": subnets}


def _kept_machines(
    declaration: Declaration, cloud: Cloud, vpod: Vpod, share: CloudShare, devices: Mapping[str, Device]
) -> Options:
    """Machines with addresses of their own, so that one that is made again has that of the one before it."""
    mine = {"vpod": vpod.name, "project": share.project}
    addresses = [str(each) for pool in pools_of(declaration, vpod, devices) for each in pool]
    kinds = dict.fromkeys(_networks_by_functions(declaration, vpod, share), DIRECT)
    servers, volumes = [], []
    for index in range(vpod.ipus // share.ipus_per_machine):
        name = f"{vpod.name}-{index + 1}"
        ports: list[Options] = [
            {"network": cloud.control_network, "address": None, "security_groups": [f"vpod-{vpod.name}"]},
            {"network": rnic_network(vpod), "address": addresses[index], "security_groups": []},
        ]
        if share.storage:
            ports.append({"network": _storage(vpod), "address": None, "security_groups": []})
        ports = [{**port, "vnic_type": kinds.get(port["network"], NORMAL)} for port in ports]
        own = {f"{name}-{volume}": size for volume, size in share.volumes.items()}
        volumes += [{**mine, "name": volume, "size": size} for volume, size in own.items()]
        start = {"flavor": _flavor(vpod, share), "image": share.image, "key": share.key}
        servers.append({**mine, "name": name, **start, "ports": ports, "volumes": list(own)})
    return {"volumes": volumes, "servers": servers}


def _networks_by_functions(declaration: Declaration, vpod: Vpod, share: CloudShare) -> list[str]:
    """The networks that a machine reaches by virtual functions of the hypervisor's RNIC."""
    if not has_functions(declaration, vpod):
        return []
    return [rnic_network(vpod), *([_storage(vpod)] if share.storage and share.storage.is_on_rnics else [])]


def _flavor(vpod: Vpod, share: CloudShare) -> str:
    return f"vpod-{vpod.name}-{share.ipus_per_machine}"


def _storage(vpod: Vpod) -> str:
    return f"vpod-{vpod.name}-storage"
