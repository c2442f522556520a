# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words for what a NIC does about RoCE, in the order in which it has to be set. Pure.

Settings are ``{setting: value}`` with plain values; None is what the NIC's driver or tools do not have.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping

Settings = Dict[str, Any]

# Pause frames and PFC exclude each other, so pause comes first; the DSCP map needs its trust state.
NAMES = ("pause", "rings", "trust", "dscp_map", "pfc", "buffer_sizes", "ecn", "roce_mode", "roce_tos", "traffic_class")
# These belong to the RDMA device, which appears after its network device.
OF_RDMA_DEVICE = frozenset({"roce_mode", "roce_tos", "traffic_class"})
# These are for connections to come; all others touch what flows already.
OF_NEW_CONNECTIONS = frozenset({"roce_mode", "roce_tos"})

PRIORITIES = range(8)
DSCPS = range(64)
NO_TRAFFIC_CLASS = -1


def dscp_of(tos: int) -> int:
    """The DSCP in a ToS or traffic class byte, whose two lowest bits are ECN's."""
    return tos >> 2


def overlaid(kept: Mapping[str, Any], declared: Mapping[str, Any]) -> Settings:
    """Return declared settings merged over kept ones; of mappings such as ``dscp_map`` only declared entries change."""
    merged = dict(kept)
    for name, value in declared.items():
        old = kept.get(name)
        merged[name] = {**old, **value} if isinstance(value, dict) and isinstance(old, dict) else value
    return merged
