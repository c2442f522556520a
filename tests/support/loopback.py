# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of the tests that listen on the loopback interface."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

HOST = "127.0.0.1"
# Below the ports that outgoing connections get; tests that run side by side begin far apart.
FIRST, COUNT, APART = 10000, 20000, 7919
_numbers = itertools.count(os.getpid() * APART)


def free_port() -> int:
    """A TCP port that nobody listens on; each call gives another."""
    while True:
        port = FIRST + next(_numbers) % COUNT
        with socket.socket() as probe:
            # As servers do; what is only being closed is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
        return port


@contextlib.contextmanager
def closed_port() -> Iterator[int]:
    """A TCP port that refuses connections, and that no test beside this one gets meanwhile."""
    with socket.socket() as held:
        held.bind((HOST, 0))
        yield held.getsockname()[1]


def started(argv: list[str], directory: Path, port: int) -> subprocess.Popen[bytes]:
    """A program, once it accepts connections on a port."""
    process = subprocess.Popen(argv, cwd=directory, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return process
    pytest.fail(f"{argv[0]} ended with {process.returncode} instead of listening")
