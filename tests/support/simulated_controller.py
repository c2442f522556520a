# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated V-IPU controller on loopback, its agents, and the program that asks it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from podsim.vipu import agent, machine
from tests.support.checkout import PROGRAMS
from tests.support.loopback import HOST, free_port, started
from tests.support.processes import end

AGENT_PORT = 8080


@contextmanager
def running_agents(addresses: Mapping[str, str]) -> Iterator[None]:
    """IPU-Machines, each with a loopback address of its own, so that its agent can have the port that agents have."""
    servers = []
    for number, (name, address) in enumerate(addresses.items(), 1):
        facts = machine.facts(name, "1.18.0", f"10.5.1.{number}", 2112)
        servers.append(agent.start(f"{address}:{AGENT_PORT}", lambda facts=facts: facts))
    try:
        yield
    finally:
        for server in servers:
            server.stop(grace=None).wait()


@contextmanager
def agent_processes(names: Sequence[str], directory: Path) -> Iterator[list[int]]:
    """The same as processes with one address, started in a directory; the ports that they have."""
    ports = [free_port() for _ in names]
    program = [f"{PROGRAMS}/podsim", "agent", "--metrics-port", "0"]
    processes = [
        started([*program, "--listen", f"{HOST}:{port}", "--id", name, "--rnic", f"10.5.1.{number}"], directory, port)
        for number, (name, port) in enumerate(zip(names, ports, strict=True), 1)
    ]
    try:
        yield ports
    finally:
        for process in processes:
            end(process)


@contextmanager
def running_controller(directory: Path, user_port: int, admin_port: int, *options: str) -> Iterator[None]:
    """A controller that holds nothing yet, with its storage in a directory."""
    subprocess.run([f"{PROGRAMS}/vipu-server", "--init"], cwd=directory, check=True, capture_output=True)
    ports = ["--user-port", str(user_port), "--admin-port", str(admin_port), "--metrics-port", "0"]
    server = subprocess.Popen(
        [f"{PROGRAMS}/vipu-server", "--listen", HOST, *ports, *options],
        cwd=directory,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout
    assert server.stdout.readline().startswith("vipu-server")
    try:
        yield
    finally:
        end(server)
        server.stdout.close()


def vipu_admin(directory: Path, admin_port: int, words: str) -> None:
    """Type a command of ``vipu-admin``, which has to succeed."""
    command = [f"{PROGRAMS}/vipu-admin", "-P", str(admin_port), *words.split()]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
