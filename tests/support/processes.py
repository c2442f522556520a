# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes that tests start, wait for and end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# The process list has each process for as long as it runs.
LOOK_EVERY = 0.05
# A busy machine takes its time, so this is long.
ENDS_WITHIN_SECONDS = 120


def wait_until(holds: Callable[[], bool], seconds: float = 120) -> None:
    """Wait until something holds that takes others a moment; after some seconds the test has failed."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def end(process: subprocess.Popen[Any]) -> int:
    """End a process by SIGTERM, wait for that, and return its exit code; one that goes on is killed."""
    process.terminate()
    try:
        return process.wait(ENDS_WITHIN_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


def kill_with_all_below(process: subprocess.Popen[Any]) -> None:
    """End a process and what it has started, without a word to them: as if their machine had lost its power."""
    if process.poll() is None:
        family = [process.pid]
        # Ansible's workers are in sessions of their own, and outlive their parent.
        for pid in family:
            # What is stopped starts nothing more, and a worker may just have ended.
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
                family += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split())
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    process.wait()


def process_folders() -> list[Path]:
    """The folder in /proc of each process; not by a deeper glob, which fails where a process has just ended."""
    return list(Path("/proc").glob("[0-9]*"))


@contextlib.contextmanager
def process_list() -> Iterator[set[str]]:
    """Every command line that runs meanwhile, also in containers."""
    found: set[str] = set()
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(LOOK_EVERY):
            for process in process_folders():
                # It may have ended.
                with contextlib.suppress(OSError):
                    found.add((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        is_over.set()
        thread.join()
