# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container engine that runs containers of ipu-run, by the words that podman and Docker share; it knows no others."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

Answer = tuple[int, str, str]
# Options of `run` that stand alone; all others have a value.
ALONE = {"--rm", "--interactive", "--tty", "--detach"}


# The templates that print the interface of a network.
PARENT = {"podman": "{{.NetworkInterface}}", "docker": '{{index .Options "parent"}}'}


@dataclass
class Ran:
    """A container that was run: its options by name, each with all its values, its image and its command."""

    options: dict[str, list[str]]
    image: str
    command: list[str]


@dataclass
class ContainerRuns:
    """The engine. ``meanwhile`` happens while a container runs; its answer is the container's exit status."""

    networks: list[str] = field(default_factory=list)
    parents: dict[str, str] = field(default_factory=dict)
    containers: dict[str, str] = field(default_factory=dict)
    ran: list[Ran] = field(default_factory=list)
    is_down: bool = False
    has_sshd: bool = True
    sshd_works: bool = True
    address: str = "10.5.1.129"
    meanwhile: Callable[[], int] = lambda: 0

    def run(self, argv: Sequence[str]) -> Answer:
        """The answer to a question."""
        if self.is_down:
            return 125, "", f"Cannot connect to the {argv[0]} daemon. Is the daemon running?"
        words = list(argv[1:])
        if words == ["network", "ls", "--filter", "label=ipu.pod=network", "--format", "{{.Name}}"]:
            return 0, "".join(f"{name}\n" for name in self.networks), ""
        if words[:2] == ["network", "inspect"] and words[2:4] == ["--format", PARENT[argv[0]]]:
            return 0, f"{self.parents[words[4]]}\n", ""
        if words[:-1] == ["ps", "--all", "--filter", "label=ipu.pod=container", "--format"]:
            return 0, self._listed(argv[0], words[-1]), ""
        if words[:2] == ["rm", "--force"] and len(words) == 3:
            return self._removed(words[2])
        return self._of_session(argv[0], words)

    def execute(self, argv: Sequence[str]) -> int:
        """Run a container to its end, or detached."""
        words = list(argv[1:])
        if words.pop(0) != "run":
            _unknown(argv)
        options = self._made(words)
        if self.is_down:
            return 125
        name = options["--name"][0]
        self.containers[name] = "running"
        if "--detach" in options:
            return 0
        status = self.meanwhile()
        if not self.is_down:
            self.containers.pop(name, None)
        return status

    def process(self, name: str) -> int:
        """The number of a container's main program, 0 while it does not run."""
        names = [ran.options["--name"][0] for ran in self.ran]
        return 1000 + names.index(name) if self.containers.get(name) == "running" else 0

    def has_process(self, process: int) -> bool:
        """Whether a container has this one."""
        return any(self.process(name) == process for name in self.containers)

    def _made(self, words: list[str]) -> dict[str, list[str]]:
        options: dict[str, list[str]] = {}
        while words[0].startswith("--"):
            name = words.pop(0)
            options.setdefault(name, []).extend([] if name in ALONE else [words.pop(0)])
        self.ran.append(Ran(options, words[0], words[1:]))
        return options

    def _of_session(self, engine: str, words: list[str]) -> Answer:
        match words:
            case ["create", *rest]:
                self.containers[self._made(rest)["--name"][0]] = "created"
                return 0, "0123456789ab\n", ""
            case ["start", name]:
                return self._started(name)
            case ["container", "inspect", "--format", form, name]:
                return 0, json.dumps(self._inspected(form, name)) + "\n", ""
            case ["logs", "--tail", "1", _name]:
                return 0, "", "Bad configuration option\n"
        return _unknown([engine, *words])

    def _started(self, name: str) -> Answer:
        if not self.has_sshd:
            return 127, "", 'exec: "/usr/sbin/sshd": stat /usr/sbin/sshd: no such file or directory: unknown'
        self.containers[name] = "running" if self.sshd_works else "exited"
        return 0, f"{name}\n", ""

    def _inspected(self, form: str, name: str) -> Any:
        options = next(ran.options for ran in reversed(self.ran) if ran.options["--name"] == [name])
        match form:
            case "{{json .Config.Env}}":
                return ["PATH=/opt/poplar/bin:/usr/bin", "HOME=/home/image", *options["--env"]]
            case "{{json .State.Pid}}":
                return self.process(name)
            case "{{json .NetworkSettings.Networks}}":
                return {options["--network"][0]: {"IPAddress": self.address}}
        raise AssertionError(f"nothing is known of {form}")

    def _listed(self, engine: str, form: str) -> str:
        match engine, form:
            case "podman", "json":
                return json.dumps([{"Names": [name], "State": state} for name, state in self.containers.items()])
            case "docker", "{{.Names}}\t{{.State}}":
                return "".join(f"{name}\t{state}\n" for name, state in self.containers.items())
        raise AssertionError(f"{engine} prints no {form}")

    def _removed(self, name: str) -> Answer:
        if self.containers.pop(name, None) is None:
            return 1, "", f"no container with name or ID {name} found"
        return 0, f"{name}\n", ""


def _unknown(argv: Sequence[str]) -> NoReturn:
    raise AssertionError(f"no such command: {argv}")
