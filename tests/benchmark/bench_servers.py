# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The servers' part of site.yml against a playbook of single settings, over SSH, when nothing is to do.

Servers in containers (systemd, systemd-networkd, stand-ins for the NIC tools), four for each side, get two RNICs with
address and MTU, their lossless settings, and kernel parameters, all of it persistent:

- ours: playbooks/poplar_servers.yml, which looks at all servers side by side and would change one after the other;
- theirs: one server after the other, what a good operator writes, a template and a handler for the network files,
  `ansible.posix.sysctl`, and for each setting of a NIC a command that runs only where the tool shows something else,
  with a unit for the next boot.

Theirs does not look at the addresses and MTUs that are running, so that it is less than ours; and it is written for
speed: one look at a tool for all its settings. The sides run in turn, and the best of each counts, because others may
use the machine, too.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from podsim.floor.image import NAME
from tests.benchmark.measuring import figure
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.container_server import ContainerServer, begin_play, end_of, podman_in

PLAYBOOK = ROOT / "playbooks" / "poplar_servers.yml"
THEIRS = Path(__file__).parent / "single_settings"
SERVERS, ROUNDS = 4, 2
# What a run says that had nothing to do.
NOTHING = "nothing changed"
NICS = ("rnic0", "rnic1")
MTU = 9000
ROCE: dict[str, Any] = {
    "pause": {"rx": False, "tx": False},
    "trust": "dscp",
    "dscp_map": {26: 3, 48: 6},
    "pfc": [3],
    "roce_mode": "v2",
    "roce_tos": 106,
    "rings": {"rx": 8192, "tx": 8192},
}
# What the kernel has by itself, because a container may not change it.
SYSCTL = {"net.ipv4.tcp_ecn": "2", "net.ipv4.tcp_slow_start_after_idle": "1"}
# What one look at a server runs for its NICs.
LINKS = ["ip -details -json address show", "ip -4 -json route show default", "ip -6 -json route show default"]
PORT = "-d {1} -p 1"
PER_NIC = ["mlnx_qos -i {0}", "ethtool -a {0}", "ethtool -g {0}", f"cma_roce_mode {PORT}", f"cma_roce_tos {PORT}"]
ASKED = [
    *(*LINKS, "mlnx_qos --version", "rdma -j link show"),
    *(command.format(nic, f"mlx5_{number}") for number, nic in enumerate(NICS) for command in PER_NIC),
]
PYTHON = "/usr/bin/python3"
COUNTERS = "/root/counters"
# Stands before the real programs, says what is run, and runs it.
COUNTED = """\
#!/bin/sh
echo "${0##*/} $*" >> /run/counted
PATH=${PATH#*:}
exec "${0##*/}" "$@"
"""
# The Python that finds these first.
COUNTING = f"""\
#!/bin/sh
PATH={COUNTERS}:$PATH exec {PYTHON} "$@"
"""


class Row:
    """Running servers, and playbooks that are run on them."""

    def __init__(self, folder: Path, servers: list[ContainerServer]) -> None:
        self._folder = folder
        self._servers = servers
        self._inventory = folder / "inventory"

    def set_up(self) -> None:
        """Have our role make the servers as declared."""
        role = {"import_role": {"name": "ipu.pod.poplar_server"}}
        tasks = [{**role, "vars": {"poplar_server_interfaces": "{{ rnic_interfaces }}"}}]
        playbook = self._folder / "set_up.yml"
        playbook.write_text(json.dumps([{"hosts": "poplar_servers", "gather_facts": False, "tasks": tasks}]))
        self._declare(PYTHON)
        self._play(playbook)

    def ours(self, python: str = PYTHON) -> float:
        """The seconds that our playbook took, which has nothing to change; ``python`` runs its modules."""
        self._declare(python)
        start = time.monotonic()
        printed = self._play(PLAYBOOK)
        taken = time.monotonic() - start
        if NOTHING not in printed:
            raise RuntimeError(f"the playbook did not do what it was to do:\n{printed}")
        return taken

    def theirs(self, changes: bool) -> float:
        """The seconds that the playbook of single settings took, which changes something on each server, or nothing."""
        playbook = (THEIRS / "play.yml").read_text()
        (play,) = yaml.safe_load(playbook.replace("src: ", f"src: {THEIRS}/templates/"))
        if changes:
            play["serial"] = SERVERS
        nics = [_single_settings(nic, number) for number, nic in enumerate(NICS)]
        start = time.monotonic()
        output = end_of(begin_play(self._folder / "play", self._servers, [play], nics=nics, sysctl=SYSCTL))
        taken = time.monotonic() - start
        for sums in (output["stats"][server.name] for server in self._servers):
            if sums["failures"] or sums["unreachable"] or bool(sums["changed"]) != changes:
                raise RuntimeError(f"the playbook did not do what it was to do:\n{json.dumps(output['stats'])}")
        return taken

    def count_programs(self) -> None:
        """Put something before the programs that a server is asked with."""
        names = " ".join(sorted({command.split()[0] for command in ASKED}))
        for server in self._servers:
            server.sh(f"mkdir {COUNTERS} && cd {COUNTERS} && cat > python <<'END'\n{COUNTING}END\nchmod +x python")
            server.sh(f"cd {COUNTERS} && cat > counter <<'END'\n{COUNTED}END\nchmod +x counter")
            server.sh(f"cd {COUNTERS} && for name in {names}; do ln counter $name; done")

    def programs(self) -> list[list[str]]:
        """The programs that have run on each server since then."""
        return [server.sh("cat /run/counted").splitlines() for server in self._servers]

    def _play(self, playbook: Path) -> str:
        """The output of a playbook of ours, which has to succeed."""
        command = [f"{PROGRAMS}/ansible-playbook", "-i", str(self._inventory), str(playbook)]
        environment = {
            **os.environ,
            "ANSIBLE_CONFIG": f"{ROOT}/ansible.cfg",
            "ANSIBLE_HOME": str(self._folder / "ours"),
        }
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{playbook} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def _declare(self, python: str) -> None:
        """The servers as those of a pod of which nothing else is managed."""
        (self._inventory / "host_vars").mkdir(parents=True, exist_ok=True)
        places = {server.name: {"management_address": server.address} for server in self._servers}
        pod = {"model": "bow-pod64", "lrack": 1, "addressing": "multi-rack", "managed": ["servers"]}
        servers = {"poplar_servers": SERVERS, "names": {"poplar_server": "poplar{n}"}, "overrides": places}
        pods_yml = {"plugin": "ipu.pod.pods", "schema": 1, "pods": {"pod001": {**pod, **servers}}}
        (self._inventory / "pods.yml").write_text(json.dumps(pods_yml))
        for number, server in enumerate(self._servers, 101):
            interfaces = [
                {"name": nic, "mtu": MTU, "addresses": [_address(each, number)]} for each, nic in enumerate(NICS)
            ]
            own = {
                "rnic_interfaces": interfaces,
                "poplar_server_packages": [],
                "poplar_server_memlock": "",
                "poplar_server_roce": [{"name": nic, **ROCE} for nic in NICS],
                "poplar_server_sysctl": SYSCTL,
                **server.variables,
                "ansible_python_interpreter": python,
            }
            (self._inventory / "host_vars" / f"{server.name}.yml").write_text(json.dumps(own))


def _address(nic: int, server: int = 101) -> str:
    return f"10.{5 + nic}.1.{server}/16"


def _single_settings(nic: str, number: int) -> dict[str, Any]:
    return {
        "name": nic,
        "rdma": f"mlx5_{number}",
        "address": _address(number),
        "mtu": MTU,
        "trust": ROCE["trust"],
        "dscp_map": [{"dscp": dscp, "priority": priority} for dscp, priority in ROCE["dscp_map"].items()],
        "pfc": ",".join(str(int(priority in ROCE["pfc"])) for priority in range(8)),
        "ring": ROCE["rings"]["rx"],
        "tos": ROCE["roce_tos"],
    }


@contextlib.contextmanager
def rows(count: int) -> Iterator[list[Row]]:
    """That many rows of four servers that systemd-networkd configures."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        podman = podman_in(folder)
        images = podman.images(NAME)
        if not images:
            raise RuntimeError("the servers need the image of the simulated pod; `make pod` builds it")
        servers = [ContainerServer(podman, folder, number) for number in range(count * SERVERS)]

        def start(server: ContainerServer) -> None:
            server.start(images[0])
            server.sh("systemctl enable --now systemd-networkd")

        try:
            with ThreadPoolExecutor(SERVERS) as pool:
                list(pool.map(start, servers))
            yield [Row(folder, servers[row * SERVERS : (row + 1) * SERVERS]) for row in range(count)]
        finally:
            for server in servers:
                server.stop()


def wrong(run: list[list[str]]) -> int:
    """How many programs ran more than once, or not at all, on all servers."""
    return sum(len(one) - len(set(one)) + len(set(ASKED) - set(one)) for one in run)


def figures() -> list[dict[str, Any]]:
    """All figures of this file."""
    with rows(2) as (here, there):
        here.set_up()
        there.theirs(changes=True)
        ours = theirs = math.inf
        for _round in range(ROUNDS):
            ours = min(ours, here.ours())
            theirs = min(theirs, there.theirs(changes=False))
        here.count_programs()
        here.ours(python=f"{COUNTERS}/python")
        run = here.programs()
    return [
        figure("poplar_servers.yml: unchanged, times faster than single settings", theirs / ours, 3, at_least=True),
        figure("poplar_servers.yml: programs unchanged that run more than once, or not at all", wrong(run), 0),
    ]


if __name__ == "__main__":
    print(json.dumps(figures()))
