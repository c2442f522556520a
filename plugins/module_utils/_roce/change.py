# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What forbids to change lossless settings, by one survey of a server. Pure.

The module has it from the server itself, a plan from a look at it.
"""

from __future__ import annotations

from typing import Mapping, Sequence

from .._plan.converge import Refused
from .._plan.steps import Step
from .._rnic.server import Link, management
from .._rnic.server import Server as Links
from .._rnic.targets import devices_of
from .._rnic.uses import Uses
from .declared import RoceInterface


def devices_on(server: Links, interfaces: Sequence[RoceInterface]) -> dict[str, str]:
    """The device of each declared interface, by declared name.

    Raises:
        Refused: one of them is not there, or is what the server is managed through.
    """
    reserved = management(server)
    devices = devices_of(server, [interface.nic for interface in interfaces])
    for name, device in devices.items():
        if device in reserved:
            raise Refused(f"interface {name}: {device} {reserved[device]} and is never changed; declare RNICs only")
    return devices


def refuse_used(steps: Sequence[Step], uses: Uses, links: Mapping[str, Link]) -> None:
    """Refuse steps that RDMA queue pairs would feel.

    Args:
        steps: those that are felt.
        uses: who has queue pairs right now.
        links: every network device by its kernel name.

    Raises:
        Refused: the first step that is felt, and by whom.
    """
    for step in steps:
        device = (step.before or {})["device"]
        words = uses.of(device, links)
        if words:
            raise Refused(f"interface {step.name}: {device} is in use: {'; '.join(words)}; end that first")
