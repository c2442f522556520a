# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the partitions of containers, and says who has the IPUs if too few are free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable

from .._plan.converge import DeviceError, Refused
from .._plan.steps import CREATE, Step
from .._vipu.cli import Controller, NotDone
from .._vipu.dialect import EXISTS, NO_ROOM
from .._vipu.entities import PARTITION
from .registry import Record, Registry
from .released import Releases, remove_partition
from .settings import Function, Vpod

# Seconds between two looks for free IPUs.
_LOOK_AGAIN = 1.0


@dataclass(frozen=True)
class Clock:
    """The time in seconds since 1970, and a way to wait."""

    now: Callable[[], float]
    sleep: Callable[[float], None]


class NoRoom(Refused):
    """So many IPUs are not free now."""


@dataclass(frozen=True)
class Partitions:
    """Partitions on the V-IPU controllers that ``connect`` reaches."""

    registry: Registry
    releases: Releases
    connect: Callable[[Vpod], Controller]
    log: Callable[[str], None]
    clock: Clock

    def take(self, record: Record, vpod: Vpod, ipus: int, wait: float) -> str:
        """Make a partition for a container, with as many GCDs as its session has servers, and note it.

        Args:
            ipus: how many all of them have together.
            wait: how long to wait until so many are free, in seconds.

        Returns the directory of the container's IPUoF configuration.

        Raises:
            Refused: they are not free, or the name is taken.
            DeviceError: the controller failed; what was made is gone again.
        """
        # Of those who want a function of the RNIC, one at a time may look who has it.
        is_in_turn = wait or vpod.function
        return self._take_in_turn(record, vpod, ipus, wait) if is_in_turn else self._take(record, vpod, ipus)

    def _take_in_turn(self, record: Record, vpod: Vpod, ipus: int, wait: float) -> str:
        until, is_told = self.clock.now() + wait, False
        with self.registry.in_turn(vpod.name, wait) as is_first:
            if not is_first:
                raise Refused(f"others wait for IPUs, too, and {wait:g} s are over")
            while True:
                try:
                    return self._take(record, vpod, ipus)
                except NoRoom as error:
                    if self.clock.now() >= until:
                        raise
                    if not is_told:
                        self.log(f"waiting up to {wait:g} s: {error}")
                        is_told = True
                self.clock.sleep(_LOOK_AGAIN)
                self.releases.release_ended()

    def _take(self, record: Record, vpod: Vpod, ipus: int) -> str:
        if vpod.function:
            self._refuse_second(record, vpod.function)
        controller = self.connect(vpod)
        fields = {"size": ipus, "allocation": vpod.allocation, **({"gcds": record.gcds} if record.is_session else {})}
        try:
            controller.carry_out(Step(CREATE, PARTITION, record.name, "a container asks for it", after=fields))
        except NotDone as error:
            if error.reason == NO_ROOM:
                raise NoRoom(self._who_has_them(ipus, vpod, controller)) from None
            if error.reason == EXISTS:
                raise Refused(
                    f"partition {record.name} is there and belongs to no container here; give another --name"
                ) from None
            self._clear(controller, record)
            raise
        try:
            configuration = controller.ipuof_configuration(record.name, record.gcd)
            directory = self.registry.write_configuration(record.name, configuration)
        except DeviceError:
            self._clear(controller, record)
            raise
        self.registry.write(replace(record, is_ready=True))
        return directory

    def _refuse_second(self, record: Record, function: Function) -> None:
        """The NIC takes one MAC address of a function, so that one container can have it."""
        for other in self.registry.read().values():
            if other.vpod == record.vpod and other.name != record.name and other.is_ready:
                raise NoRoom(f"container {other.name} of {other.user} has {function}, which one has at a time")

    def _clear(self, controller: Controller, record: Record) -> None:
        """Remove what was half made."""
        try:
            remove_partition(controller, record.name)
        except DeviceError as error:
            raise DeviceError(f"{error}; remove partition {record.name} when its controller answers") from None

    def _who_has_them(self, ipus: int, vpod: Vpod, controller: Controller) -> str:
        there = controller.read((PARTITION,))[PARTITION]
        held = self.registry.read()
        have = []
        for name, fields in sorted(there.items()):
            if fields["allocation"] == vpod.allocation:
                owner = f"container {name} of {held[name].user}" if name in held else f"partition {name}"
                have.append(f"{owner} has {fields['size']}")
        whose = ", ".join(have) or "no partition has any"
        return f"{ipus} IPUs are not free together in vPOD {vpod.name}, which has {vpod.ipus}: {whose}"
