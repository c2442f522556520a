# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a vPOD's machines in a cloud need of its V-IPU controller, and that of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

from .._pod.clouds import Cloud, CloudShare
from .._pod.devices import Device, devices_of
from .._pod.model import Declaration, Vpod
from .controllers import gcds_on, user_end_point

Options = dict[str, Any]


def cloud_vpods(declaration: Declaration, name: str | None = None) -> list[Options]:
    """What vPODs in clouds have to do with the host of their ``controller``, of all or of the one called ``name``.

    ``settings`` are the variables of the role vpod for its machines, ``partitions`` its entry in those of the role
    cloud_partitions.

    Raises:
        Refused: that one is not declared, or has nothing in a cloud.
    """
    if name is not None and name not in declaration.vpods:
        known = ", ".join(sorted(declaration.vpods)) or "none"
        raise Refused(f"vpod {name!r} is not in pods.yml, which has: {known}")
    devices = devices_of(declaration)
    found = [
        _cloud_vpod(declaration, vpod, vpod.cloud, devices)
        for vpod in declaration.vpods.values()
        if vpod.cloud and name in (None, vpod.name)
    ]
    if name is not None and not found:
        raise Refused(f"vpod {name!r} has nothing in a cloud; give it a cloud in pods.yml, and run openstack.yml")
    return found


def machine_settings(
    declaration: Declaration, cloud: Cloud, vpod: Vpod, share: CloudShare, devices: Mapping[str, Device]
) -> Options:
    """The variables of the role vpod for a vPOD's machines, which may land on any of its hypervisors."""
    client = user_end_point(declaration, vpod, devices)
    client["api_host"] = cloud.controllers.get(client["controller"], client["api_host"])
    gcds = [gcd for name in vpod.poplar_servers for gcd in gcds_on(vpod, devices[name], client)]
    return {
        "vpod_vipu": client,
        "vpod_ipuof": vpod.ipuof,
        "vpod_partitions": [gcd for place, gcd in enumerate(gcds) if gcd not in gcds[:place]],
        "vpod_owner": share.login,
        "vpod_group": share.login,
    }


def _cloud_vpod(declaration: Declaration, vpod: Vpod, share: CloudShare, devices: Mapping[str, Device]) -> Options:
    settings = machine_settings(declaration, declaration.clouds[share.name], vpod, share, devices)
    client = settings["vpod_vipu"]
    is_own_administrator = client["dedicated"] and client["user"]
    return {
        "name": vpod.name,
        "controller": client["controller"],
        "settings": settings,
        "partitions": {
            "name": vpod.name,
            "cloud": share.name,
            "project": share.project,
            "domain": share.domain,
            "declared": [partition.name for partition in vpod.partitions],
            "admin_port": client["admin_port"],
            "vipu_config": f"/etc/vipu/vipu-admin-{vpod.name}.hcl" if is_own_administrator else "",
        },
    }
