# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one way to lock something among processes. A lock dies with its holder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from typing import Iterator

LOOK_AGAIN = 0.2


class Held(Exception):
    """Another process has the lock."""


def lock_file(path: str) -> int:
    """Open a file to lock, which nobody else can open: whoever can open a file or a directory can lock it for ever."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


@contextlib.contextmanager
def locked(descriptor: int, byte: int | None = None, timeout: float | None = None) -> Iterator[None]:
    """Hold a lock while the body runs.

    Args:
        descriptor: an open file.
        byte: this byte of the file alone; by default all of it.
        timeout: how long to wait for another holder, in seconds; by default as long as it takes.

    Raises Held: it still has the lock.
    """

    def change(operation: int) -> None:
        if byte is None:
            fcntl.flock(descriptor, operation)
        else:
            fcntl.lockf(descriptor, operation, 1, byte)

    until = time.monotonic() + (timeout or 0)
    while True:
        try:
            change(fcntl.LOCK_EX | (0 if timeout is None else fcntl.LOCK_NB))
            break
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= until:
                raise Held from None
        time.sleep(LOOK_AGAIN)
    try:
        yield
    finally:
        change(fcntl.LOCK_UN)
