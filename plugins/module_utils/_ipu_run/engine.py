# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container engine, podman or Docker, as far as ipu-run uses it: by words that both understand."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from .._containers.networks import LABEL, MARK
from .._host.programs import Programs
from .._plan.converge import NOT_UNDERSTOOD, DeviceError, Refused
from .registry import CONFIGURATION_FILE
from .user import User

PODMAN, DOCKER = "podman", "docker"
# By this ipu-run knows its containers again.
CONTAINER = "container"
# Where Poplar finds its IPUs in a container.
IPUOF = "/etc/ipuof.conf.d"
# States of a container that does not run, in the words of either engine.
ENDED = ("exited", "dead", "created", "configured", "stopped", "initialized")


@dataclass(frozen=True)
class Container:
    """A container to be started.

    Args:
        configuration: directory on the server with its IPUoF configuration.
        shared_memory: the size of ``/dev/shm``, as the engines take it.
        volumes: directories of the server, as ``FROM:TO`` or ``FROM:TO:ro``.
        mac: the MAC address that it has to have; empty: the engine chooses one.
        host: its host name, if it is not any.
        files: further files and directories of the server that it reads, by where it has them.
    """

    name: str
    image: str
    command: tuple[str, ...]
    network: str
    configuration: str
    devices: tuple[str, ...]
    environment: tuple[str, ...]
    volumes: tuple[str, ...]
    shared_memory: str
    mac: str = ""
    host: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


class Engine:
    """One engine by its client, which is called as it is."""

    def __init__(self, name: str, programs: Programs) -> None:
        self.name = name
        self._programs = programs

    def has_network(self, name: str) -> bool:
        """Whether it has a network of that name, made by this collection. Raises DeviceError: it does not answer."""
        label = f"label={LABEL}={MARK}"
        listed = self._call("network", "ls", "--filter", label, "--format", "{{.Name}}")
        return name in listed.splitlines()

    def parent_of(self, network: str) -> str:
        """The device that a network is on. Raises DeviceError: it does not answer."""
        where = "{{.NetworkInterface}}" if self.name == PODMAN else '{{index .Options "parent"}}'
        return self._call("network", "inspect", "--format", where, network).strip()

    def containers(self) -> dict[str, str]:
        """All containers of ipu-run that it has, with their states. Raises DeviceError: it does not answer."""
        label = f"label={LABEL}={CONTAINER}"
        if self.name == PODMAN:
            # In a template, its State is a sentence.
            listed = self._call("ps", "--all", "--filter", label, "--format", "json")
            return _states_from(listed)
        listed = self._call("ps", "--all", "--filter", label, "--format", "{{.Names}}\t{{.State}}")
        return {name: state for name, _tab, state in (line.partition("\t") for line in listed.splitlines())}

    def remove(self, name: str) -> None:
        """End and remove a container that is there."""
        self._call("rm", "--force", name)

    def run_words(self, container: Container, user: User, interactive: bool, terminal: bool, detach: bool) -> list[str]:
        """The command that runs a container: with its IPUs and its network, and without any privilege."""
        words = [self.name, "run", "--rm", *_options(container, user)]
        words += ["--interactive"] * interactive + ["--tty"] * terminal + ["--detach"] * detach
        return [*words, container.image, *container.command]

    def exec_words(self, name: str, command: Sequence[str], interactive: bool, terminal: bool) -> list[str]:
        """The command that runs another one in a container that runs."""
        return [self.name, "exec", *["--interactive"] * interactive, *["--tty"] * terminal, name, *command]

    def create_words(self, container: Container, user: User, program: str) -> list[str]:
        """The command that makes a container that does not run yet, whose main program is that one."""
        words = [self.name, "create", *_options(container, user), "--hostname", container.host, "--entrypoint", program]
        for place, source in container.files.items():
            words += ["--mount", f"type=bind,source={source},target={place},readonly"]
        if not user.uid:
            # OpenSSH's server keeps its children there; and as root it must be able to write to the audit log.
            words += ["--tmpfs", "/run/sshd:mode=0755", "--cap-add", "AUDIT_WRITE"]
        return [*words, container.image, *container.command]

    def start(self, name: str) -> None:
        """Let a container run. Raises DeviceError: it has no such program, or something else is wrong."""
        self._call("start", name)

    def environment(self, name: str) -> list[str]:
        """The environment of a container, its image's and its own, as ``NAME=VALUE``."""
        return [str(setting) for setting in self._inspected(name, "{{json .Config.Env}}") or ()]

    def process(self, name: str) -> int:
        """The number of its main program on this server, 0 if that has ended."""
        return int(self._inspected(name, "{{json .State.Pid}}"))

    def address(self, name: str) -> str:
        """Its address in its only network."""
        networks = self._inspected(name, "{{json .NetworkSettings.Networks}}")
        return "".join(str(network["IPAddress"]) for network in networks.values())

    def last_words(self, name: str) -> str:
        """The last line that it has printed; empty where the engine cannot say."""
        status, output, errors = self._programs.attempt([self.name, "logs", "--tail", "1", name])
        return (output + errors).strip() if status == 0 else ""

    def _inspected(self, name: str, what: str) -> Any:
        answer = self._call("container", "inspect", "--format", what, name)
        try:
            return json.loads(answer)
        except ValueError as error:
            raise DeviceError(f"{self.name} printed something that is not understood: {error!r}") from None

    def _call(self, *words: str) -> str:
        return self._programs.call([self.name, *words])


def _options(container: Container, user: User) -> list[str]:
    """Its IPUs and its network, and no privilege."""
    words = ["--name", container.name, "--label", f"{LABEL}={CONTAINER}", "--network", container.network]
    words += ["--mac-address", container.mac] if container.mac else []
    words += ["--ulimit", "memlock=-1:-1", "--shm-size", container.shared_memory]
    # Its users are those of the server, whatever the engine does by default, as they have to open the devices.
    words += ["--security-opt", "no-new-privileges", "--userns", "host"]
    for device in container.devices:
        words += ["--device", device]
    # A directory that is missing is an error, where --volume makes an empty one.
    words += ["--mount", f"type=bind,source={container.configuration},target={IPUOF},readonly"]
    words += ["--env", f"IPUOF_CONFIG_PATH={IPUOF}/{CONFIGURATION_FILE}"]
    for setting in container.environment:
        words += ["--env", setting]
    for volume in container.volumes:
        words += ["--volume", volume]
    if user.uid:
        words += ["--user", f"{user.uid}:{user.gid}", "--cap-drop", "ALL"]
    return words


def _states_from(listed: str) -> dict[str, str]:
    try:
        return {str(each["Names"][0]): str(each["State"]) for each in json.loads(listed)}
    except NOT_UNDERSTOOD as error:
        raise DeviceError(f"podman printed something that is not understood: {error!r}") from None


def engine_for(network: str, asked: str, programs: Programs, names: Sequence[str]) -> Engine:
    """The engine that has the network of a vPOD's containers: the one that is asked for, or the first.

    Raises:
        Refused: none has it.
        DeviceError: none that could have it answers.
    """
    failure: DeviceError | None = None
    for name in [asked] if asked else names:
        engine = Engine(name, programs)
        try:
            if engine.has_network(network):
                return engine
        except DeviceError as error:
            failure = failure or DeviceError(f"{name} does not answer: {error}")
    if failure:
        raise failure
    where = asked or " or ".join(names)
    raise Refused(f"{where} has no network {network} of this collection; run vpods.yml, which makes it")
