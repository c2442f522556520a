# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The other servers of a session, as its first one sees them: an ipu-run on each, at the other end of an SSH."""

from __future__ import annotations

import contextlib
import os
import selectors
import threading
from dataclasses import dataclass, field
from typing import IO, Callable, Sequence

from .._plan.converge import DeviceError
from .settings import PROGRAM
from .user import User, as_user

# So often a part hears of the first server, in seconds; it ends when it has heard nothing for much longer.
BEAT, SILENCE = 5.0, 60.0
# No answer is longer.
_LONGEST = 65536


@dataclass
class Link:
    """The way to one part.

    Args:
        input: its standard input, without a buffer.
        output: its standard output, likewise.
        finish: waits until it has ended, with its input closed. Returns its last words.
    """

    server: str
    input: IO[bytes]
    output: IO[bytes]
    finish: Callable[[], str]
    heard: bytes = field(default=b"", init=False)


class Parts:
    """All parts of a session; every method raises DeviceError, which names the server, if one has ended."""

    def __init__(self, links: Sequence[Link]) -> None:
        self._links = links
        self._is_over = threading.Event()
        self._beats = threading.Thread(target=self._beat, daemon=True)
        self._selector = selectors.DefaultSelector()
        for link in links:
            self._selector.register(link.output, selectors.EVENT_READ, link)

    def tell(self, lines: Sequence[str]) -> None:
        """Tell each part one line, the first part the first one."""
        for link, line in zip(self._links, lines):
            _write(link, line.encode() + b"\n")
        if not self._beats.is_alive():
            self._beats.start()

    def answers(self) -> list[tuple[str, str]]:
        """The next line of each part, with its server."""
        while any(b"\n" not in link.heard for link in self._links):
            self.watch(BEAT)
        found = []
        for link in self._links:
            line, _newline, link.heard = link.heard.partition(b"\n")
            found.append((link.server, line.decode(errors="replace")))
        return found

    def watch(self, seconds: float) -> None:
        """See for so long at most that all are there."""
        for key, _events in self._selector.select(seconds):
            link: Link = key.data
            heard = os.read(link.output.fileno(), _LONGEST)
            link.heard += heard
            if len(link.heard) > _LONGEST:
                raise DeviceError(f"server {link.server}: its ipu-run says more than there is to say")
            if not heard:
                self._selector.unregister(link.output)
                link.input.close()
                why = link.finish() or "its ipu-run has ended without a word"
                raise DeviceError(f"server {link.server}: {why}")

    def end(self) -> None:
        """End all of them, and wait until they have."""
        self._is_over.set()
        if self._beats.is_alive():
            self._beats.join()
        for link in self._links:
            link.input.close()
        for link in self._links:
            link.finish()
            link.output.close()
        self._selector.close()

    def _beat(self) -> None:
        """Even while the session waits for something else."""
        while not self._is_over.wait(BEAT):
            for link in self._links:
                _write(link, b"\n")


def ssh_words(server: str, user: User) -> list[str]:
    """The command that starts a part on another server, as the user who has started this one."""
    as_root = ["sudo", "--non-interactive"] if user.uid else []
    options = ("BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3")
    words = [word for option in options for word in ("-o", option)]
    return [*as_user(user), "ssh", "-T", *words, server, *as_root, PROGRAM, "--part"]


def _write(link: Link, data: bytes) -> None:
    # One that has ended is seen by what it does not say any more.
    with contextlib.suppress(OSError, ValueError):
        link.input.write(data)
