# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory that follows from a declaration: hosts with their variables, and the groups. Names are public API."""

from __future__ import annotations

import re
from typing import Any

from .._pod.devices import (
    CLOUD,
    CONTROLLER,
    IPU_MACHINE,
    MANAGEMENT_SWITCH,
    POPLAR_SERVER,
    TOR,
    Device,
    cluster_agents,
    devices_of,
)
from .._pod.hypervisors import hypervisors_of
from .._pod.managed import unmanaged, wholly_unmanaged
from .._pod.model import CONTROLLER_LAYER, FILES, SERVERS_LAYER, SWITCH_LAYER, Controller, Declaration, Vpod
from .stages import STAGE_NAMES, group_of

EVERYTHING = "ipu_pods"
GROUP_OF_KIND = {
    TOR: "tor_switches",
    MANAGEMENT_SWITCH: "management_switches",
    POPLAR_SERVER: "poplar_servers",
    IPU_MACHINE: "ipu_machines",
    CONTROLLER: "vipu_controllers",
    CLOUD: "clouds",
}
SWITCHES = "switches"
CONTROLLERS, CLOUDS = GROUP_OF_KIND[CONTROLLER], GROUP_OF_KIND[CLOUD]
# Devices that are only read: those with no managed layer, and by layer, as a server may be a controller too.
UNMANAGED = "ipu_pod_unmanaged"
UNMANAGED_OF_LAYER = {
    SWITCH_LAYER: "ipu_pod_unmanaged_switches",
    SERVERS_LAYER: "ipu_pod_unmanaged_servers",
    CONTROLLER_LAYER: "ipu_pod_unmanaged_controllers",
}
# Filled by a run: the hosts of the vPODs that it is about alone, those that it changes, one of them where the rest is
# decided later, the Poplar servers whose RDMA NICs are all down, and the devices of each stage.
CONCERNED, CHANGING, UNDECIDED = "ipu_pod_concerned", "ipu_pod_changing", "ipu_pod_undecided"
IDLE = "ipu_pod_idle"
STAGES = tuple(group_of(name) for name in STAGE_NAMES)
# The Poplar servers of the vPOD whose IPUs are Slurm's, and of that whose IPUs are Backend.AI's.
SLURM_NODES, BACKEND_AI_AGENTS = "slurm_nodes", "backend_ai_agents"
# The hypervisor and the machine that the playbooks attach and detach are about.
ATTACHMENT = ("ipu_pod_attach", "ipu_pod_detach", "ipu_pod_attach_places")
# Filled by the owner's other inventory files: the Slurm controllers, and hosts where people only submit jobs.
FILLED_BY_OWNERS = ("slurm_controllers", "slurm_clients")
FILLED_BY_RUNS = (CONCERNED, CHANGING, UNDECIDED, IDLE, *STAGES, SLURM_NODES, BACKEND_AI_AGENTS, *ATTACHMENT)
FIXED_GROUPS = (
    *("all", "ungrouped", EVERYTHING, SWITCHES, *GROUP_OF_KIND.values()),
    *(UNMANAGED, *UNMANAGED_OF_LAYER.values(), *FILLED_BY_RUNS, *FILLED_BY_OWNERS),
)
# An IPU-Machine is reached at its gateway, everything else at its management address.
ADDRESS_OF_KIND = {IPU_MACHINE: "gateway_address"}


def host_variables(declaration: Declaration) -> dict[str, dict[str, Any]]:
    """Host name to its variables, in the order of the racks."""
    vlans = _declared_vlans(declaration)
    variables = {device.name: _variables(device, vlans.get(device.name)) for device in devices_of(declaration).values()}
    for controller in declaration.controllers.values():
        variables.get(controller.host_name, {}).update(_controller_variables(declaration, controller))
    for machine in declaration.machines.values():
        if machine.place not in declaration.clouds:
            variables[machine.place]["ipu_pod_has_machines"] = True
    for vpod in (*declaration.absent.values(), *declaration.vpods.values()):
        of_its_controller = variables.get(declaration.dedicated_host(vpod), {})
        for name, values in _of_vpod(declaration, vpod).items():
            of_its_controller[name] = [*of_its_controller.get(name, ()), *values]
    return variables


def pod_groups(declaration: Declaration) -> dict[str, list[str]]:
    """One group a pod, named as the pod: its devices. All of them are children of :data:`EVERYTHING`."""
    devices = devices_of(declaration).values()
    return {group_name(pod): [device.name for device in devices if device.pod == pod] for pod in declaration.pods}


def groups(declaration: Declaration) -> dict[str, list[str]]:
    """The other groups, each in the order in which devices are changed: canaries come first.

    :data:`FIXED_GROUPS` always exist, even empty. Beside them, ``cluster_NAME`` has the IPU-Machines of a cluster and
    its controller, and ``vpod_NAME`` the Poplar servers of a vPOD and the IPU-Machines that it is pinned to.
    """
    always = (*GROUP_OF_KIND.values(), *FILLED_BY_RUNS, *FILLED_BY_OWNERS)
    result: dict[str, list[str]] = {group: [] for group in always}
    for device in canaries_first(declaration):
        result[GROUP_OF_KIND[device.kind]].append(device.name)
    result[SWITCHES] = [*result[GROUP_OF_KIND[TOR]], *result[GROUP_OF_KIND[MANAGEMENT_SWITCH]]]
    for controller in declaration.controllers.values():
        if controller.host_name not in result[CONTROLLERS]:
            result[CONTROLLERS].append(controller.host_name)
    for cluster in declaration.clusters.values():
        controller_host = declaration.controllers[cluster.controller].host_name
        result[group_name(f"cluster_{cluster.name}")] = [controller_host, *cluster_agents(declaration, cluster.name)]
    for vpod in (*declaration.vpods.values(), *declaration.absent.values()):
        result[group_name(f"vpod_{vpod.name}")] = [*vpod.poplar_servers, *vpod.ipu_machines]
    result[UNMANAGED] = wholly_unmanaged(declaration)
    result.update({UNMANAGED_OF_LAYER[layer]: hosts for layer, hosts in unmanaged(declaration).items()})
    return result


def canaries_first(declaration: Declaration) -> list[Device]:
    """All devices: the canaries, the others of their pods, and then those of the pods without one."""
    canaries = {name for pod in declaration.pods.values() for name in pod.canary}
    pods = {name for name, pod in declaration.pods.items() if pod.canary}
    return sorted(
        devices_of(declaration).values(), key=lambda device: (device.name not in canaries, device.pod not in pods)
    )


def _declared_vlans(declaration: Declaration) -> dict[str, int]:
    """The VLAN of each RNIC as far as the declaration alone tells: by pod, then by vPOD for servers and pins."""
    vlans = {
        device.name: vlan
        for device in devices_of(declaration).values()
        if device.kind in (POPLAR_SERVER, IPU_MACHINE)
        for vlan in [declaration.pods[device.pod].rest_vlan]
        if vlan is not None
    }
    hypervisors = hypervisors_of(declaration)
    for vpod in declaration.vpods.values():
        if vpod.vlan is not None:
            bare_metal = [name for name in vpod.poplar_servers if name not in hypervisors]
            vlans.update(dict.fromkeys((*bare_metal, *vpod.ipu_machines), vpod.vlan))
    return vlans


def group_name(name: str) -> str:
    """A name that Ansible accepts for a group: everything but letters, digits and ``_`` becomes ``_``."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _controller_variables(declaration: Declaration, controller: Controller) -> dict[str, Any]:
    devices = devices_of(declaration)
    return {
        "vipu_controller_mode": controller.mode,
        "vipu_controller_user_port": controller.user_port,
        "vipu_controller_admin_port": controller.admin_port,
        "vipu_agents": [
            {"name": name, "host": devices[name].facts["gateway_address"]}
            for cluster in declaration.clusters.values()
            if cluster.controller == controller.name
            for name in cluster_agents(declaration, cluster.name)
        ],
    }


def _of_vpod(declaration: Declaration, vpod: Vpod) -> dict[str, list[str]]:
    """What the host of a vPOD's controller has to know of it."""
    has_files = vpod.ipuof == FILES and vpod.partitions and vpod.name in declaration.vpods
    may_have_its_own = vpod.is_dedicated or vpod.name in declaration.absent
    return {
        **({"vipu_ipuof_partitions": [partition.name for partition in vpod.partitions]} if has_files else {}),
        **({"vipu_dedicated_vpods": [vpod.name]} if may_have_its_own else {}),
    }


def _variables(device: Device, vlan: int | None) -> dict[str, Any]:
    variables = {name: value for name, value in device.facts.items() if value is not None}
    if vlan is not None:
        variables["rnic_vlan"] = vlan
    if device.kind == CLOUD:
        return {**variables, "ansible_connection": "local", "ansible_become": False}
    variables["ansible_host"] = variables[ADDRESS_OF_KIND.get(device.kind, "management_address")]
    return variables
