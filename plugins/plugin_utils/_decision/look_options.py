# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a look for each kind of device. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .._host_resources.containers import looked_by_containers
from .._host_resources.plain_data import looked_resources
from .._host_resources.poplar_server import poplar_server_resources
from .._host_resources.vipu_controller import looked_controllers, vipu_controller_resources
from .._host_resources.vpod import looked_by_vpod, program_resources
from .machine_findings import DOMAINS

SERVER_PARTS = ("links", "network", "uses", "roce", "nics", "use", "ipuof", "containers", "leases")
HYPERVISOR_PARTS = (DOMAINS,)
CONTROLLER_PARTS = ("controllers",)
COMMON_PARTS = ("things",)
PARTS = (*SERVER_PARTS, *HYPERVISOR_PARTS, *CONTROLLER_PARTS, *COMMON_PARTS)

Arguments = dict[str, Any]


def asked_of_host(
    groups: Collection[str],
    settings: Mapping[str, Any],
    partitions: Sequence[str],
    dedicated: Sequence[str],
    has_machines: bool = False,
) -> Arguments:
    """The options of host_look for a Poplar server, the host of a V-IPU controller, or one that is both.

    ``settings`` are the roles' variables for it. The controller there gives the IPUoF configurations of ``partitions``;
    ``dedicated`` are the vPODs that have, or may have had, a controller of their own there. ``has_machines`` where
    pods.yml declares libvirt domains of it.
    """
    is_server, is_controller = "poplar_servers" in groups, "vipu_controllers" in groups
    parts = (
        *(SERVER_PARTS * is_server),
        *(HYPERVISOR_PARTS * has_machines),
        *(CONTROLLER_PARTS * is_controller),
        *COMMON_PARTS,
    )
    asked: Arguments = {
        "parts": list(parts),
        "minimum_speed": settings["preflight_minimum_speed"],
        "minimum_firmware": settings["preflight_minimum_firmware"],
        "roce_tools": settings["poplar_server_roce_tools"],
    }
    resources = []
    if is_server:
        resources += [*poplar_server_resources(settings), *program_resources(settings)]
    if is_controller:
        resources += vipu_controller_resources(settings)
        asked["controllers"] = [
            {
                "name": "",
                "admin_port": settings["vipu_controller_admin_port"],
                "storage": settings["vipu_controller_storage"],
            }
        ]
        asked["dedicated_units"] = True
        asked["ipuof_configurations"] = list(partitions)
    found = looked_resources(resources)
    more = [looked_by_vpod(settings, is_server, is_controller)]
    if is_server:
        more.append(looked_by_containers())
    if is_controller:
        more.append(looked_controllers(settings, dedicated))
    for each in more:
        for name, values in each.items():
            found[name] = list(dict.fromkeys([*found.get(name, []), *values]))
    return {**asked, **found}
