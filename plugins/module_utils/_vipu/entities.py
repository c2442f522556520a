# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of entities that a V-IPU controller holds; their fields are in :mod:`.fields`. Pure."""

from __future__ import annotations

from .._plan.steps import State

AGENT, CLUSTER, ALLOCATION, USER, PARTITION = "agent", "cluster", "allocation", "user", "partition"

# Parents first: an entity only refers to kinds that stand before its own.
KINDS = (AGENT, CLUSTER, ALLOCATION, USER, PARTITION)

ACTIVE, PENDING, ERROR = "ACTIVE", "PENDING", "ERROR"


def plural(kind: str) -> str:
    """The name of a list of that kind, in module options and in the controller's JSON."""
    return f"{kind}s"


def empty_state() -> State:
    """The state of a controller that holds nothing yet."""
    return {kind: {} for kind in KINDS}
