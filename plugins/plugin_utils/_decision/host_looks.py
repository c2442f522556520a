# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a look at a Linux host has read, as the types that plans are made from. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._rnic.server import Link
from ansible_collections.ipu.pod.plugins.module_utils._rnic.server import Server as RnicServer
from ansible_collections.ipu.pod.plugins.module_utils._rnic.uses import Uses
from ansible_collections.ipu.pod.plugins.module_utils._roce.client import TOOL_SETS
from ansible_collections.ipu.pod.plugins.module_utils._roce.survey import Survey as RoceServer
from ansible_collections.ipu.pod.plugins.module_utils._roce.survey import Surveyed

from .from_plain import from_plain


def rnic_server_from(data: Mapping[str, Any]) -> RnicServer:
    """The interfaces of a server, from the part ``links`` of its look."""
    server: RnicServer = from_plain(RnicServer, data)
    return server


def uses_from(data: Mapping[str, Any]) -> Uses:
    """What uses them, from the part ``uses``."""
    uses: Uses = from_plain(Uses, data)
    return uses


def roce_server_from(data: Mapping[str, Any]) -> RoceServer:
    """Their lossless settings, from ``server`` of the part ``roce``; by the kernel's names."""
    return RoceServer(
        TOOL_SETS[data["tools"]],
        from_plain(Mapping[str, Link], data["links"]),
        from_plain(Mapping[str, Surveyed], data["interfaces"]),
    )
