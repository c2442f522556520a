# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``desired(declaration, placement)``: what every device should be, with one owner per port, NIC and V-IPU entity.

The result is plain data in the shape of the modules' options, so that a role passes it on as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .._pod.devices import IPU_MACHINE, MANAGEMENT_SWITCH, POPLAR_SERVER, TOR, Device, devices_of
from .._pod.hypervisors import bare_metal_tenants, guests_of, virtual_functions
from .._pod.model import ENVIRONMENT, Declaration, Vpod
from .clouds import desired_clouds
from .containers import vpods_with_containers
from .controllers import dedicated_controllers, gcds_on, removed_controllers, shared_controller, user_end_point
from .degraded import Placement, degraded, stranded
from .switches import desired_management_switch, desired_tor, owner_of

Options = dict[str, Any]


def desired(declaration: Declaration, placement: Placement, strays: Collection[str] = ()) -> dict[str, Any]:
    """Return the desired state of every device, with the vPODs where a placement has them.

    ``tor_switches``, ``management_switches``, ``poplar_servers`` and ``vipu_controllers`` map host names to module
    options; those of a ToR switch also say what :mod:`switches` and its role need to check it. Of the controllers'
    hosts, ``dedicated_controllers`` has a list of such options, one for each vPOD that has a controller of its own
    there, and ``removed_controllers`` the names of those that shall have none any more. ``clouds`` maps clouds to what
    they should have. ``degraded`` is a list of sentences on what IPU-Machines that are excluded leave undone.

    The ports of excluded IPU-Machines are kept as they are, but for ``strays``, which are in the VLAN of somebody else.
    """
    devices = devices_of(declaration)
    tenants = tenants_of(declaration, placement)
    in_pod: dict[str, list[Device]] = {}
    for device in devices.values():
        in_pod.setdefault(device.pod, []).append(device)
    servers = {
        device.name: _poplar_server(declaration, device, placement, devices, in_pod[device.pod], tenants)
        for device in devices.values()
        if device.kind == POPLAR_SERVER
    }
    return {
        "tor_switches": {
            device.name: dict(
                desired_tor(declaration, device, tenants, strays),
                arp_probes={
                    server.name: _arp_probe(server, servers[server.name], devices)
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
            controller.host_name: shared_controller(declaration, controller, devices, placement)
            for controller in declaration.controllers.values()
        },
        "dedicated_controllers": dedicated_controllers(declaration, devices, placement),
        "removed_controllers": removed_controllers(declaration),
        "clouds": desired_clouds(declaration),
        "degraded": degraded(declaration, placement),
    }


def tenants_of(declaration: Declaration, placement: Placement) -> dict[str, Vpod]:
    """Which vPOD each IPU-Machine and bare-metal server belongs to; a device that is missing belongs to its pod."""
    placed = {name: vpod for vpod in declaration.vpods.values() for name in placement.get(vpod.name, ())}
    return {**bare_metal_tenants(declaration), **placed}


def _poplar_server(
    declaration: Declaration,
    server: Device,
    placement: Placement,
    devices: Mapping[str, Device],
    in_pod: Sequence[Device],
    tenants: Mapping[str, Vpod],
) -> Options:
    vpod, pod = tenants.get(server.name), declaration.pods[server.pod]
    interface = {
        "name": server.facts["rnic_interface"],
        "mac": server.facts.get("rnic_mac"),
        "addresses": [f"{server.facts['rnic_address']}/{server.facts['rnic_prefix']}"],
        "mtu": server.facts["rnic_mtu"],
    }
    guests = guests_of(declaration).get(server.name, [])
    # Those that Nova gives to machines are Neutron's to set.
    if server.name in pod.hypervisors and pod.virtual_functions and not any(guest.cloud for guest in guests):
        interface["virtual_functions"] = virtual_functions(pod, server, guests)
    is_whole = vpod and not stranded(declaration, {vpod.name: placement[vpod.name]})
    partitions = [part.name for part in vpod.partitions if part.gcds_of(server.name)] if vpod and is_whole else []
    client = user_end_point(declaration, vpod, devices) if vpod else None
    return {
        "owner": owner_of(vpod),
        "interfaces": [interface],
        "vipu": client,
        "partitions": partitions,
        "ipuof": {"mode": vpod.ipuof if vpod else ENVIRONMENT, "partitions": gcds_on(vpod, server, client)},
        "containers": vpods_with_containers(declaration, server, [vpod] if vpod else guests, devices),
        "peers": _peers(declaration, server, vpod, placement, devices, in_pod, tenants),
    }


def _peers(
    declaration: Declaration,
    server: Device,
    vpod: Vpod | None,
    placement: Placement,
    devices: Mapping[str, Device],
    in_pod: Sequence[Device],
    tenants: Mapping[str, Vpod],
) -> dict[str, str]:
    """The IPU-Machines that a server is to reach, with their addresses: its vPOD's, or those in its rack that none has.

    Those of other racks are among them where the RNICs of the racks reach each other.
    """
    if vpod is None:
        names = [device.name for device in in_pod if device.kind == IPU_MACHINE and device.name not in tenants]
    else:
        is_joined = declaration.clusters[vpod.cluster].spine
        names = [name for name in placement[vpod.name] if is_joined or devices[name].pod == server.pod]
    answering = [name for name in names if name not in declaration.pods[devices[name].pod].excluded]
    return {name: devices[name].facts["rnic_address"] for name in answering}


def _arp_probe(server: Device, options: Options, devices: Mapping[str, Device]) -> Options:
    """Which IPU-Machines a server can ask for a frame, so that their switch knows again what is at these ports."""
    machines = [device for device in map(devices.__getitem__, options["peers"]) if device.pod == server.pod]
    return {
        "interface": options["interfaces"][0]["name"],
        "addresses": [device.facts["rnic_address"] for device in machines],
        "ports": [device.facts["switch_port"] for device in (server, *machines)],
    }
