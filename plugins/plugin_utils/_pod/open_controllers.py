# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""V-IPU controllers that keep tenants apart from nobody. Pure."""

from __future__ import annotations

from .model import ABSENT, Controller, Declaration


def open_controllers(declaration: Declaration) -> list[str]:
    """One sentence for each controller that several vPODs share and that authenticates nobody."""
    shared = {
        controller.name: _sharing(declaration, controller)
        for controller in declaration.controllers.values()
        if not controller.is_secure
    }
    return [
        f"controllers.{name}.mode: insecure, with {len(vpods)} vPODs ({', '.join(vpods)}); whoever reaches its ports, "
        "each tenant among them, can use, change and remove what all of them have; declare it as secure, or give "
        "vPODs a dedicated controller"
        for name, vpods in shared.items()
        if len(vpods) > 1
    ]


def _sharing(declaration: Declaration, controller: Controller) -> list[str]:
    return [
        vpod.name
        for vpod in declaration.vpods.values()
        if vpod.state != ABSENT
        and not vpod.is_dedicated
        and declaration.clusters[vpod.cluster].controller == controller.name
    ]
