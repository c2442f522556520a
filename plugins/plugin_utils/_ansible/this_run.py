# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""This run of a playbook, and whether another one on this control node still lives."""

from __future__ import annotations

import getpass
import multiprocessing
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible import context

from ansible_collections.ipu.pod.plugins.module_utils._runs.run import Run


def this_run() -> Run:
    """The run that the caller belongs to, from Ansible's main process or from one of its workers."""
    process = _main_process()
    return Run(
        user=_user(),
        host=socket.gethostname(),
        process=process,
        process_started=_started(process),
        node=_node(),
        playbook=" ".join(Path(name).name for name in context.CLIARGS.get("args") or ()) or "ansible",
    )


def _main_process() -> int:
    """Ansible's main process, from itself or from one of its workers."""
    main = multiprocessing.parent_process()
    return (main.pid if main else None) or os.getpid()


def _user() -> str:
    """Who sits there, even as root; a container's user may have no name."""
    try:
        return os.environ.get("SUDO_USER") or getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def is_gone(run: Mapping[str, Any], node: str) -> bool:
    """Whether a run, as plain data, is known to have ended: only where its process numbers are those of ``node``."""
    return bool(node) and run["node"] == node and _started(run["process"]) != run["process_started"]


def _started(process: int) -> str:
    """When a process started, in the kernel's ticks; empty if there is none, or only its exit code is left."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The name of the program, in parentheses, may hold anything.
    state, *numbers = status.rpartition(")")[2].split()
    return "" if state in ("Z", "X") else numbers[18]


def _node() -> str:
    """This machine since it was booted, and the container that counts its processes; empty without /proc."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def seconds_since_start() -> float:
    """How long this run has taken so far; 0 where there is no /proc to tell."""
    started = int(_started(_main_process()) or 0) / os.sysconf("SC_CLK_TCK")
    uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0]) if started else 0.0
    return uptime - started
