# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer at a time on a controller host. The lock dies with its holder."""

from __future__ import annotations

import contextlib
import getpass
import os
import socket
import time
from typing import Iterator

from .._host.lock import Held, locked
from .._plan.converge import Refused

LOCK_DIRECTORY = "/run/lock"


def lock_file(port: int, directory: str = LOCK_DIRECTORY) -> str:
    """The lock of the controller with that admin port; a host has many names, so the name is no part of it."""
    return f"{directory}/ipu.pod.vipu-{port}.lock"


@contextlib.contextmanager
def only_writer(path: str, what: str, timeout: float = 0) -> Iterator[None]:
    """Hold the lock while the body runs; wait up to ``timeout`` seconds for it. ``what`` tells others what this is for.

    Raises:
        Refused: another run holds it; the message says who, where, since when and what for.
    """
    descriptor = _opened(path)
    try:
        with locked(descriptor, timeout=timeout):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, _holder(what).encode(), 0)
            try:
                yield
            finally:
                os.ftruncate(descriptor, 0)
    except Held:
        holder = os.pread(descriptor, 500, 0).decode(errors="replace").strip() or "another process"
        raise Refused(
            f"{path}: {holder} is changing this V-IPU controller; run again when it is done, or raise lock_timeout"
        ) from None
    finally:
        os.close(descriptor)


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise Refused(f"{path}: the lock cannot be opened ({error.strerror}); run as the user who owns it") from error


def _holder(what: str) -> str:
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    return f"process {os.getpid()} of {getpass.getuser()} on {socket.gethostname()}, since {since}, for {what},"
