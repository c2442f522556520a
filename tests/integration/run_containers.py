# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers of ipu-run on simulated servers: what it says of them, and their network ports."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.packets.ports import Port, ports_of
from tests.support.processes import process_folders

RATES = re.compile(r"\d+\.\d MiB/s")


def listed(pod: Any, server: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(pod.inside(server, "ipu-run --list --json"))
    return found


def said(pod: Any, server: str, command: str, user: str = "root") -> list[str]:
    """What a command says in the end, and its exit status; rates are any."""
    # A login has what it finds in its own environment, and not that of who became somebody else before.
    login = f"su {user} --login --command {shlex.quote(f'{command} 2>&1; echo status $?')} </dev/null"
    return [RATES.sub("RATE", line) for line in pod.inside(server, login).splitlines()]


@contextmanager
def running(pod: Any, server: str, name: str, options: str = "") -> Iterator[Port]:
    """A container that sleeps, by the name of its network namespace here, with its RNIC port."""
    pod.inside(server, f"ipu-run --detach --name {name} {options} poplar sh -c 'sleep 600; :'")
    namespace = f"podsim-{server}-{name}"
    engine = "docker" if "docker" in options else "podman"
    process = pod.inside(server, f"{engine} inspect --format '{{{{.State.Pid}}}}' {name}").strip()
    subprocess.run(["ip", "netns", "attach", namespace, host_process(pod, server, process)], check=True)
    try:
        yield ports_of(namespace)["eth0"]
    finally:
        subprocess.run(["ip", "netns", "delete", namespace], check=True)
        # A shell that is the first process heeds no other signal, and podman would wait for it.
        pod.inside(
            server, f"({engine} kill {name}; {engine} rm --force {name}) >/dev/null 2>&1; ipu-run --release-ended"
        )


def host_process(pod: Any, server: str, process: str) -> str:
    """The number here of a process that has that number on a machine."""
    space = pod.inside(server, "readlink /proc/1/ns/mnt").strip()
    init = next(each for each in process_folders() if linked(each / "ns" / "mnt") == space)
    machine = linked(init / "ns" / "pid")
    for each in process_folders():
        try:
            numbers = re.search(r"^NSpid:\s+(.+)$", (each / "status").read_text(), re.MULTILINE)
        except OSError:
            continue
        # Its own number in the container comes last.
        if numbers and process in numbers[1].split()[1:] and machine in spaces_above(each):
            return each.name
    raise AssertionError(f"no process {process} of {server}")


def linked(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def spaces_above(process: Path) -> set[str]:
    """The PID namespaces of a process's ancestors, and its own."""
    found = set()
    while process.name not in ("0", ""):
        found.add(linked(process / "ns" / "pid"))
        try:
            parent = re.search(r"^PPid:\s+(\d+)$", (process / "status").read_text(), re.MULTILINE)
        except OSError:
            break
        process = process.with_name(parent[1] if parent else "0")
    return found
