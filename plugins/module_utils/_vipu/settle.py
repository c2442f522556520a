# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a controller when the partitions that matter are no longer on their way."""

from __future__ import annotations

import time
from typing import Any, Callable, Collection, Sequence

from .._plan.converge import DeviceError
from .._plan.steps import Fields, State
from .entities import ERROR, PARTITION, PENDING

LOOK_AGAIN = 0.5


def read_settled(
    controller: Any,
    kinds: Sequence[str],
    partitions: Collection[str],
    limit: float,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> State:
    """The state once none of these partitions is PENDING, or when the time is up, after ``limit`` seconds.

    A partition in ERROR also has its ``errors``.
    """
    until = clock() + limit
    state: State = controller.read(kinds)
    while _any(state, partitions, PENDING) and clock() < until:
        wait(LOOK_AGAIN)
        state.update(controller.read((PARTITION,)))
    with_errors(controller, state, partitions)
    return state


def with_errors(controller: Any, state: State, partitions: Collection[str]) -> None:
    """Add ``errors``, as the controller reports them, to those of these partitions that are in ERROR."""
    for name in _any(state, partitions, ERROR):
        state[PARTITION][name]["errors"] = _errors(controller, name)


def _any(state: State, partitions: Collection[str], status: str) -> list[str]:
    there = state[PARTITION]
    return [name for name in partitions if name in there and there[name].get("status") == status]


def _errors(controller: Any, name: str) -> list[str]:
    """The errors that the controller reports, or why it does not report any."""
    try:
        status: Fields = controller.partition_status(name)
    except DeviceError as error:
        return [str(error)]
    return list(status.get("errors") or [])
