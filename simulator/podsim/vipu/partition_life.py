# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How partitions live: operations end, agents get lost and come back, partitions reset themselves. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from podsim.vipu.entities import WORKING, Partition, State
from podsim.vipu.placement import aligned_blocks, usable_positions, used_positions

MAX_AUTO_RESETS = 10


class Conditions(NamedTuple):
    """The conditions from outside on which the states of partitions depend.

    `down` are agents; `failing` says why a partition cannot come up now, '' when it can; times are in seconds.
    """

    now: float
    down: Collection[str]
    failing: Callable[[Partition], str]
    reset_time: float
    auto_reset_delay: float


def settle(state: State, conditions: Conditions) -> State:
    """Ends the operations that are due, fails partitions that lost an agent, resets those that can work again."""
    for partition in state.partitions.values():
        working = partition.operation_state in WORKING
        if working and partition.due > conditions.now:
            continue
        if partition.operation_state == "POS_REMOVING":
            state = replace(state, partitions={k: p for k, p in state.partitions.items() if k != partition.id})
        elif working:
            state = state.with_partition(_ended(state, partition, conditions))
        elif partition.ready_state == "PS_ERROR":
            state = _auto_reset(state, partition, conditions)
        elif conditions.down:
            state = _watched(state, partition, conditions)
    return state


def _ended(state: State, partition: Partition, conditions: Conditions) -> Partition:
    """The partition after its creation or reset."""
    errors = _losses(state, partition, conditions)
    refusal = conditions.failing(partition)
    if refusal:
        errors += (refusal,)
    return _failed(partition, errors, conditions) if errors else _active(partition)


def _watched(state: State, partition: Partition, conditions: Conditions) -> State:
    """An active partition fails when it loses an agent."""
    errors = _losses(state, partition, conditions)
    return state.with_partition(_failed(partition, errors, conditions)) if errors else state


def _auto_reset(state: State, partition: Partition, conditions: Conditions) -> State:
    """A partition in error is reset after a while: once its agents are back, or on other IPUs if it may move."""
    due = partition.due <= conditions.now
    if not due or not partition.auto_reset or partition.auto_resets >= MAX_AUTO_RESETS:
        return state
    positions: Sequence[int] | None = partition.positions
    if _losses(state, partition, conditions):
        positions = _elsewhere(state, partition, conditions.down) if partition.relocatable else None
    if positions is None:
        return state
    resetting = replace(
        partition,
        positions=tuple(positions),
        ready_state="PS_PENDING",
        operation_state="POS_RESETTING",
        auto_resets=partition.auto_resets + 1,
        last_auto_reset=conditions.now,
        due=conditions.now + conditions.reset_time,
    )
    return state.with_partition(resetting)


def _losses(state: State, partition: Partition, conditions: Conditions) -> tuple[str, ...]:
    lost = [agent_id for agent_id in state.agents_of(partition) if agent_id in conditions.down]
    return tuple(f"agent '{agent_id}' is down" for agent_id in lost)


def _failed(partition: Partition, errors: tuple[str, ...], conditions: Conditions) -> Partition:
    due = conditions.now + conditions.auto_reset_delay
    return replace(partition, ready_state="PS_ERROR", operation_state="POS_FAILED", errors=errors, due=due)


def _active(partition: Partition) -> Partition:
    return replace(partition, ready_state="PS_ACTIVE", operation_state="POS_IDLE", errors=())


def _elsewhere(state: State, partition: Partition, down: Collection[str]) -> list[int] | None:
    """Another free block for a partition that has lost an agent; its own IPUs count as free."""
    cluster = state.clusters[partition.cluster_id]
    others = used_positions(state, cluster) - set(partition.positions)
    free = usable_positions(state, cluster, partition.allocation_id) - others
    for block in aligned_blocks(cluster.size, cluster.domain_ipus, partition.size):
        moved = replace(partition, positions=tuple(block))
        if free.issuperset(block) and not set(state.agents_of(moved)) & set(down):
            return list(block)
    return None
