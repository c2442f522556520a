# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine of a vPOD's dedicated V-IPU controller in a cloud, in the shape of the options of cloud_state. Pure.

It is the only thing that is both on the management network and on that of the tenants' machines. So it is in a project
of its own, in which no tenant has a role, and each of its ports lets in what somebody needs there and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._cloud.entities import NORMAL, controller_of, trait_name

from .._pod.clouds import Cloud, CloudShare
from .._pod.devices import Device
from .._pod.model import Vpod
from .cloud_sizes import SSH, rules, size

Options = dict[str, Any]


def controller_machine(cloud: Cloud, vpod: Vpod, share: CloudShare, devices: Mapping[str, Device]) -> Options:
    """Kind to what a vPOD's controller has in a cloud; nothing where its machine is not declared there."""
    name, own, management, ports = vpod.controller_host, share.controller, cloud.management, vpod.ports
    if own is None or name is None or management is None or ports is None:
        return {}
    mark, inside, flavor = controller_of(vpod.name), f"{name}-management", f"vpod-{vpod.name}-controller"
    mine = {"vpod": mark, "project": name}
    servers = [f"{devices[server].facts['management_address']}/32" for server in vpod.poplar_servers]
    return {
        "projects": [{"name": name, "description": f"V-IPU controller of vPOD {vpod.name}", "vpod": mark}],
        "security_groups": [
            {**mine, "name": name, "rules": _reached(cloud.control_sources, ports.user, own.clients)},
            {**mine, "name": inside, "rules": _reached(management.sources, ports.user, servers)},
        ],
        "flavors": [{**mine, "name": flavor, **size(own.machine, trait_name(mark))}],
        "traits": [{"name": trait_name(mark), "vpod": mark, "hypervisors": list(management.hypervisors)}],
        "servers": [
            {
                **mine,
                "name": name,
                "flavor": flavor,
                "image": own.image,
                "key": own.key,
                "volumes": [],
                "ports": [
                    _port(cloud.control_network, cloud.controllers[name], name),
                    _port(management.network, vpod.controller_address, inside),
                ],
            }
        ],
    }


def _reached(operators: Iterable[str], port: int, users: Iterable[str]) -> list[Options]:
    return [*rules(SSH, operators), *rules(port, users)]


def _port(network: str, address: str | None, group: str) -> Options:
    return {"network": network, "address": address, "security_groups": [group], "vnic_type": NORMAL}
