# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SSH server of a switch: accounts, host key, and a terminal for each login."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path

import asyncssh

from podsim.eos.accounts import log_in
from podsim.eos.switch import Switch
from podsim.eos.terminal import Terminal


class SshServer:
    """Serves one switch, with one account, from a thread of its own."""

    def __init__(self, address: tuple[str, int], switch: Switch, account: tuple[str, str], host_key: Path) -> None:
        self._switch = switch
        self._account = account
        self._user = ""
        self._loop = asyncio.new_event_loop()
        self._listener = self._loop.run_until_complete(
            asyncssh.create_server(
                lambda: _Connection(switch, account),
                *address,
                server_host_keys=[_host_key(host_key)],
                line_editor=False,
            )
        )
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def port(self) -> int:
        """The TCP port that is listened on."""
        port: int = self._listener.get_port()
        return port

    def start(self) -> None:
        """Take connections from now on."""
        self._thread.start()

    def close(self) -> None:
        """Take none any more."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._listener.close()
        self._loop.close()


class _Connection(asyncssh.SSHServer):
    """One TCP connection and who is behind it."""

    def __init__(self, switch: Switch, account: tuple[str, str]) -> None:
        self._switch = switch
        self._account = account
        self._drop: Callable[[], None] | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Nobody gets through while the management port is down; a reload cuts everybody off."""
        if not self._switch.ssh_reachable():
            conn.abort()
            return
        loop = asyncio.get_running_loop()

        def drop() -> None:
            loop.call_soon_threadsafe(conn.abort)

        self._drop = drop
        self._switch.connections.add(drop)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection that has ended."""
        del exc
        if self._drop:
            self._switch.connections.discard(self._drop)

    def begin_auth(self, username: str) -> bool:
        """Everybody must authenticate."""
        del username
        return True

    def password_auth_supported(self) -> bool:
        """With a password."""
        return True

    def validate_password(self, username: str, password: str) -> bool:
        """Whether these are an account's name and password."""
        self._user = username
        return log_in(self._switch.running, self._account, username, password)

    def session_requested(self) -> asyncssh.SSHServerSession[str]:
        """A terminal for a login."""
        return _Login(self._switch, self._user)


class _Login(asyncssh.SSHServerSession[str]):
    """One terminal. What is typed is run in order in a thread, so that a command which waits stops nobody else."""

    def __init__(self, switch: Switch, user: str) -> None:
        self._switch = switch
        self._terminal = Terminal(switch, user)
        self._typed: asyncio.Queue[str] = asyncio.Queue()
        self._channel: asyncssh.SSHServerChannel[str]
        self._task: asyncio.Task[None]

    def connection_made(self, chan: asyncssh.SSHServerChannel[str]) -> None:
        """The channel is open."""
        self._channel = chan

    def pty_requested(self, term_type: str, term_size: tuple[int, int, int, int], term_modes: object) -> bool:
        """Every terminal is fine."""
        del term_type, term_size, term_modes
        return True

    def shell_requested(self) -> bool:
        """A login shell is the only thing to be had."""
        return True

    def session_started(self) -> None:
        """Show the first prompt and read."""
        self._channel.write(self._terminal.greeting())
        self._task = asyncio.create_task(self._read())

    def data_received(self, data: str, datatype: int | None) -> None:
        """Something was typed."""
        del datatype
        self._typed.put_nowait(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Whoever typed has gone."""
        del exc
        self._task.cancel()

    async def _read(self) -> None:
        while not self._terminal.closed:
            typed = await self._typed.get()
            if not self._switch.ssh_reachable():
                self._channel.abort()
                return
            self._channel.write(await asyncio.to_thread(self._terminal.type, typed))
        self._channel.exit(0)


def _host_key(path: Path) -> asyncssh.SSHKey:
    """The host key in this file, made if it does not exist; only its owner may read it."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(asyncssh.generate_private_key("ssh-ed25519").export_private_key())
    return asyncssh.read_private_key(path)
