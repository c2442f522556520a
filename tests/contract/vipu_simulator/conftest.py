# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A V-IPU controller as a process of its own with agents and command-line tools in this one, and a pod in process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from podsim.vipu import agent, cli, machine, rules
from podsim.vipu.controller import Controller as ControllerCore
from podsim.vipu.controller import Durations
from podsim.vipu.entities import Agent, Cluster, State
from podsim.vipu.errors import Refused
from podsim.vipu.rpc import Unreachable
from podsim.vipu.storage import Storage
from tests.support.checkout import PROGRAMS
from tests.support.loopback import HOST, free_port
from tests.support.processes import end


@dataclass
class Outcome:
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.out)
        return value


@dataclass
class Controller:
    """A vipu-server, started on demand with more options; `directory` holds its files."""

    directory: Path
    agent_ports: list[int]
    user_port: int = field(default_factory=free_port)
    admin_port: int = field(default_factory=free_port)
    process: subprocess.Popen[str] | None = None

    @property
    def storage(self) -> Path:
        return self.directory / "vipu-server.json"

    def server(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Runs vipu-server to its end."""
        return subprocess.run(
            [PROGRAMS / "vipu-server", *options], cwd=self.directory, capture_output=True, text=True, check=False
        )

    def start(self, *options: str) -> None:
        ports = ["--user-port", str(self.user_port), "--admin-port", str(self.admin_port), "--metrics-port", "0"]
        self.process = subprocess.Popen(
            [PROGRAMS / "vipu-server", "--listen", HOST, *ports, "--poll-interval", "0.1", *options],
            cwd=self.directory,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        self.greeting = []
        for line in self.process.stdout:
            self.greeting.append(line)
            if line.startswith("vipu-server"):
                return
        pytest.fail(f"vipu-server did not start, exit code {self.process.wait()}")

    def stop(self) -> int:
        assert self.process
        code = end(self.process)
        assert self.process.stdout
        self.process.stdout.close()
        self.process = None
        return code

    def admin(self, *arguments: str) -> Outcome:
        return run(cli.admin_main, "-H", HOST, "-P", str(self.admin_port), *arguments)

    def user(self, *arguments: str) -> Outcome:
        return run(cli.user_main, "-H", HOST, "-P", str(self.user_port), *arguments)

    def create_agents(self, count: int) -> list[str]:
        names = [f"ag{number}" for number in range(count)]
        for name, port in zip(names, self.agent_ports, strict=False):
            assert self.admin("create", "agent", name, "--host", HOST, "--port", str(port)).code == 0
        return names

    def create_cluster(self, agents: int, *options: str) -> None:
        names = ",".join(self.create_agents(agents))
        assert self.admin("create", "cluster", "c1", "--agents", names, *options).code == 0


def run(program: Callable[[list[str]], int], *arguments: str) -> Outcome:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = program(list(arguments))
    return Outcome(code, out.getvalue(), err.getvalue())


class Fleet:
    """Agents that answer, except those that are down."""

    def __init__(self) -> None:
        self.down: set[str] = set()
        self.held: dict[str, list[str]] = {}

    def hold(self, held: Mapping[Agent, Sequence[str]]) -> None:
        self.held.update({agent.id: list(partition_ids) for agent, partition_ids in held.items()})

    def ask(self, agent: Agent) -> dict[str, Any]:
        if agent.id in self.down:
            raise Unreachable("it is down")
        return self._about(agent)

    def facts(self, agents: Iterable[Agent]) -> dict[str, dict[str, Any] | None]:
        return {agent.id: None if agent.id in self.down else self._about(agent) for agent in agents}

    def _about(self, agent: Agent) -> dict[str, Any]:
        return {**machine.facts(agent.id, "1.18.0", "10.5.1.1", 2112), "partitions": self.held.get(agent.id, [])}


class Pod:
    """A controller in process, with a clock that stands still."""

    def __init__(self, path: Path) -> None:
        self.now = 1000.0
        self.fleet = Fleet()
        self.failing: dict[str, int] = {}
        storage = Storage(path)
        storage.initialise(State())
        self.controller = ControllerCore(storage, self.fleet, Durations(10, 10, 0, 10), self._fails, lambda: self.now)

    def _fails(self, partition: Any) -> str:
        self.failing[partition.id] = self.failing.get(partition.id, 0) - 1
        return "training failed" if self.failing[partition.id] >= 0 else ""

    @property
    def state(self) -> State:
        return self.controller.state()

    def agents(self, count: int) -> list[str]:
        names = [f"ag{number}" for number in range(count)]
        for number, name in enumerate(names):
            self.controller.create_agent(name, f"10.2.1.{number + 1}", 8080)
        return names

    def cluster(
        self, name: str, agents: Iterable[str], topology: str = "mesh", ilds: int = 1, looped: str = ""
    ) -> None:
        self.controller.apply(rules.create_cluster, Cluster(name, tuple(agents), topology, ilds, looped))

    def allocation(self, name: str, size: int, cluster: str = "") -> None:
        self.controller.apply(rules.create_allocation_by_size, name, size, cluster)

    def allocation_of(self, name: str, *agents: str) -> None:
        self.controller.apply(rules.create_allocation_of_agents, name, agents, "")

    def partition(self, name: str, size: int, mine: Any = None, relocatable: bool = False, **wanted: Any) -> None:
        request = {"requirements": {"id": name, "size": size, **wanted}, "relocatable": relocatable}
        self.controller.create_partition(request, mine)

    def wait(self, seconds: float = 10) -> None:
        self.now += seconds
        self.controller.poll()

    def refused(self, text: str, action: Any, *arguments: Any, **named: Any) -> None:
        """The action is refused with a message that has this text, and changes nothing."""
        before = self.state
        with pytest.raises(Refused) as refusal:
            action(*arguments, **named)
        assert text in str(refusal.value)
        assert self.state == before


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing comes from, or goes to, the developer's own home and environment."""
    for name in [name for name in os.environ if name.startswith(("VIPU_CLI_", "PODSIM_"))]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def port() -> int:
    """A free port."""
    return free_port()


@pytest.fixture
def other_port() -> int:
    """Another one."""
    return free_port()


@pytest.fixture(scope="session")
def agent_ports() -> Iterator[list[int]]:
    """The ports of four agents, with RNICs 10.5.1.1 to 10.5.1.4."""
    ports = [free_port() for _ in range(4)]
    servers = []
    for number, port in enumerate(ports, 1):
        facts = machine.facts(f"machine{number}", "1.18.0", f"10.5.1.{number}", 2112)
        servers.append(agent.start(f"{HOST}:{port}", lambda facts=facts: facts))
    yield ports
    for server in servers:
        server.stop(grace=None).wait()


@pytest.fixture
def idle(tmp_path: Path, agent_ports: list[int]) -> Iterator[Controller]:
    """A controller that has its storage, but does not run."""
    directory = tmp_path / "controller"
    directory.mkdir()
    controller = Controller(directory, agent_ports)
    Storage(controller.storage).initialise(State())
    yield controller
    if controller.process:
        controller.process.kill()
        controller.process.wait()


@pytest.fixture
def controller(idle: Controller) -> Controller:
    """A running controller without any entity."""
    idle.start("--creation-time", "0.02", "--reset-time", "0.02")
    return idle


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    return Pod(tmp_path / "vipu-server.json")


@pytest.fixture
def pod64(pod: Pod) -> Pod:
    """16 agents in cluster c, an allocation of 8 agents, and a partition of 4 IPUs in it."""
    pod.cluster("c", pod.agents(16), "torus")
    pod.allocation("a", 32)
    pod.partition("p", 4, allocation_id="a")
    pod.wait()
    return pod
