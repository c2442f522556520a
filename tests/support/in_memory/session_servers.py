# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers with one V-IPU controller, on which sessions run; a part is a thread at the end of two pipes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from ansible_collections.ipu.pod.plugins.module_utils._host.programs import Programs
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.arguments import ENGINES, Arguments
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.engine import Engine, engine_for
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.member import Server
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.part import Leader, PartRuns
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.partitions import Clock, Partitions
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.parts import Link
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.registry import Registry
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.released import Releases
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.sessions import Command, Sessions
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.settings import Settings, Vpod
from ansible_collections.ipu.pod.plugins.module_utils._ipu_run.user import User
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Refused
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from tests.support.in_memory.container_runs import ContainerRuns
from tests.support.in_memory.controller import InProcess

ALICE = Vpod("alice", 32, "alice", "ipu-alice", "alice", "10.3.1.200", 8090, "/etc/vipu/vipu-cli.hcl", ())


class Exec(Command):
    """A command in a container, which ends when ``meanwhile`` has been looked at, or with its container."""

    def __init__(self, engine: ContainerRuns, words: Sequence[str]) -> None:
        self.words = list(words)
        self._engine = engine
        self._status: int | None = None
        self.ended = False

    def status(self) -> int | None:
        if self._status is None:
            status = self._engine.meanwhile()
            self._status = None if status < 0 else status
        return self._status

    def end(self) -> None:
        self.ended = True


class SessionServer:
    """A server with podman and Docker."""

    def __init__(self, number: int, floor: SessionFloor) -> None:
        self.host = f"pod001-poplar{number}"
        self.floor = floor
        self.folder = floor.folder / self.host / "containers"
        self.settings = Settings(str(self.folder), (ALICE,))
        self.engines = {name: ContainerRuns(["ipu-alice"], address=f"10.5.1.{number + 128}") for name in ENGINES}
        self.podman = self.engines["podman"]
        self.log: list[str] = []
        self.commands: list[Exec] = []
        self.asked: list[list[str]] = []
        # An SSH server listens when its server has slept so often.
        self.listens_after = 0
        self.slept: list[float] = []

    @property
    def registry(self) -> Registry:
        return Registry(str(self.folder))

    @property
    def releases(self) -> Releases:
        return Releases(self.settings, self.registry, self.floor.connect, self._engine, self.log.append)

    @property
    def records(self) -> list[str]:
        return list(self.registry.read())

    @property
    def files(self) -> list[str]:
        """What its registry has, but for the lock of those who wait, which stays."""
        return sorted(path.name for path in self.folder.rglob("*") if not path.name.startswith(".turn-"))

    def lead(self, asked: Arguments, user: User) -> int:
        """Be the first server of a session."""
        # While a session waits, it listens to its parts, and that takes its time.
        began = time.monotonic()
        clock = Clock(lambda: 1795000000.0 + time.monotonic() - began, lambda _seconds: None)
        sessions = Sessions(
            settings=self.settings,
            registry=self.registry,
            releases=self.releases,
            partitions=Partitions(self.registry, self.releases, self.floor.connect, self.log.append, clock),
            choose_engine=self._choose,
            server=self._server(),
            is_here=lambda name: name in (self.host, f"{self.host}.lab"),
            reach=self.floor.reach,
            begin=self._begin,
            clock=clock,
            terminal=(True, False),
        )
        return sessions.run(asked, user)

    def be_part(self, leader: Leader, user: User) -> int:
        """Be another one."""
        parts = PartRuns(
            self.settings,
            self.registry,
            self.releases,
            self.floor.connect,
            self._choose,
            self._server(),
            lambda: 1795000000.0,
        )
        return parts.run(leader, user)

    def _engine(self, name: str) -> Engine:
        return Engine(name, Programs(self._run))

    def _choose(self, network: str, name: str) -> Engine:
        return engine_for(network, name, Programs(self._run), ENGINES)

    def _begin(self, words: Sequence[str]) -> Command:
        self.commands.append(Exec(self.engines[words[0]], words))
        return self.commands[-1]

    def _server(self) -> Server:
        is_there = lambda process: any(engine.has_process(process) for engine in self.engines.values())  # noqa: E731
        return Server(
            self.host,
            Programs(self._run),
            lambda process, _port: is_there(process) and len(self.slept) >= self.listens_after,
            is_there,
            self.slept.append,
            self.log.append,
            "1024k",
        )

    def _run(self, argv: list[str]) -> tuple[int, str, str]:
        self.asked.append(argv)
        if argv[0] == "ssh-keygen":
            key = Path(argv[-1])
            key.write_text(f"secret of {self.host}", encoding="ascii")
            key.chmod(0o600)
            Path(f"{key}.pub").write_text(f"{self.floor.public_key(self.host)}\n", encoding="ascii")
            return 0, "", ""
        return self.engines[argv[0]].run(argv)


class SessionFloor:
    """Servers whose vPOD alice has 32 IPUs."""

    def __init__(self, folder: Path, servers: int) -> None:
        self.folder = folder
        self.vipu = InProcess()
        for number in range(1, 9):
            self.vipu.controller.create_agent(f"m{number}", f"10.2.1.{number}", 8080)
        self.admin("create", "cluster", "c", "--agents", ",".join(f"m{n}" for n in range(1, 9)), "--topology", "mesh")
        self.admin("create", "allocation", "alice", "--size", "32")
        self._alone = threading.Lock()
        found = [SessionServer(number, self) for number in range(1, servers + 1)]
        self.servers = {server.host: server for server in found}
        self.parts: list[threading.Thread] = []
        self.unreachable: set[str] = set()

    @property
    def first(self) -> SessionServer:
        return self.servers["pod001-poplar1"]

    @property
    def others(self) -> list[SessionServer]:
        return [server for server in self.servers.values() if server is not self.first]

    def admin(self, *words: str) -> None:
        code, _output, errors = self.vipu.run(["vipu-admin", "-H", "localhost", "-P", "8091", *words])
        assert code == 0, errors

    def connect(self, _vpod: Vpod) -> Controller:
        """The controller, which has one process for all threads here."""

        def run(argv: list[str]) -> tuple[int, str, str]:
            with self._alone:
                return self.vipu.run(argv)

        return Controller(run, "vipu-admin", "localhost", 8091)

    @property
    def partitions(self) -> list[str]:
        return sorted(self.connect(ALICE).read(("partition",))["partition"])

    @staticmethod
    def public_key(host: str) -> str:
        return "ssh-ed25519 " + f"AAAA{host.replace('-', '')}".ljust(68, "x")

    def reach(self, server: str, user: User) -> Link:
        """A part in a thread."""
        last_words: list[str] = []
        part_reads, leader_writes = (os.fdopen(fd, mode, 0) for fd, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
        leader_reads, part_writes = (os.fdopen(fd, mode, 0) for fd, mode in zip(os.pipe(), ("rb", "wb"), strict=True))

        def serve() -> None:
            with part_reads, part_writes:
                try:
                    if server in self.unreachable or server not in self.servers:
                        raise DeviceError(f"ssh: connect to host {server} port 22: No route to host")
                    say = lambda text: part_writes.write(text.encode())  # noqa: E731
                    self.servers[server].be_part(Leader(part_reads, say), user)
                except (DeviceError, Refused) as error:
                    last_words.append(str(error))

        thread = threading.Thread(target=serve)
        thread.start()
        self.parts.append(thread)

        def finish() -> str:
            thread.join()
            return last_words[-1] if last_words else ""

        return Link(server, leader_writes, leader_reads, finish)
