# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two Poplar servers with kernels of their own on the simulated ToR switch, and what one sees from outside of them.

The modules of this folder are one story on one bed, told in the order of their names. Everything that they check is
looked at with the servers' own tools, on the wire, or from another machine; nothing of the collection is imported.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import testinfra

PROJECT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
INVENTORY = PROJECT / "inventories" / "sim_vms"
STATE = PROJECT / "build" / "podsim"
PLAYS = Path(__file__).parent / "plays"
DATA_PLANE = "podsim.dataplane"
# Emulated processors are slow; nothing of this is a measure of the collection.
PATIENCE = 300


@dataclass(frozen=True)
class Run:
    """What a play did."""

    code: int
    document: dict[str, Any]

    @property
    def changed(self) -> dict[str, int]:
        return {host: stats["changed"] for host, stats in self.document["stats"].items()}

    @property
    def messages(self) -> str:
        """What was said by everything that failed or could not be reached."""
        results = [
            result for play in self.document["plays"] for task in play["tasks"] for result in task["hosts"].items()
        ]
        return "\n".join(
            f"{host}: {result.get('msg')}"
            for host, result in results
            if result.get("failed") or result.get("unreachable")
        )


class Play:
    """A play that runs."""

    def __init__(self, name: str, variables: dict[str, Any]) -> None:
        self._name = name
        self.process = subprocess.Popen(
            [
                f"{PROGRAMS}/ansible-playbook",
                *("-i", str(INVENTORY), str(PLAYS / f"{name}.yml"), "-e", json.dumps(variables)),
            ],
            cwd=PROJECT,
            env={**os.environ, "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self) -> Run:
        """Wait until it has ended."""
        output, errors = self.process.communicate()
        try:
            return Run(self.process.returncode, json.loads(output[output.index("{") :]))
        except ValueError:
            pytest.fail(f"{self._name} printed no JSON: {output[-2000:]}{errors[-2000:]}")

    def kill(self) -> None:
        """As if the control node had lost its power; what it has started on the server goes on."""
        family = [self.process.pid]
        # Ansible's workers are in sessions of their own, and outlive their parent.
        for process in family:
            family += map(int, Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split())
        for process in family:
            os.kill(process, signal.SIGKILL)
        self.process.communicate()


class Bed:
    """The running bed."""

    def play(self, name: str, **variables: Any) -> Run:
        """Run one of the plays to its end."""
        return Play(name, variables).end()

    def begin(self, name: str, **variables: Any) -> Play:
        """Start one of the plays."""
        return Play(name, variables)

    def server(self, name: str) -> Any:
        """One of the servers, as testinfra sees it."""
        return testinfra.get_host(f"ssh://{name}", ssh_config=str(STATE / "ssh_config"), controlpersist=PATIENCE)

    def answers(self, machine: str, address: str) -> bool:
        """Whether an address answers one ping from an IPU-Machine."""
        ping = ["podman", "exec", f"podsim-{machine}", "ping", "-q", "-c", "1", "-W", "2", address]
        return subprocess.run(ping, capture_output=True, check=False).returncode == 0

    def cable(self, server: str, nic: int, *, plugged: bool) -> None:
        """Plug a server's RNIC in or out."""
        self.console(server, "set_link", name=f"nic{nic + 1}", up=plugged)

    def reset(self, server: str) -> None:
        """Press the reset button: no process is told, nothing that is not on the disk is kept."""
        self.console(server, "system_reset")

    @staticmethod
    def console(server: str, command: str, **arguments: Any) -> None:
        """One command to the virtual machine itself, by QEMU's machine protocol."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(STATE / "vms" / f"{server}.qmp"))
            lines = connection.makefile("rw")
            for request in ({"execute": "qmp_capabilities"}, {"execute": command, "arguments": arguments}):
                lines.write(json.dumps(request))
                lines.flush()
                answer = {}
                while not answer.keys() & {"return", "error"}:
                    answer = json.loads(lines.readline())
                assert "error" not in answer, answer

    def wait_for_boot(self, server: str, before: str) -> None:
        """Wait until a server has booted again after the boot `before`, and all its services have started."""
        ready = f'[ "$(cat /proc/sys/kernel/random/boot_id)" != {before} ] && systemctl is-system-running --wait'
        ssh = ["ssh", "-F", str(STATE / "ssh_config"), "-o", "ConnectTimeout=5", server, ready]
        self.until(
            lambda: subprocess.run(ssh, capture_output=True, check=False).returncode == 0, f"{server} has not booted"
        )

    @staticmethod
    def until(condition: Callable[[], bool], failure: str) -> None:
        """Wait for a condition; what never comes true fails."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                pytest.fail(f"{failure} after {PATIENCE} s")
            time.sleep(1)

    @contextlib.contextmanager
    def wire(self, port: str, protocol: str, frames: int) -> Iterator[list[str]]:
        """The next frames of a protocol, tagged or not, that pass a switch's port, as tcpdump prints them."""
        tcpdump = [
            "tcpdump",
            "--immediate-mode",
            "-nei",
            port,
            "-c",
            str(frames),
            f"{protocol} or (vlan and {protocol})",
        ]
        command = ["timeout", str(PATIENCE), "ip", "netns", "exec", DATA_PLANE, *tcpdump]
        seen: list[str] = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout
            assert process.stderr
            while "listening on" not in (line := process.stderr.readline()):
                assert line, "tcpdump did not start"
            try:
                yield seen
                seen += process.stdout.read().splitlines()
            finally:
                process.terminate()
            assert len(seen) == frames


def podsim(*arguments: str) -> None:
    done = subprocess.run([f"{PROGRAMS}/podsim", *arguments], cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.fail(f"podsim {arguments[0]}: {done.stdout}{done.stderr}")


@pytest.fixture(scope="session", name="bed")
def _bed() -> Iterator[Bed]:
    if os.geteuid() != 0 or platform.machine() != "x86_64" or shutil.which("qemu-system-x86_64") is None:
        pytest.skip("virtual machines need root and QEMU on an x86-64 host; run: make acceptance")
    podsim("down")
    podsim("up", str(INVENTORY / "pods.yml"))
    yield Bed()
    podsim("down")
