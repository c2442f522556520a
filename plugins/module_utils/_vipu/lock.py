# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer at a time on a controller host. The lock dies with its holder."""

from __future__ import annotations

import contextlib
import getpass
import os
import socket
import stat
import time
from typing import Iterator

from .._host.lock import Held, lock_file, locked
from .._plan.converge import Refused

# For nobody else to enter, so not in /run/ipu-pod, where jobs of Slurm have theirs.
OF_ROOT, OF_OTHERS = "/run/ipu-pod-locks", "~/.local/state/ipu-pod"


def lock_of(port: int, directory: str = "") -> str:
    """The lock of the controller with that admin port; a host has many names, so the name is no part of it."""
    own = os.path.expanduser(OF_OTHERS) if os.geteuid() else OF_ROOT
    return f"{directory or own}/vipu-{port}.lock"


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
    directory = os.path.dirname(path)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        if _is_anybodys(os.lstat(directory)):
            raise Refused(
                f"{directory}: others can write there, and so hold or remove the lock; make it a directory of "
                f"{getpass.getuser()} with mode 0700"
            )
        return lock_file(path)
    except OSError as error:
        raise Refused(f"{path}: the lock cannot be opened ({error.strerror}); run as the user who owns it") from error


def _is_anybodys(directory: os.stat_result) -> bool:
    is_own = stat.S_ISDIR(directory.st_mode) and directory.st_uid == os.geteuid()
    return not is_own or bool(directory.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _holder(what: str) -> str:
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    return f"process {os.getpid()} of {getpass.getuser()} on {socket.gethostname()}, since {since}, for {what},"
