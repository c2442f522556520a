# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions that are no state: what they touch, and why they are refused. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Collection

from .._plan.converge import Refused
from .._plan.steps import DISRUPTIVE, REMOVE, TENANT_OUTAGE, State, Step
from .entities import ALLOCATION, CLUSTER, PARTITION

TEST_CLUSTER, RESET_PARTITION, REMOVE_PARTITION = "test_cluster", "reset_partition", "remove_partition"

# Action to its verb and the kind that it acts on.
ACTIONS = {
    TEST_CLUSTER: ("test", CLUSTER),
    RESET_PARTITION: ("reset", PARTITION),
    REMOVE_PARTITION: (REMOVE, PARTITION),
}


@dataclass(frozen=True)
class Use:
    """The partitions in use by name, None for unknown, which counts as in use; ``despite`` acts even so."""

    partitions: Collection[str] | None = None
    despite: bool = False


def step_of(action: str, name: str, state: State, use: Use) -> Step:
    """The one step that the action is.

    Raises:
        Refused: there is no such entity, or its IPUs are or may be in use.
    """
    verb, kind = ACTIONS[action]
    if name not in state[kind]:
        known = ", ".join(sorted(state[kind])) or "none"
        raise Refused(f"name: {kind} {name} is not on the controller, which has {known}; correct the name")
    touched = [name] if kind == PARTITION else _partitions_in(name, state)
    if touched and not use.despite:
        _refuse_in_use(action, name, touched, use)
    here = f"; partitions on it: {', '.join(touched)}" if touched and kind == CLUSTER else ""
    fields = state[kind][name]
    risk = TENANT_OUTAGE if touched else DISRUPTIVE
    return Step(verb, kind, name, f"is asked for{here}", risk, before=fields, after=None if verb == REMOVE else fields)


def _refuse_in_use(action: str, name: str, touched: list[str], use: Use) -> None:
    if use.partitions is None:
        raise Refused(
            f"{action} {name}: nobody said whether partitions {', '.join(touched)} are in use, and unknown counts as "
            "in use; list in in_use what is, or set even_in_use"
        )
    busy = [partition for partition in touched if partition in use.partitions]
    if busy:
        raise Refused(
            f"{action} {name}: partitions {', '.join(busy)} are in use; end what runs there first, or set even_in_use"
        )


def _partitions_in(cluster: str, state: State) -> list[str]:
    """The partitions on a cluster; one outside of every allocation may lie on any cluster."""
    inside = {name for name, fields in state[ALLOCATION].items() if fields["cluster"] == cluster} | {""}
    return [name for name, fields in state[PARTITION].items() if fields["allocation"] in inside]
