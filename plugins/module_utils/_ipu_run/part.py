# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One of the other servers of a session: it starts its container, and ends with the first server's ipu-run.

It reads what is asked for, answers with its container, reads all containers, and answers that it is ready. What it
reads comes from somebody who may be here what its user may be, and nothing more.
"""

from __future__ import annotations

import os
import select
import time
from dataclasses import dataclass, replace
from typing import IO, Callable

from .._plan.converge import DeviceError, Refused
from .._vipu.cli import Controller
from .._vipu.entities import PARTITION
from .allowed import refuse_beyond, refuse_function, refuse_taken
from .arguments import Arguments
from .document import part_from
from .engine import Engine
from .member import Server, SessionContainer
from .parts import SILENCE
from .registry import Record, Registry
from .released import Releases
from .session import as_line, members_from
from .settings import Settings, Vpod
from .user import User

READY = "ready"
# No line of the first server is longer.
_LONGEST = 1 << 20
_LOOK_AGAIN = 1.0


class Leader:
    """The first server, at the other end of standard input and output.

    Args:
        silence: when it has said nothing for so many seconds, it is not there any more.
    """

    def __init__(self, source: IO[bytes], say: Callable[[str], None], silence: float = SILENCE) -> None:
        self._source = source.fileno()
        self._say = say
        self._silence = silence
        self._heard = b""
        self._last = time.monotonic()

    def line(self, goes_on: Callable[[], bool]) -> str | None:
        """The next line, None where it has ended. Raises DeviceError: what goes on here has ended before."""
        while True:
            line, newline, rest = self._heard.partition(b"\n")
            if newline:
                self._heard = rest
                if line:
                    return line.decode(errors="replace")
            elif len(line) > _LONGEST or not self._hear():
                return None
            if not goes_on():
                raise DeviceError("its container has ended")

    def answer(self, text: str) -> None:
        """Say one line."""
        self._say(f"{text}\n")

    def _hear(self) -> bool:
        """Listen for a moment. Returns whether it is still there."""
        readable, _writable, _failed = select.select([self._source], [], [], _LOOK_AGAIN)
        if readable:
            heard = os.read(self._source, 65536)
            self._heard += heard
            self._last = time.monotonic()
            return bool(heard)
        return time.monotonic() - self._last < self._silence


@dataclass(frozen=True)
class PartRuns:
    """Starts the containers of parts."""

    settings: Settings
    registry: Registry
    releases: Releases
    connect: Callable[[Vpod], Controller]
    choose_engine: Callable[[str, str], Engine]
    server: Server
    now: Callable[[], float]

    def run(self, leader: Leader, user: User) -> int:
        """Be a part until the first server, or this container, has ended.

        Raises:
            Refused: what is asked for is not possible here; nothing was made.
            DeviceError: something failed, or the container has ended; what was made is gone, now or by the timer.
        """
        text = leader.line(lambda: True)
        if text is None:
            raise Refused("nothing is asked for; ipu-run starts parts itself, see ipu-run --help")
        asked = part_from(text)
        vpod = self.settings.vpod(asked.vpod, user.groups)
        refuse_beyond(asked, vpod, user)
        refuse_function(vpod, self.server.host)
        engine = self.choose_engine(vpod.network, asked.engine)
        for failure in self.releases.release_ended():
            self.server.log(failure)
        gcds = len(asked.servers)
        with self.registry.held(asked.name) as is_held:
            refuse_taken(asked.name, is_held, self.registry)
            record = Record(
                *(asked.name, vpod.name, user.name, asked.ipus // gcds, engine.name, asked.image, self.now()),
                gcd=asked.gcd,
                gcds=gcds,
            )
            self.registry.write(record)
            container = SessionContainer(record, engine, user, self.registry, self.server)
            try:
                self._take_part(leader, asked, vpod, record, container)
            finally:
                self._clear(record, engine)
        return 0

    def _clear(self, record: Record, engine: Engine) -> None:
        """Remove the container, or let the timer do so."""
        try:
            self.releases.settle(record, engine.containers())
        except DeviceError as error:
            self.server.log(f"{error}; container {record.name} is removed when that is over")

    def _take_part(
        self, leader: Leader, asked: Arguments, vpod: Vpod, record: Record, container: SessionContainer
    ) -> None:
        leader.answer(as_line([container.start(asked, vpod)]))
        line = leader.line(container.runs)
        if line is None:
            return
        members = members_from(line)
        self._fetch_configuration(vpod, record)
        container.join(members)
        self.registry.write(replace(record, is_ready=True, servers={member.name: member.address for member in members}))
        leader.answer(READY)
        while leader.line(container.runs) is not None:
            pass

    def _fetch_configuration(self, vpod: Vpod, record: Record) -> None:
        """Of the controller itself: what the first server says of IPUs could be forged."""
        controller = self.connect(vpod)
        partition = controller.read((PARTITION,))[PARTITION].get(record.name, {})
        if partition.get("allocation") != vpod.allocation or partition.get("gcds") != record.gcds:
            raise Refused(f"vPOD {vpod.name} has no partition {record.name} with {record.gcds} GCDs")
        self.registry.write_configuration(record.name, controller.ipuof_configuration(record.name, record.gcd))
