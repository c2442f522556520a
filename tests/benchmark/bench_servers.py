# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The servers' part of site.yml against a playbook of single settings, over SSH, when nothing is to do.

Servers in containers (systemd, systemd-networkd, stand-ins for the NIC tools), four for each side, one after the other
as site.yml does it, get two RNICs with address and MTU, their lossless settings, and kernel parameters, all of it
persistent:

- ours: the phase of site.yml as it is;
- theirs: what a good operator writes, a template and a handler for the network files, `ansible.posix.sysctl`, and for
  each setting of a NIC a command that runs only where the tool shows something else, with a unit for the next boot.

Theirs does not look at the addresses and MTUs that are running, so that it is less than ours; and it is written for
speed: one look at a tool for all its settings. The sides run in turn, and the best of each counts, because others may
use the machine, too.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from podsim.floor.image import NAME
from tests.contract.container_server import ContainerServer, begin_play, end_of, podman_in

PHASE = ROOT / "playbooks" / "phases" / "poplar_servers.yml"
THEIRS = Path(__file__).parent / "single_settings"
SERVERS, ROUNDS = 4, 2
NICS = ("rnic0", "rnic1")
MTU = 9000
ROCE = {
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
# Everything that one look at a server may run when nothing is to do.
LINKS = ["ip -details -json address show", "ip -4 -json route show default", "ip -6 -json route show default"]
NETWORK = [*LINKS, "systemctl is-active systemd-networkd NetworkManager", f"networkctl status {' '.join(NICS)}"]
PORT = "-d {1} -p 1"
PER_NIC = ["mlnx_qos -i {0}", "ethtool -a {0}", "ethtool -g {0}", f"cma_roce_mode {PORT}", f"cma_roce_tos {PORT}"]
LOSSLESS = [
    *("mlnx_qos --version", *LINKS, "rdma -j link show"),
    *(command.format(nic, f"mlx5_{number}") for number, nic in enumerate(NICS) for command in PER_NIC),
]
# Stands before the real programs, says what is run, and runs it.
COUNTED = """\
#!/bin/sh
echo "${0##*/} $*" >> /run/counted
PATH=${PATH#*:}
exec "${0##*/}" "$@"
"""
COUNTERS = "/root/counters"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Row:
    """Running servers, and playbooks that are run on them."""

    def __init__(self, folder: Path, servers: list[ContainerServer]) -> None:
        self._folder = folder
        self._servers = servers

    def ours(self, **play: Any) -> list[dict[str, Any]]:
        """The phase of site.yml, for these servers; with other keywords of its play where some are given."""
        (phase,) = yaml.safe_load(PHASE.read_text())
        return [{**phase, "hosts": "poplar_servers", **play}]

    def theirs(self) -> list[dict[str, Any]]:
        """The playbook of single settings."""
        playbook = (THEIRS / "play.yml").read_text()
        (play,) = yaml.safe_load(playbook.replace("src: ", f"src: {THEIRS}/templates/"))
        return [play]

    def variables(self) -> dict[str, Any]:
        """What is declared, once in the words of the collection, once in those of the other playbook."""
        addresses = {nic: f"10.{5 + number}.1.101/16" for number, nic in enumerate(NICS)}
        interfaces = [{"name": nic, "mtu": MTU, "addresses": [address]} for nic, address in addresses.items()]
        return {
            "ipu_pod_desired": {"poplar_servers": {s.name: {"interfaces": interfaces} for s in self._servers}},
            "poplar_server_packages": [],
            "poplar_server_memlock": "",
            "poplar_server_roce": [{"name": nic, **ROCE} for nic in NICS],
            "poplar_server_sysctl": SYSCTL,
            "sysctl": SYSCTL,
            "nics": [_single_settings(nic, number, address) for number, (nic, address) in enumerate(addresses.items())],
        }

    def run(self, plays: list[dict[str, Any]], changes: bool) -> tuple[float, dict[str, Any]]:
        """The seconds that a playbook took that has to change something on each server, or nothing; and its output."""
        start = time.monotonic()
        output = end_of(begin_play(self._folder / "play", self._servers, plays, **self.variables()))
        taken = time.monotonic() - start
        for sums in (output["stats"][server.name] for server in self._servers):
            if sums["failures"] or sums["unreachable"] or bool(sums["changed"]) != changes:
                raise RuntimeError(f"the playbook did not do what it was to do:\n{json.dumps(output['stats'])}")
        return taken, output

    def count_programs(self) -> None:
        """Put something before the programs that a server is asked with."""
        names = sorted({command.split()[0] for command in (*NETWORK, *LOSSLESS)})
        for server in self._servers:
            server.sh(f"mkdir {COUNTERS} && cd {COUNTERS} && cat > counter <<'END'\n{COUNTED}END\nchmod +x counter")
            server.sh(f"cd {COUNTERS} && for name in {' '.join(names)}; do ln counter $name; done")

    def programs(self) -> list[list[str]]:
        """What was run on each server since then."""
        return [server.sh("cat /run/counted").splitlines() for server in self._servers]


def _single_settings(nic: str, number: int, address: str) -> dict[str, Any]:
    return {
        "name": nic,
        "rdma": f"mlx5_{number}",
        "address": address,
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


def tasks(output: dict[str, Any]) -> list[list[str]]:
    """The tasks with modules of this collection, a server."""
    done: dict[str, list[str]] = {}
    for task in (task for play in output["plays"] for task in play["tasks"]):
        for name, result in task["hosts"].items():
            if not result.get("skipped") and result["action"].startswith("ipu.pod."):
                done.setdefault(name, []).append(result["action"])
    return list(done.values())


def unlike(found: list[list[str]], wanted: list[str]) -> int:
    """How much is too much, or missing, on all servers."""
    lists = [*found, *[[]] * (SERVERS - len(found))]
    return sum(((Counter(one) - Counter(wanted)) + (Counter(wanted) - Counter(one))).total() for one in lists)


def figure(name: str, value: float, bound: float, at_least: bool = False) -> dict[str, Any]:
    """One figure; the bound is the most that it may be, or the least."""
    return {"name": name, "value": value, "bound": bound, "holds": value >= bound if at_least else value <= bound}


def figures() -> list[dict[str, Any]]:
    """All figures of this file."""
    side_by_side = {"serial": SERVERS}
    with rows(2) as (here, there):
        here.run(here.ours(**side_by_side), changes=True)
        there.run([{**play, **side_by_side} for play in there.theirs()], changes=True)
        ours = theirs = math.inf
        for _round in range(ROUNDS):
            seconds, output = here.run(here.ours(), changes=False)
            ours = min(ours, seconds)
            theirs = min(theirs, there.run(there.theirs(), changes=False)[0])
        here.count_programs()
        here.run(here.ours(**side_by_side, environment={"PATH": f"{COUNTERS}:{PATH}"}), changes=False)
        run = here.programs()
    both = ["ipu.pod.rnic_network", "ipu.pod.rnic_roce"]
    return [
        figure("poplar_server: unchanged, times faster than single settings", theirs / ours, 3, at_least=True),
        figure("poplar_server: tasks for network and RoCE that are not one each", unlike(tasks(output), both), 0),
        figure("poplar_server: programs unchanged that are not one look each", unlike(run, [*NETWORK, *LOSSLESS]), 0),
    ]


if __name__ == "__main__":
    print(json.dumps(figures()))
