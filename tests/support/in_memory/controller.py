# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated controller and its own `vipu-admin` in this process: no port, no file, and it dies on request."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from unittest import mock

from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller as Client
from podsim.vipu import cli, machine
from podsim.vipu.admin_api import AdminApi
from podsim.vipu.cli_settings import Settings
from podsim.vipu.controller import Controller, Durations
from podsim.vipu.entities import Agent, Partition, State
from podsim.vipu.releases import LATEST
from podsim.vipu.rpc import Unreachable
from podsim.vipu.user_api import UserApi

AT_ONCE = Durations(0, 0, 0, 0)


class Killed(BaseException):
    """The controller's process ends here."""


class Memory:
    """A storage that counts its writes, and dies around one of them."""

    def __init__(self) -> None:
        self.state = State()
        self.writes = 0
        self.dies_at = 0
        self.after_the_write = False

    def read(self) -> State:
        return self.state

    def write(self, state: State) -> None:
        self.writes += 1
        dies = self.writes == self.dies_at
        if not dies or self.after_the_write:
            self.state = state
        if dies:
            raise Killed


class Fleet:
    """Agents that answer, except those that are down."""

    def __init__(self) -> None:
        self.down: set[str] = set()

    def ask(self, agent: Agent) -> dict[str, Any]:
        if agent.id in self.down:
            raise Unreachable("it is down")
        return self._about(agent)

    def facts(self, agents: Iterable[Agent]) -> dict[str, dict[str, Any] | None]:
        return {agent.id: None if agent.id in self.down else self._about(agent) for agent in agents}

    def hold(self, held: Mapping[Agent, Sequence[str]]) -> None:
        pass

    def _about(self, agent: Agent) -> dict[str, Any]:
        return {**machine.facts(agent.id, LATEST, "10.5.1.1", 2112), "partitions": []}


class InProcess:
    """A controller, its storage and its agents; `client` is the collection's, and `calls` what it asked."""

    def __init__(self, durations: Durations = AT_ONCE) -> None:
        self.memory = Memory()
        self.fleet = Fleet()
        self.failing: set[str] = set()
        self.calls: list[list[str]] = []
        self.client = Client(self.run, "vipu-admin", "localhost", 8091)
        self._durations = durations
        self._directory = tempfile.TemporaryDirectory()
        self.start()

    def start(self) -> None:
        """Starts it, or starts it again on what it stored."""
        self.memory.dies_at = 0
        self._alive = True
        self.controller = Controller(self.memory, self.fleet, self._durations, self._fails)  # type: ignore[arg-type]
        api = AdminApi(self.controller, UserApi(self.controller, LATEST, secure=False), LATEST, None)
        self._handlers = {name: handler for service in api.services() for name, handler in service.handlers.items()}

    def dies_at_write(self, number: int, after_the_write: bool) -> None:
        """Lets it die at the number-th write from now on, just before or just after it is stored."""
        self.memory.dies_at = self.memory.writes + number
        self.memory.after_the_write = after_the_write

    def run(self, argv: list[str]) -> tuple[int, str, str]:
        """Runs the simulator's own `vipu-admin`."""
        self.calls.append(argv[5:])
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.object(cli, "Controller", lambda found, admin: _Connection(self, found)),  # noqa: ARG005
            contextlib.chdir(self._directory.name),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = cli.admin_main(argv[1:])
        return code, out.getvalue(), err.getvalue()

    def answer(self, method: str, request: dict[str, Any]) -> dict[str, Any]:
        """The answer of the admin end-point, as it comes off the wire."""
        if not self._alive:
            raise Unreachable("no V-IPU controller at localhost:8091: Connection refused")
        try:
            reply: dict[str, Any] = json.loads(json.dumps(self._handlers[method](request, {})))
        except Killed:
            self._alive = False
            raise Unreachable("no answer from localhost:8091: Socket closed") from None
        return reply

    def _fails(self, partition: Partition) -> str:
        return "IPU-Link training failed" if partition.id in self.failing else ""


class _Connection:
    """Stands for the command line's connection to a controller."""

    def __init__(self, controller: InProcess, settings: Settings) -> None:
        self.settings = settings
        self.call = controller.answer

    def version(self) -> str:
        """The release of the controller."""
        return LATEST
