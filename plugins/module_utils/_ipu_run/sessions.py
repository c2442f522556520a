# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts a session from its first server: a container on each of its servers, one partition with a GCD for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Sequence

from .._plan.converge import DeviceError, Refused
from .._vipu.entities import PARTITION
from .allowed import name_for, refuse_beyond, refuse_function, refuse_taken
from .arguments import Arguments
from .document import part_for
from .engine import Engine
from .member import Server, SessionContainer
from .part import READY
from .partitions import Clock, Partitions
from .parts import Link, Parts
from .registry import Record, Registry
from .released import Releases
from .session import Member, as_line, members_from
from .settings import Settings, Vpod
from .user import User

# Between two looks whether the command has ended, in seconds.
_LOOK_AGAIN = 0.2


class Command:
    """A command that runs beside this process's terminal."""

    def status(self) -> int | None:
        """Its exit status, None while it runs."""
        raise NotImplementedError

    def end(self) -> None:
        """End it, if it has not by itself, as its container has."""
        raise NotImplementedError


@dataclass(frozen=True)
class Sessions:
    """Starts sessions.

    Args:
        is_here: whether a name or address is this server's.
        reach: starts a part on another server.
        begin: begins an engine's command.
    """

    settings: Settings
    registry: Registry
    releases: Releases
    partitions: Partitions
    choose_engine: Callable[[str, str], Engine]
    server: Server
    is_here: Callable[[str], bool]
    reach: Callable[[str, User], Link]
    begin: Callable[[Sequence[str]], Command]
    clock: Clock
    terminal: tuple[bool, bool]

    def run(self, asked: Arguments, user: User) -> int:
        """Run a command in the first container of a session. Returns its exit status.

        Raises:
            Refused: it is not possible, and nothing was made.
            DeviceError: something failed, and everything has ended.
        """
        self._refuse_servers(asked.servers)
        vpod = self.settings.vpod(asked.vpod, user.groups)
        refuse_beyond(asked, vpod, user)
        refuse_function(vpod, self.server.host)
        engine = self.choose_engine(vpod.network, asked.engine)
        for failure in self.releases.release_ended():
            self.server.log(failure)
        asked = replace(asked, name=name_for(asked, user), vpod=vpod.name)
        with self.registry.held(asked.name) as is_held:
            refuse_taken(asked.name, is_held, self.registry)
            self._refuse_partition(asked.name, vpod)
            gcds = len(asked.servers)
            record = Record(
                *(asked.name, vpod.name, user.name, asked.ipus // gcds, engine.name, asked.image, self.clock.now()),
                gcds=gcds,
            )
            container = SessionContainer(record, engine, user, self.registry, self.server)
            parts = Parts([self.reach(server, user) for server in asked.servers[1:]])
            try:
                self.registry.write(record)
                members = self._begin(asked, vpod, record, container, parts)
                return self._lead(asked, vpod, engine, container, parts, members)
            finally:
                parts.end()
                self._clear(asked.name, engine)

    def _begin(
        self, asked: Arguments, vpod: Vpod, record: Record, container: SessionContainer, parts: Parts
    ) -> list[Member]:
        """Start all containers, and then make the partition: IPUs are taken when everything else is there."""
        # While they are waited for, nobody may go.
        partitions = replace(self.partitions, clock=replace(self.clock, sleep=parts.watch))
        try:
            parts.tell([part_for(asked, gcd) for gcd in range(1, record.gcds)])
            own = container.start(asked, vpod)
            members = [own, *(_member(server, line) for server, line in parts.answers())]
            _refuse_namesakes(asked.servers, members)
            partitions.take(record, vpod, asked.ipus, asked.wait)
        except (DeviceError, Refused):
            # There is no partition, or none that is ours.
            self._remove(container)
            self.registry.forget(record.name)
            raise
        self.registry.write(replace(record, is_ready=True, servers={member.name: member.address for member in members}))
        return members

    def _lead(
        self,
        asked: Arguments,
        vpod: Vpod,
        engine: Engine,
        container: SessionContainer,
        parts: Parts,
        members: Sequence[Member],
    ) -> int:
        container.join(members)
        parts.tell([as_line(members)] * len(members[1:]))
        for server, line in parts.answers():
            if line != READY:
                raise DeviceError(f"server {server}: is not ready: {line}")
        where = ", ".join(member.name for member in members)
        self.server.log(
            f"session {asked.name} has {asked.ipus} IPUs of vPOD {vpod.name} on {where}; containers of one vPOD share "
            "a VLAN, and are not isolated from each other"
        )
        return self._run_command(engine.exec_words(asked.name, asked.command, *self.terminal), container, parts)

    def _run_command(self, words: Sequence[str], container: SessionContainer, parts: Parts) -> int:
        command = self.begin(words)
        try:
            while True:
                status = command.status()
                if status is not None:
                    return status
                parts.watch(_LOOK_AGAIN)
        finally:
            if command.status() is None:
                # The engine's client ends with the container, and then leaves the terminal as it was.
                self._remove(container)
                command.end()

    def _remove(self, container: SessionContainer) -> None:
        try:
            container.remove()
        except DeviceError as error:
            self.server.log(f"{error}; the container is removed when the engine answers")

    def _clear(self, name: str, engine: Engine) -> None:
        """Remove the container and the partition, or let the timer do so."""
        try:
            record = self.registry.record(name)
            if record:
                self.releases.settle(record, engine.containers())
        except DeviceError as error:
            self.server.log(f"{error}; the IPUs of session {name} are freed when that is over")

    def _refuse_servers(self, servers: Sequence[str]) -> None:
        first, *others = servers
        if not self.is_here(first):
            raise Refused(
                f"--servers: {first} is not this server, {self.server.host}; name this one first, or run it there"
            )
        for server in others:
            if self.is_here(server):
                raise Refused(f"--servers: {server} is this server, too; name each server once")

    def _refuse_partition(self, name: str, vpod: Vpod) -> None:
        """Early, as a partition that is there must stay whatever happens from here on."""
        if name in self.partitions.connect(vpod).read((PARTITION,))[PARTITION]:
            raise Refused(f"partition {name} is there and belongs to no container here; give another --name")


def _member(server: str, line: str) -> Member:
    try:
        (member,) = members_from(line)
    except (DeviceError, ValueError) as error:
        raise DeviceError(f"server {server}: {error}") from None
    return member


def _refuse_namesakes(servers: Sequence[str], members: Sequence[Member]) -> None:
    known: dict[str, str] = {}
    for server, member in zip(servers, members):
        if member.name in known:
            raise Refused(f"--servers: {known[member.name]} and {server} are both called {member.name}; name each once")
        known[member.name] = server
