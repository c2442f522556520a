# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host processes of one simulated pod. Each carries a mark in its environment, so none is ever lost or mistaken.

What a daemon has started itself carries its mark, too, and may outlive it; the daemon is who leads its session.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from podsim.floor.errors import FloorError
from podsim.floor.state import StateDirectory

MARK = "PODSIM_DAEMON"
STOP_SECONDS = 5.0


class Daemons:
    """The daemons of the pod that belongs to one state directory."""

    def __init__(self, state: StateDirectory) -> None:
        self._state = state

    def mark(self, name: str) -> dict[str, str]:
        """The environment that makes a process the daemon `name` of this pod."""
        return {MARK: f"{self._state.root}:{name}"}

    def running(self) -> dict[str, int]:
        """The process id of each running daemon, by name."""
        return {name: process for name, process in self._marked() if _leads_its_session(process)}

    def start(self, name: str, command: list[str], log: Path) -> subprocess.Popen[bytes]:
        """Start a process that stays in the foreground; what it says goes to `log`. From then on its mark is seen."""
        self._end(name)
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                env={**os.environ, **self.mark(name)},
            )
        # Popen returns at the exec, the kernel shows the new environment a moment later.
        while process.poll() is None and name not in self.running():
            os.sched_yield()
        return process

    def stop(self) -> None:
        """End every daemon of this pod and what it has started: asked first, killed after five seconds."""
        self._end()

    def _end(self, name: str | None = None) -> None:
        """End what carries this daemon's mark, or that of any daemon of this pod."""

        def marked() -> dict[int, str]:
            return {process: mark for mark, process in self._marked() if name in (None, mark)}

        for sig in (signal.SIGTERM, signal.SIGKILL):
            watched = []
            for process in marked():
                with contextlib.suppress(ProcessLookupError):
                    watched.append(os.pidfd_open(process))
                    signal.pidfd_send_signal(watched[-1], sig)
            _wait_for_end(watched)
        if left := marked():
            raise FloorError(f"the daemons {left} did not end; end these processes by hand and repeat.")

    def _marked(self) -> Iterator[tuple[str, int]]:
        """Mark and id of every process of this pod."""
        prefix = f"{MARK}={self._state.root}:"
        for process, environment in _environments():
            for variable in environment:
                if variable.startswith(prefix):
                    yield variable.removeprefix(prefix), process


def _leads_its_session(process: int) -> bool:
    try:
        return os.getsid(process) == process
    except ProcessLookupError:
        return False


def _wait_for_end(watched: list[int]) -> None:
    deadline = time.monotonic() + STOP_SECONDS
    pending = set(watched)
    while pending and (left := deadline - time.monotonic()) > 0:
        ended, _, _ = select.select(pending, [], [], left)
        pending.difference_update(ended)
    for watch in watched:
        os.close(watch)


def _environments() -> Iterator[tuple[int, list[str]]]:
    """Process id and environment of each process here; a machine within this one may run a pod of the same name."""
    here = _process_namespace(Path("/proc/self"))
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            # A process may end while we look at it.
            with contextlib.suppress(OSError):
                if _process_namespace(entry) == here:
                    content = (entry / "environ").read_bytes().decode("utf-8", "replace")
                    yield int(entry.name), content.split("\0")


def _process_namespace(process: Path) -> str:
    return os.readlink(process / "ns" / "pid")
