# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container of a session on this server: its main program is an SSH server, by which the others reach it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Mapping, Sequence

from .._host.atomic import NewFile
from .._host.files import os_errors_as
from .._host.programs import Programs
from .._plan.converge import DeviceError, Refused
from .allowed import devices_of, volumes_of
from .arguments import Arguments
from .engine import Container, Engine
from .functions import Opened
from .registry import Record, Registry
from .session import (
    ACCOUNTS,
    DIRECTORY,
    HOSTS,
    KEY,
    PORT,
    PUBLIC_KEY,
    SSH_CONFIG,
    SSHD,
    SSHD_CONFIG,
    Member,
    accounts_of,
    files_of,
    hosts_of,
    mpi_environment,
    ssh_config_of,
    sshd_config_of,
)
from .settings import Vpod
from .user import User

# What is mounted as a file, so that it has to be written in its place.
_HOSTS, _SSH_CONFIG, _ACCOUNTS = "etc-hosts", "ssh-config", "passwd"
# An SSH server that does not listen by then, in seconds, does not work.
_LISTENS_BY, _LOOK_AGAIN = 30.0, 0.1


@dataclass(frozen=True)
class Server:
    """This server.

    Args:
        host: its host name.
        programs: its programs, however long they take: an image may have to come from far.
        listens: whether the process of that number, or another in its network, listens at a TCP port.
        is_there: whether there is a process of that number.
        shared_memory: the size of a container's ``/dev/shm``, if the user says none.
    """

    host: str
    programs: Programs
    listens: Callable[[int, int], bool]
    is_there: Callable[[int], bool]
    sleep: Callable[[float], None]
    log: Callable[[str], None]
    shared_memory: str


class SessionContainer:
    """One container, whose name is held."""

    def __init__(self, record: Record, engine: Engine, user: User, registry: Registry, server: Server) -> None:
        self._name = record.name
        self._record = record
        self._engine = engine
        self._user = user
        self._registry = registry
        self._server = server
        self._process = 0

    def start(self, asked: Arguments, vpod: Vpod) -> Member:
        """Start it, without IPUs yet. Returns how the others will know it.

        Raises:
            Refused: its image has no SSH server.
            DeviceError: the engine failed.
        """
        folder = self._registry.directory(self._name, "session")
        key = self._make_key(folder)
        for file in (_HOSTS, _SSH_CONFIG):
            self._write_in_place(file, "")
        accounts = {}
        if self._user.uid:
            self._write_in_place(_ACCOUNTS, accounts_of(self._user, self._user.home if asked.home else "/"))
            accounts[ACCOUNTS] = self._registry.path(self._name, _ACCOUNTS)
        container = Container(
            name=self._name,
            image=asked.image,
            command=("-D", "-e", "-f", f"{DIRECTORY}/{SSHD_CONFIG}"),
            network=vpod.network,
            configuration=self._registry.configuration(self._name),
            devices=devices_of(vpod, self._server.log, Opened()),
            environment=(*mpi_environment(self._user), *asked.environment),
            volumes=volumes_of(asked, self._user),
            shared_memory=asked.shared_memory or self._server.shared_memory,
            host=self._server.host,
            files={
                DIRECTORY: folder,
                HOSTS: self._registry.path(self._name, _HOSTS),
                SSH_CONFIG: self._registry.path(self._name, _SSH_CONFIG),
                **accounts,
            },
        )
        self._create(container)
        self._write(folder, {SSHD_CONFIG: sshd_config_of(self._engine.environment(self._name))})
        self._start_sshd(asked.image)
        return Member(self._server.host, self._engine.address(self._name), key)

    def join(self, members: Sequence[Member]) -> None:
        """Let it know all members of the session."""
        self._write(self._registry.directory(self._name, "session"), files_of(members))
        self._write_in_place(_HOSTS, hosts_of(members))
        self._write_in_place(_SSH_CONFIG, ssh_config_of(members))

    def runs(self) -> bool:
        """Whether its main program is still there."""
        return self._server.is_there(self._process)

    def remove(self) -> None:
        """End and remove it, if it is there. Raises DeviceError: the engine does not answer."""
        if self._name in self._engine.containers():
            self._engine.remove(self._name)

    def _make_key(self, folder: str) -> str:
        """A key pair of its own, the private one for nobody but its user. Returns the public key."""
        key = f"{folder}/{KEY}"
        self._server.programs.call(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key])
        with os_errors_as(key):
            os.chown(key, self._user.uid, self._user.gid)
            return Path(folder, PUBLIC_KEY).read_text(encoding="ascii").strip()

    def _create(self, container: Container) -> None:
        """Its image may have to come first. The words have the user's environment, which belongs into no message."""
        status, _output, errors = self._server.programs.attempt(self._engine.create_words(container, self._user, SSHD))
        if status:
            name = self._engine.name
            raise DeviceError(f"{name} cannot make a container of image {container.image}: {errors or status}")

    def _start_sshd(self, image: str) -> None:
        try:
            self._engine.start(self._name)
        except DeviceError as error:
            if SSHD in str(error):
                raise Refused(f"image {image} has no {SSHD}, which a session needs; install OpenSSH in it") from None
            raise
        for _look in range(int(_LISTENS_BY / _LOOK_AGAIN)):
            self._process = self._engine.process(self._name)
            if not self._process:
                break
            if self._server.listens(self._process, PORT):
                return
            self._server.sleep(_LOOK_AGAIN)
        why = self._engine.last_words(self._name) or "it says nothing"
        raise DeviceError(f"{SSHD} of image {image} does not work: {why}")

    def _write(self, folder: str, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            with os_errors_as(f"{folder}/{name}"), NewFile(f"{folder}/{name}", 0o644) as new:
                new.put(text)

    def _write_in_place(self, name: str, text: str) -> None:
        path = self._registry.path(self._name, name)
        with os_errors_as(path):
            Path(path).write_text(text, encoding="utf-8")
            os.chmod(path, 0o644)
