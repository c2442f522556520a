# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way into running containers; `podman exec` would take most of the time of many tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

NAMESPACES = ("--mount", "--uts", "--ipc", "--net", "--pid")
# What programs find there.
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


class Containers:
    """Knows the first process of each container that was entered."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, str]] = {}

    def enter(self, name: str) -> list[str]:
        """The words before a command that run it in a container, which may have been restarted since the last one."""
        process, started = self._known.get(name, ("", ""))
        if not started or _started(process) != started:
            ask = ["podman", "inspect", "--format", "{{.State.Pid}}", name]
            process = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
            self._known[name] = (process, _started(process))
        return ["nsenter", "--target", process, *NAMESPACES, "--root", "--wd"]

    def run(self, name: str, *command: str) -> str:
        """The output of a command in a container, which has to succeed."""
        done = subprocess.run(
            [*self.enter(name), *command], capture_output=True, text=True, env=ENVIRONMENT, check=False
        )
        assert done.returncode == 0, f"{name}: {' '.join(command)}: {done.stdout}{done.stderr}"
        return done.stdout


def _started(process: str) -> str:
    """When a process has started; empty without it."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return ""
    # The name of the program may have blanks in it.
    return status.rpartition(")")[2].split()[19]
