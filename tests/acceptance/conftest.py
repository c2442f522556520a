# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two Poplar servers with kernels of their own on the simulated ToR switch, and what one sees from outside of them.

The modules of this folder are one story on one bed, in the order of their names. Everything that they check is
looked at with the servers' own tools, on the wire, or from another machine; nothing of the collection is imported.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import testinfra

from tests.support.checkout import PROGRAMS, ROOT
from tests.support.playbook_run import JSON_OUTPUT, PlaybookRun, playbook_run
from tests.support.processes import kill_with_all_below
from tests.support.qmp import qmp
from tests.support.simulated_pod import STATE, podsim

INVENTORY = ROOT / "inventories" / "sim_vms"
PLAYS = Path(__file__).parent / "plays"
DATA_PLANE = "podsim.dataplane"
# The ports of the switch that the servers' RNICs are cabled to.
PORTS = {"pod001-poplar1": ("pst1e25-1", "pst1e26-1"), "pod001-poplar2": ("pst1e27-1", "pst1e28-1")}
# Emulated processors are slow; nothing of this is a measure of the collection.
PATIENCE = 300


class Play:
    """A play that runs."""

    def __init__(self, name: str, variables: dict[str, Any]) -> None:
        self._name = name
        self.process = subprocess.Popen(
            [
                f"{PROGRAMS}/ansible-playbook",
                *("-i", str(INVENTORY), str(PLAYS / f"{name}.yml"), "-e", json.dumps(variables)),
            ],
            cwd=ROOT,
            env={**os.environ, **JSON_OUTPUT},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self) -> PlaybookRun:
        """Wait until it has ended."""
        output, errors = self.process.communicate()
        return playbook_run(self._name, self.process.returncode, output, errors)

    def kill(self) -> None:
        """As if the control node had lost its power; what it has started on the server goes on."""
        kill_with_all_below(self.process)
        self.process.communicate()


@dataclass(frozen=True)
class Settings:
    """Of one server: links by name, what ethtool and the RDMA CM say of the first RNIC, and all files."""

    links: dict[str, dict[str, Any]]
    roce: str
    files: str


def link_settings(link: dict[str, Any]) -> dict[str, Any]:
    """The settings that somebody has made of a link, from the output of `ip`."""
    return {
        "up": "UP" in link["flags"],
        "mtu": link["mtu"],
        "master": link.get("master"),
        "vlan": link.get("linkinfo", {}).get("info_data", {}).get("id"),
        "addresses": sorted(
            f"{info['local']}/{info['prefixlen']}" for info in link["addr_info"] if info["scope"] == "global"
        ),
    }


class Bed:
    """The running bed."""

    def play(self, name: str, **variables: Any) -> PlaybookRun:
        """Run one of the plays to its end."""
        return Play(name, variables).end()

    def begin(self, name: str, **variables: Any) -> Play:
        """Start one of the plays."""
        return Play(name, variables)

    def server(self, name: str) -> Any:
        """One of the servers, as testinfra sees it."""
        return testinfra.get_host(f"ssh://{name}", ssh_config=str(STATE / "ssh_config"), controlpersist=PATIENCE)

    def settings(self, name: str) -> Settings:
        """The running and the kept settings of a server's network, and of its first RNIC's lossless Ethernet."""
        server = self.server(name)
        links = json.loads(server.check_output("ip -details -json address show"))
        rdma_cm = "mkdir rxe0 && grep -r . rxe0/ports; rmdir rxe0"
        folders = "/etc/systemd/network /etc/netplan /etc/NetworkManager /etc/ipu-roce"
        return Settings(
            links={link["ifname"]: link_settings(link) for link in links if link["ifname"] not in ("lo", "eth0")},
            roce=server.check_output(f"ethtool -g rnic0; cd /sys/kernel/config/rdma_cm && {rdma_cm}"),
            files=server.check_output(f"find {folders} -type f ! -name '.*' | sort | xargs grep -s ''"),
        )

    def answers(self, machine: str, address: str) -> bool:
        """Whether an address answers one ping from an IPU-Machine."""
        ping = ["podman", "exec", f"podsim-{machine}", "ping", "-q", "-c", "1", "-W", "2", address]
        return subprocess.run(ping, capture_output=True, check=False).returncode == 0

    def cable(self, server: str, nic: int, *, plugged: bool) -> None:
        """Plug a server's RNIC in or out; both ends of the cable see it."""
        self.console(server, "set_link", name=f"nic{nic + 1}", up=plugged)
        end = ["ip", "-n", DATA_PLANE, "link", "set", PORTS[server][nic], "up" if plugged else "down"]
        subprocess.run(end, check=True)

    def reset(self, server: str) -> None:
        """Press the reset button: no process is notified, nothing that is not on the disk is kept."""
        self.console(server, "system_reset")

    @staticmethod
    def console(server: str, command: str, **arguments: Any) -> None:
        """One command to the virtual machine itself, by QEMU's machine protocol."""
        qmp(STATE / "vms" / f"{server}.qmp", command, **arguments)

    def boot(self, server: str) -> str:
        """The id of the server's boot, which is another after each."""
        return str(self.server(server).check_output("cat /proc/sys/kernel/random/boot_id"))

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


@pytest.fixture(scope="session", name="bed")
def _bed() -> Iterator[Bed]:
    # Without virtual machines there is nothing to test; whatever else is missing is a failure.
    podsim("prerequisites", "--install", "--virtual-machines", may_be_unavailable=True)
    podsim("down")
    podsim("up", str(INVENTORY / "pods.yml"))
    yield Bed()
    podsim("down")
