# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a server waits for its end."""

from __future__ import annotations

import os
import signal


def stop_requested() -> int:
    """A file descriptor that can be read as soon as SIGTERM or SIGINT has come.

    A signal that comes just before the main thread begins to wait for a lock wakes nobody; what is written stays.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    return reading
