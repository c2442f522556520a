# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a virtual machine that runs gets of a vPOD: RNIC port, V-IPU client, IPUoF settings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

from .._pod.clouds import Cloud
from .._pod.devices import Device, devices_of
from .._pod.hypervisors import hypervisors_of, virtual_functions
from .._pod.machines import RunningMachine
from .._pod.model import Declaration, Vpod
from .clouds import rnic_network
from .containers import machine_addresses
from .controllers import gcds_on, user_end_point

Options = dict[str, Any]


def attachment(declaration: Declaration, machine: str, vpod_name: str) -> Options:
    """The settings of a machine and of its port: ``CLOUD/NAME``, or ``HYPERVISOR/DOMAIN`` for a libvirt domain.

    Raises:
        Refused: the machine's place or the vPOD is not declared, or they do not go together.
    """
    place, _slash, name = machine.partition("/")
    vpod = _vpod(declaration, vpod_name)
    refuse_place(declaration, machine)
    devices = devices_of(declaration)
    if place in declaration.clouds:
        server, port = _of_cloud(declaration, declaration.clouds[place], name, vpod, devices)
    else:
        server, port = devices[place], _of_hypervisor(declaration, devices[place], name, vpod, devices)
    client = user_end_point(declaration, vpod, devices)
    if place in declaration.clouds:
        # By its management address machines do not reach it, where the cloud says another.
        client["api_host"] = declaration.clouds[place].controllers.get(client["controller"], client["api_host"])
    return {
        "machine": machine,
        "name": name,
        "vpod": vpod.name,
        "place": place,
        "address": None,
        "user": "root",
        # What goes before, in the same run.
        "leaving": [],
        "leaving_machines": [],
        # Whoever changes the network of these has the lock of their pod.
        "hypervisors": list(vpod.poplar_servers),
        **port,
        "mtu": server.facts["rnic_mtu"] or 0,
        "prefix": server.facts["rnic_prefix"],
        # Begins with a digit: networkd takes what netplan makes in the order of names, and images of clouds have a
        # definition for all NICs, such as all-en of Debian's.
        "interface": f"{vpod.vlan}-vpod",
        "vipu": client,
        "ipuof": vpod.ipuof,
        "partitions": gcds_on(vpod, server, client),
    }


def due(declaration: Declaration, looks: Mapping[str, Any]) -> dict[str, list[Options]]:
    """The attachments of the declared machines: those to ``detach``, and all that there shall be, to ``attach``.

    Args:
        looks: what each cloud and each hypervisor with a declared machine has, as cloud_info and domain_info say it.

    Raises:
        Refused: a machine has a port of a vPOD of which pods.yml knows no more.
    """
    machines = declaration.machines.values()
    leaving = [
        (machine, vpod)
        for machine in machines
        for vpod in attached(looks[machine.place], machine.own_name)
        if vpod != machine.vpod
    ]
    return {
        "detach": [{**attachment(declaration, machine.name, vpod), **_login(machine)} for machine, vpod in leaving],
        "attach": [
            {
                **attachment(declaration, machine.name, machine.vpod),
                **_login(machine),
                "leaving": [vpod for other, vpod in leaving if other == machine],
                "leaving_machines": [other.own_name for other, _vpod in leaving if other.place == machine.place],
            }
            for machine in machines
            if machine.vpod
        ],
    }


def by_hand(declaration: Declaration, machine: str, vpod: str, is_wanted: bool) -> Options:
    """The attachment of one machine that somebody attaches or detaches by hand, with its login if it is declared.

    Raises:
        Refused: pods.yml says otherwise; the next run would undo it.
    """
    settings = attachment(declaration, machine, vpod)
    declared = declaration.machines.get(machine)
    if declared is None:
        return settings
    if (declared.vpod == vpod) != is_wanted:
        raise Refused(
            f"machines.{machine}.vpod in pods.yml is {declared.vpod or 'left out'}, and attachments.yml would undo "
            f"this; {'say ' + vpod + ' there' if is_wanted else 'take it out there'}, and run attachments.yml"
        )
    return {**settings, **_login(declared)}


def attached(look: Mapping[str, Any], name: str) -> list[str]:
    """The vPODs that a machine has ports of which were plugged in from here."""
    if not _is_cloud(look):
        return sorted(look["domains"].get(name, ()))
    ids = _servers(look, name)
    return sorted({port["attached"] for port in look["ports"] if port["attached"] and port["device_id"] in ids})


def is_there(look: Mapping[str, Any], name: str) -> bool:
    """Whether a cloud or a hypervisor has a machine."""
    return bool(_servers(look, name)) if _is_cloud(look) else name in look["domains"]


def refuse_place(declaration: Declaration, machine: str) -> None:
    """Raises Refused: the machine is in no cloud and on no hypervisor of pods.yml."""
    place, _slash, name = machine.partition("/")
    if not name or place not in {*declaration.clouds, *hypervisors_of(declaration)}:
        raise Refused(
            f"machine {machine!r} is not the name of a cloud, a slash and that of a machine in it, like "
            "cloud001/train, or of a hypervisor and a libvirt domain on it, like pod001-poplar4/build1; pods.yml has "
            f"clouds {_listed(declaration.clouds)} and hypervisors {_listed(hypervisors_of(declaration))}"
        )


def reaching(declaration: Declaration, vpod: Vpod, devices: Mapping[str, Device]) -> list[str]:
    """The hypervisors on which a machine reaches the vPOD's IPU-Machines.

    Those that carry it, and, over the datacentre network, those of other racks without virtual functions where a spine
    joins the racks: what frames of a function do is for the vPODs there.
    """
    carriers = [name for name in vpod.poplar_servers if name in hypervisors_of(declaration)]
    cluster = declaration.clusters[vpod.cluster]
    racks = {devices[name].pod for name in vpod.poplar_servers}
    others = [declaration.pods[name] for name in cluster.pods if cluster.spine and name not in racks]
    return [*carriers, *(name for pod in others if not pod.virtual_functions for name in pod.hypervisors)]


def _of_cloud(
    declaration: Declaration, cloud: Cloud, name: str, vpod: Vpod, devices: Mapping[str, Device]
) -> tuple[Device, Options]:
    if vpod.cloud is None or vpod.cloud.name != cloud.name:
        raise Refused(
            f"vPOD {vpod.name} has no network in {cloud.name} that {name} could join; declare vpods.{vpod.name}.cloud "
            "in pods.yml, and run openstack.yml"
        )
    others = {
        other.cloud.project: other.name for other in declaration.vpods_in(cloud.name) if other.cloud and other != vpod
    }
    port = {
        "entry": cloud.entry,
        "network": rnic_network(vpod),
        "control_network": cloud.control_network,
        "reaching": reaching(declaration, vpod, devices),
        "other_vpods": others,
    }
    return devices[vpod.poplar_servers[0]], {"cloud": port, "domain": None}


def _of_hypervisor(
    declaration: Declaration, server: Device, domain: str, vpod: Vpod, devices: Mapping[str, Device]
) -> Options:
    if server.name not in reaching(declaration, vpod, devices):
        raise Refused(
            f"{server.name} does not carry vPOD {vpod.name}; add it to its poplar_servers in pods.yml, and run "
            "vpods.yml"
        )
    pod = declaration.pods[server.pod]
    functions = virtual_functions(pod, server, [vpod])
    number = vpod.virtual_function if functions else None
    if number is not None and vpod.containers:
        raise Refused(
            f"virtual function {number} of {server.name} is for the containers of vPOD {vpod.name}; leave "
            f"vpods.{vpod.name}.containers out in pods.yml, and run vpods.yml, or use another hypervisor"
        )
    port = {
        "domain": domain,
        "rnic": server.facts["rnic_interface"],
        "vlan": vpod.vlan,
        "addresses": [str(each) for each in machine_addresses(pod, server)],
        "function": number,
        "function_mac": "" if number is None else functions[number]["mac"],
    }
    return {"cloud": None, "domain": port}


def _is_cloud(look: Mapping[str, Any]) -> bool:
    """A cloud has domains, too: those of Keystone."""
    return "servers" in look


def _servers(look: Mapping[str, Any], name: str) -> set[str]:
    return {each["id"] for each in look["servers"] if name in (each["id"], each["name"])}


def _login(machine: RunningMachine) -> Options:
    return {"address": machine.address, "user": machine.user}


def _vpod(declaration: Declaration, name: str) -> Vpod:
    if name not in declaration.vpods:
        raise Refused(f"vpod {name!r} is not in pods.yml, which has: {_listed(declaration.vpods)}")
    return declaration.vpods[name]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
