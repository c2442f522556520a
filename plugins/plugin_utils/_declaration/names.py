# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names that hosts of the inventory must not have, as something else has them."""

from __future__ import annotations

from .._inventory.hosts import FIXED_GROUPS
from .._pod.devices import devices_of_pod
from .._pod.model import Declaration


def taken_names(declaration: Declaration) -> dict[str, str]:
    """Each name with what has it, in words: groups that always exist, pods with their devices, and controllers."""
    pods = declaration.pods.values()
    return {
        **dict.fromkeys(FIXED_GROUPS, "a group that always exists"),
        **{pod.name: f"pods.{pod.name}" for pod in pods},
        **{device.name: f"a device of {pod.name}" for pod in pods for device in devices_of_pod(pod)},
        **{name: f"controllers.{name}" for name in declaration.controllers},
    }
