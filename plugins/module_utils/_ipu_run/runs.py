# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts a container that has IPUs of its own, and frees them when it has ended."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Callable, Sequence

from .._plan.converge import DeviceError, Refused
from .allowed import devices_of, name_for, refuse_beyond, refuse_taken, volumes_of
from .arguments import Arguments
from .engine import Container, Engine
from .functions import Functions, Opened
from .partitions import Clock, Partitions
from .registry import Record, Registry
from .released import Releases
from .settings import Settings
from .user import User


@dataclass(frozen=True)
class Runs:
    """Starts containers.

    Args:
        execute: runs the engine's command beside this process's terminal. Returns its exit status.
        shared_memory: the size of a container's ``/dev/shm``, if the user says none.
    """

    settings: Settings
    registry: Registry
    releases: Releases
    partitions: Partitions
    choose_engine: Callable[[str, str], Engine]
    execute: Callable[[Sequence[str]], int]
    log: Callable[[str], None]
    clock: Clock
    terminal: tuple[bool, bool]
    shared_memory: str
    functions: Functions = field(default_factory=Functions)

    def run(self, asked: Arguments, user: User) -> int:
        """Run a container to its end, or detached. Returns the exit status.

        Raises:
            Refused: it is not possible, and nothing was made.
            DeviceError: something failed; what was made goes again, now or by the timer.
        """
        vpod = self.settings.vpod(asked.vpod, user.groups)
        refuse_beyond(asked, vpod, user)
        engine = self.choose_engine(vpod.network, asked.engine)
        opened = self.functions.open(vpod.function, vpod.network, engine) if vpod.function else Opened()
        for failure in self.releases.release_ended():
            self.log(failure)
        name = name_for(asked, user)
        with self.registry.held(name) as is_held:
            refuse_taken(name, is_held, self.registry)
            record = Record(name, vpod.name, user.name, asked.ipus, engine.name, asked.image, self.clock.now())
            self.registry.write(record)
            try:
                configuration = self.partitions.take(record, vpod, asked.ipus, asked.wait)
            except (DeviceError, Refused):
                self.registry.forget(name)
                raise
            record = replace(record, is_ready=True)
            container = Container(
                name=name,
                image=asked.image,
                command=asked.command,
                network=vpod.network,
                configuration=configuration,
                devices=devices_of(vpod, self.log, opened),
                environment=asked.environment,
                volumes=volumes_of(asked, user),
                shared_memory=asked.shared_memory or self.shared_memory,
                mac=opened.mac,
            )
            self.log(
                f"container {name} has {asked.ipus} IPUs of vPOD {vpod.name}; containers of one vPOD share a VLAN, and "
                "are not isolated from each other"
            )
            status = self.execute(engine.run_words(container, user, *self.terminal, asked.detaches))
            if not asked.detaches or status:
                self._finish(record, engine)
        return status

    def _finish(self, record: Record, engine: Engine) -> None:
        """The engine's client has ended; so has the container, unless the engine has crashed."""
        later = f"the IPUs of container {record.name} are freed when it has ended"
        try:
            if not self.releases.settle(record, engine.containers()):
                self.log(f"{engine.name} was interrupted, and the container runs on; {later}")
        except DeviceError as error:
            self.log(f"{error}; {later}")
