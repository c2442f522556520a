# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for declared partitions: so long and no longer, and with the errors of those that end in ERROR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import AGENT, PARTITION
from ansible_collections.ipu.pod.plugins.module_utils._vipu.settle import LOOK_AGAIN, read_settled


class Controller:
    """Shows one status of partition p after the other, and counts what it is asked."""

    def __init__(self, *statuses: str, mute: bool = False) -> None:
        self.statuses = list(statuses)
        self.mute = mute
        self.reads: list[tuple[str, ...]] = []
        self.now = 0.0

    def read(self, kinds: Sequence[str]) -> State:
        self.reads.append(tuple(kinds))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        state: State = {kind: {} for kind in kinds}
        return {**state, PARTITION: {"p": {"status": status}, "other": {"status": "PENDING"}}}

    def partition_status(self, _name: str) -> dict[str, Any]:
        if self.mute:
            raise DeviceError("not understood")
        return {"status": "ERROR", "errors": ["agent 'a' is down"]}

    def settled(self, limit: float) -> dict[str, Any]:
        def wait(seconds: float) -> None:
            self.now += seconds

        state = read_settled(self, (AGENT, PARTITION), ["p"], limit, lambda: self.now, wait)
        return state[PARTITION]["p"]


def test_what_is_settled_is_read_once() -> None:
    controller = Controller("ACTIVE")
    assert controller.settled(60) == {"status": "ACTIVE"}
    assert controller.reads == [(AGENT, PARTITION)]


def test_partitions_alone_are_read_until_they_are_settled() -> None:
    controller = Controller("PENDING", "PENDING", "ACTIVE")
    assert controller.settled(60) == {"status": "ACTIVE"}
    assert controller.reads == [(AGENT, PARTITION), (PARTITION,), (PARTITION,)]


def test_waiting_has_a_limit() -> None:
    controller = Controller("PENDING")
    assert controller.settled(2) == {"status": "PENDING"}
    assert controller.now == 2
    assert len(controller.reads) == 1 + 2 / LOOK_AGAIN


def test_a_partition_in_error_has_the_controllers_words() -> None:
    assert Controller("ERROR").settled(0)["errors"] == ["agent 'a' is down"]
    assert Controller("ERROR", mute=True).settled(0)["errors"] == ["not understood"]
