# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer at a time on a controller host. The lock dies with its holder."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from typing import Iterator

from .._plan.converge import Refused

LOCK_FILE = "/run/lock/ipu.pod.vipu.lock"


@contextlib.contextmanager
def only_writer(path: str = LOCK_FILE) -> Iterator[None]:
    """Hold the lock while the body runs.

    Raises:
        Refused: another run holds it; the message names its process and since when.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            holder = os.read(descriptor, 200).decode(errors="replace").strip() or "another process"
            raise Refused(f"{path}: {holder} is changing this V-IPU controller; run again when it is done") from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()}, since {time.strftime('%Y-%m-%d %H:%M:%S')}".encode(), 0)
        yield
    finally:
        os.close(descriptor)
