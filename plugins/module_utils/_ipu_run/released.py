# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Frees the IPUs of containers that have ended, and ends containers that have lost their IPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Mapping

from .._plan.converge import DeviceError, Refused
from .._vipu.cli import Controller, NotDone
from .._vipu.dialect import UNKNOWN
from .._vipu.entities import PARTITION
from .engine import ENDED, Engine
from .registry import Record, Registry
from .settings import Settings, Vpod


@dataclass(frozen=True)
class Releases:
    """What a timer does, and each ipu-run before it begins.

    Args:
        connect: the V-IPU controller of a vPOD.
        engine: the engine of that name.
        log: takes one readable line for each event.
    """

    settings: Settings
    registry: Registry
    connect: Callable[[Vpod], Controller]
    engine: Callable[[str], Engine]
    log: Callable[[str], None]

    def release_ended(self) -> list[str]:
        """Look after all containers. Returns a sentence for each thing that could not be done; the rest is."""
        failures: list[str] = []
        containers: dict[str, dict[str, str] | None] = {}
        partitions: dict[str, set[str] | None] = {}
        for name in self.registry.names():
            try:
                record = self.registry.record(name)
                if record is None:
                    self._forget_unfinished(name)
                    continue
                if record.engine not in containers:
                    containers[record.engine] = None
                    containers[record.engine] = self.engine(record.engine).containers()
                if record.vpod not in partitions:
                    partitions[record.vpod] = None
                    partitions[record.vpod] = self._partitions(record)
                self._look_after(record, containers[record.engine], partitions[record.vpod])
            except (DeviceError, Refused) as error:
                failures.append(str(error))
        return failures

    def settle(self, record: Record, containers: Mapping[str, str]) -> bool:
        """Free the IPUs of a container, whose name is held, unless it still runs. Returns whether they are free.

        A container of a session does not outlive the ipu-run that held it: the others have ended, too.
        """
        state = containers.get(record.name)
        if _runs(state) and not record.is_session:
            return False
        if state is not None:
            self.engine(record.engine).remove(record.name)
        if record.owns_partition:
            was_there = remove_partition(self.connect(self._vpod(record)), record.name)
            if record.is_ready and not was_there:
                self.log(f"partition {record.name} was removed by somebody else while its container ran")
        self.registry.forget(record.name)
        return True

    def _look_after(self, record: Record, containers: Mapping[str, str] | None, partitions: set[str] | None) -> None:
        """Containers or partitions that are not known now say nothing."""
        if containers is None:
            return
        is_lost = partitions is not None and record.is_ready and record.name not in partitions
        if is_lost and _runs(containers.get(record.name)):
            # Its IPUoF file names IPUs that somebody else may have by now.
            self.engine(record.engine).remove(record.name)
            self.log(f"ended container {record.name} of {record.user}: its partition is not there any more")
            containers = {}
        with self.registry.held(record.name) as is_held:
            if is_held and self.settle(record, containers):
                has_ended = "whose session has ended" if record.is_session else "which has ended"
                what = f"freed {record.ipus * record.gcds} IPUs of" if record.owns_partition else "removed"
                self.log(f"{what} container {record.name} of {record.user}, {has_ended}")

    def _forget_unfinished(self, name: str) -> None:
        with self.registry.held(name) as is_held:
            if is_held and self.registry.record(name) is None:
                self.registry.forget(name)

    def _partitions(self, record: Record) -> set[str]:
        vpod = self._vpod(record)
        there = self.connect(vpod).read((PARTITION,))[PARTITION]
        return {name for name, fields in there.items() if fields["allocation"] == vpod.allocation}

    def _vpod(self, record: Record) -> Vpod:
        for vpod in self.settings.vpods:
            if vpod.name == record.vpod:
                return vpod
        raise Refused(
            f"container {record.name} is of vPOD {record.vpod}, which this server does not have any more; it keeps its "
            f"record until the vPOD is back, or until its directory in {self.settings.state} is removed"
        )


def remove_partition(controller: Controller, name: str) -> bool:
    """Remove the partition of a container that has ended. Returns whether it was still there."""
    try:
        controller.remove_partition_by_force(name)
    except NotDone as error:
        if error.reason != UNKNOWN:
            raise
        return False
    return True


def _runs(state: str | None) -> bool:
    """Whether a container in that state uses its IPUs, or may begin to; None is one that is not there."""
    return state is not None and state not in ENDED
