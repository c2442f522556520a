# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Data from a virtual machine to an IPU-Machine, beside the same from a bare server on the same floor.

Two vPODs with an IPU-Machine each: one has a machine that OpenStack made, the other a Poplar server for itself. They
take turns. On the simulated pod the machine's processor is emulated, and that is most of what is measured here: these
figures compare one version of the project with another, and say nothing of a hypervisor. docs/virtual-machines.md has
what measures one.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from tests.benchmark.bench_openstack import CLOUD, FLOOR
from tests.benchmark.measuring import SimulatedPod, can_have_pods, figure, run
from tests.support.checkout import PROGRAMS, ROOT

BARE = "pod001-poplar1"
ROUNDS = 3
PATIENCE = 300
RATE = re.compile(r"(\d+\.\d) MiB/s$")
# Minimum, average, maximum.
ROUND_TRIP = re.compile(r"rtt .* = [\d.]+/([\d.]+)/")
WORKLOAD = ". /etc/profile.d/ipuof.sh && ipu-workload"
PINGS = "ping -q -c 100 -i 0.02"
SSH_OPTIONS = ("UserKnownHostsFile=/dev/null", "StrictHostKeyChecking=no", "LogLevel=ERROR", "ConnectTimeout=10")


class Floor(SimulatedPod):
    """The running pod, with a machine in its cloud and a bare server that have the same."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._key = folder / "key"
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self._key))
        (self.inventory / "group_vars").symlink_to((FLOOR / "group_vars").resolve())
        declared = yaml.safe_load((FLOOR / "pods.yml").read_text())
        declared["sim"]["floor"] = str(ROOT / "inventories" / "sim_pod64" / "pods.yml")
        declared["vpods"] = {"bare": _vpod("bare", 201, BARE), "guest": _vpod("guest", 202, "pod001-poplar3")}
        declared["vpods"]["guest"]["cloud"] = {
            "name": CLOUD,
            "login": "debian",
            "users": ["alice"],
            "quota": {"instances": 1, "cores": 1, "ram": 512},
            "image": "poplar",
            "machine": {"vcpus": 1, "memory": 512, "disk": 4},
            "machines": "kept",
            "key": self._key.with_suffix(".pub").read_text().strip(),
        }
        self.pods_file.write_text(yaml.safe_dump(declared, sort_keys=False))

    def make(self) -> None:
        """Make what is declared, and wait until the machine can be used."""
        self._with_cloud(
            f"{PROGRAMS}/ansible-playbook", "-i", str(self.inventory), "playbooks/site.yml", "-e", self._words
        )
        until = time.monotonic() + PATIENCE
        while "status: done" not in self._cloud_init():
            if time.monotonic() > until:
                raise RuntimeError(f"the machine could not be used after {PATIENCE} s")
            time.sleep(1)

    def on_bare_server(self, command: str) -> str:
        """The output of a command there."""
        return self.inside(BARE, command)

    def on_machine(self, command: str) -> str:
        """The output of a command there, as root."""
        options = [word for option in SSH_OPTIONS for word in ("-o", option)]
        return run("ssh", "-i", str(self._key), *options, f"debian@{self._address()}", f"sudo sh -c '{command}'")

    def _cloud_init(self) -> str:
        """What cloud-init says; nothing before there is a login."""
        try:
            return self.on_machine("cloud-init status --wait")
        except RuntimeError:
            return ""

    def _address(self) -> str:
        """The machine's on the control network."""
        servers = self._with_cloud(
            f"{PROGRAMS}/openstack", "--os-cloud", CLOUD, "server", "list", "--all-projects", "--format", "json"
        )
        [server] = json.loads(servers)
        return str(server["Networks"]["control"][0])

    @property
    def _words(self) -> str:
        return json.dumps({"podsim_state": str(self.state)})

    def _with_cloud(self, *command: str) -> str:
        return run(*command, OS_CLIENT_CONFIG_FILE=str(self.state / "clouds.yaml"))


def _vpod(name: str, vlan: int, server: str) -> dict[str, Any]:
    """A vPOD with an IPU-Machine and a partition."""
    return {
        "cluster": "c001",
        "ipus": 4,
        "vlan": vlan,
        "users": [name],
        "poplar_servers": [server],
        "partitions": {f"{name}-train": {"ipus": 4}},
    }


def figures() -> list[dict[str, Any]]:
    """All figures of this file; none where there can be no simulated pod."""
    if not can_have_pods("bench_openstack_data"):
        return []
    with tempfile.TemporaryDirectory() as folder:
        floor = Floor(Path(folder))
        with floor.running():
            floor.make()
            places = (floor.on_machine, floor.on_bare_server)
            addresses = [place(WORKLOAD).partition(":")[0] for place in places]
            rates = [[_found(RATE, place(WORKLOAD)) for place in places] for _round in range(ROUNDS)]
            pings = [
                [
                    _found(ROUND_TRIP, place(f"{PINGS} {address}"))
                    for place, address in zip(places, addresses, strict=True)
                ]
                for _round in range(ROUNDS)
            ]
    machine_rate, bare_rate = (max(column) for column in zip(*rates, strict=True))
    machine_ping, bare_ping = (min(column) for column in zip(*pings, strict=True))
    return [
        figure("openstack: data rate of an emulated machine over a bare server's", machine_rate / bare_rate, 0.1, True),
        figure("openstack: round trip of an emulated machine over a bare server's", machine_ping / bare_ping, 15),
    ]


def _found(number: re.Pattern[str], output: str) -> float:
    """The number in an output."""
    if found := number.search(output.strip()):
        return float(found[1])
    raise RuntimeError(f"no {number.pattern} in:\n{output}")


if __name__ == "__main__":
    print(json.dumps(figures()))
