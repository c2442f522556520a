# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""This server, as sessions see it: its name, its processes, and its way to other servers."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO, Any, Callable, Sequence, cast

from .._host.programs import Programs, run_program
from .._plan.converge import DeviceError
from .member import Server
from .parts import Link, ssh_words
from .sessions import Command
from .user import User

# A part, or an engine's client, whose container is removed ends within this time, in seconds.
_ENDS_BY = 60.0
# In the kernel's tables of sockets.
_LISTENS = "0A"


class Client(Command):
    """An engine's client beside this process's terminal."""

    def __init__(self, words: Sequence[str]) -> None:
        self._process = subprocess.Popen(list(words))

    def status(self) -> int | None:
        """Its exit status, None while it runs."""
        status = self._process.poll()
        return 128 - status if status is not None and status < 0 else status

    def end(self) -> None:
        """End it, if it has not by itself, as its container has."""
        _wait(self._process)


def this_server(log: Callable[[str], None]) -> Server:
    """This server as it is."""
    return Server(_host(), Programs(run_program), listens, is_there, time.sleep, log, half_of_memory())


def is_here(server: str) -> bool:
    """Whether a name or an address is this server's."""
    if server.partition(".")[0] == _host():
        return True
    try:
        found = socket.getaddrinfo(server, 0, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return any(_is_own(family, address) for family, _type, _protocol, _name, address in found)


def reach(server: str, user: User) -> Link:
    """Start a part on another server. Raises DeviceError: there is no program for that here."""
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - it goes with the process
    try:
        # An interrupt at the terminal is for this process, which ends the part.
        process = subprocess.Popen(
            ssh_words(server, user),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise DeviceError(f"{error.filename} could not be run on this server: {error.strerror}") from error

    def finish() -> str:
        _wait(process)
        errors.seek(0)
        lines = errors.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return last[len("ipu-run: ") :] if last.startswith("ipu-run: ") else last

    return Link(server, cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout), finish)


def listens(process: int, port: int) -> bool:
    """Whether somebody in the network of a process listens at a TCP port."""
    for table in ("tcp", "tcp6"):
        try:
            lines = Path("/proc", str(process), "net", table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        fields = (line.split() for line in lines)
        if any(each[1].endswith(f":{port:04X}") and each[3] == _LISTENS for each in fields):
            return True
    return False


def is_there(process: int) -> bool:
    """Whether there is a process of that number."""
    return os.path.exists(f"/proc/{process}")


def half_of_memory() -> str:
    """As the kernel gives a file system in memory, and not the engines' 64 MiB."""
    return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') // 2 // 1024}k"


def _host() -> str:
    """Short, as Open MPI shortens names."""
    return socket.gethostname().partition(".")[0]


def _is_own(family: int, address: Any) -> bool:
    """A socket can be bound to addresses of this server alone."""
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address[0], 0))
        except OSError:
            return False
    return True


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_ENDS_BY)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
