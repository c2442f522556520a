# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a virtual machine on a hypervisor gets of a vPOD: RNIC port, V-IPU client, IPUoF settings. Pure."""

from __future__ import annotations

from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

from .._pod.devices import devices_of
from .._pod.hypervisors import hypervisors_of, virtual_functions
from .._pod.model import Declaration, Vpod
from .containers import machine_addresses
from .controllers import gcds_on, user_end_point

Options = dict[str, Any]


def attachment(declaration: Declaration, machine: str, vpod_name: str) -> Options:
    """The settings of a machine, ``HYPERVISOR/DOMAIN``, and of its port.

    Raises:
        Refused: the machine or the vPOD is not declared, or they do not go together.
    """
    hypervisor, _slash, domain = machine.partition("/")
    vpod = _vpod(declaration, vpod_name)
    if not domain or hypervisor not in hypervisors_of(declaration):
        names = ", ".join(sorted(hypervisors_of(declaration))) or "none"
        raise Refused(
            f"machine {machine!r} is not the name of a hypervisor, a slash and that of a libvirt domain on it, like "
            f"pod001-poplar4/build1; hypervisors in pods.yml: {names}"
        )
    if hypervisor not in vpod.poplar_servers:
        raise Refused(
            f"{hypervisor} does not carry vPOD {vpod.name}; add it to its poplar_servers in pods.yml, and run vpods.yml"
        )
    devices = devices_of(declaration)
    server = devices[hypervisor]
    pod = declaration.pods[server.pod]
    functions = virtual_functions(pod, server, [vpod])
    number = vpod.virtual_function if functions else None
    client = user_end_point(declaration, vpod, devices)
    return {
        "hypervisor": hypervisor,
        "domain": domain,
        "rnic": server.facts["rnic_interface"],
        "vlan": vpod.vlan,
        "mtu": server.facts["rnic_mtu"] or 0,
        "prefix": server.facts["rnic_prefix"],
        "addresses": [str(each) for each in machine_addresses(pod, server)],
        "function": number,
        "function_mac": "" if number is None else functions[number]["mac"],
        "interface": f"vpod{vpod.vlan}",
        "vipu": client,
        "ipuof": vpod.ipuof,
        "partitions": gcds_on(vpod, server, client),
    }


def _vpod(declaration: Declaration, name: str) -> Vpod:
    if name not in declaration.vpods:
        raise Refused(f"vpod {name!r} is not in pods.yml, which has: {', '.join(sorted(declaration.vpods)) or 'none'}")
    return declaration.vpods[name]
