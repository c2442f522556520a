# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers with IPUs of their own beside containers without, and beside their host, on the simulated pod.

Runs that are compared take turns, and the quickest of each counts, because others may use the machine, too.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from tests.benchmark.measuring import SimulatedPod, can_have_pods, figure
from tests.support.checkout import ROOT
from tests.support.container_image import MAKE_IMAGE, PROGRAMS

FLOOR = ROOT / "inventories" / "sim_containers"
# A server of a vPOD, and an IPU-Machine of the same.
SERVER, MACHINE = "pod001-poplar1", "pod001-ipum1"
ROUNDS, AT_ONCE, SECONDS = 5, 20, 2
# A container has started when its command runs, which says the time.
TIME = "cat /proc/uptime"
PARTITION = "vipu --config /etc/vipu/vipu-cli.hcl {} partition by-hand {} >/dev/null"
OURS = f"ipu-run --ipus 4 poplar {TIME} 2>/dev/null"
WITHOUT = f"podman run --rm --network ipu-alice poplar {TIME}"
BY_HAND = f"{PARTITION.format('create', '--size 4')} && {WITHOUT}"
AFTER_BY_HAND = PARTITION.format("remove", "")
TURNS = f"for each in $(seq {AT_ONCE}); do ipu-run poplar true 2>/dev/null || echo lost; done"
TOGETHER = f"for each in $(seq {AT_ONCE}); do (ipu-run --wait 600 poplar true 2>/dev/null || echo lost) & done; wait"


class Pod(SimulatedPod):
    """The running pod, whose servers have containers."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.inventory / "group_vars").symlink_to((FLOOR / "group_vars").resolve())
        declared = yaml.safe_load((FLOOR / "pods.yml").read_text())
        declared["sim"]["floor"] = str((FLOOR / declared["sim"]["floor"]).resolve())
        self.pods_file.write_text(yaml.safe_dump(declared, sort_keys=False))

    def seconds(self, command: str) -> float:
        """How long a command on the server takes; it says nothing."""
        start = time.monotonic()
        if said := self.inside(SERVER, command).strip():
            raise RuntimeError(f"{command}: {said}")
        return time.monotonic() - start

    def start(self, command: str) -> float:
        """The seconds until the command of a container runs."""
        called, runs = self.inside(SERVER, f"{TIME} && {command}").splitlines()
        return float(runs.split()[0]) - float(called.split()[0])

    def rate(self, command: str) -> float:
        """The rate of data that iperf3 reports, in bit/s."""
        return float(json.loads(self.inside(SERVER, command))["end"]["sum_received"]["bits_per_second"])


def figures() -> list[dict[str, Any]]:
    """All figures of this file; none where there can be no simulated pod."""
    if not can_have_pods("bench_containers"):
        return []
    with tempfile.TemporaryDirectory() as folder:
        pod = Pod(Path(folder))
        with pod.running():
            pod.play("site", poplar_servers_at_a_time=4)
            pod.inside(SERVER, MAKE_IMAGE)
            starts = [_starts(pod) for _round in range(ROUNDS)]
            together, turns = pod.seconds(TOGETHER), pod.seconds(TURNS)
            rates = _rates(pod)
    ours, without, by_hand = (min(column) for column in zip(*starts, strict=True))
    of_container, of_host = (max(column) for column in zip(*rates, strict=True))
    return [
        figure("container: start with 4 IPUs over one without", ours / without, 2),
        figure("container: start with 4 IPUs over one without and a partition by hand", ours / by_hand, 2),
        figure(f"container: {AT_ONCE} at once over one after the other", together / turns, 1.5),
        figure("container: data rate over that of its host", of_container / of_host, 0.9, True),
    ]


def _starts(pod: Pod) -> tuple[float, float, float]:
    """With IPUs, without, and without but with a partition made by hand."""
    starts = pod.start(OURS), pod.start(WITHOUT), pod.start(BY_HAND)
    pod.inside(SERVER, AFTER_BY_HAND)
    return starts


def _rates(pod: Pod) -> list[tuple[float, float]]:
    """The rates of a container and of its host to an IPU-Machine, in turns."""
    pod.inside(MACHINE, "iperf3 --server --daemon")
    address = json.loads(pod.inside(MACHINE, "ip -json -4 address show rnic0"))[0]["addr_info"][0]["local"]
    send = f"iperf3 --client {address} --time {SECONDS} --json"
    return [(pod.rate(f"ipu-run {PROGRAMS} poplar {send} 2>/dev/null"), pod.rate(send)) for _round in range(ROUNDS)]


if __name__ == "__main__":
    print(json.dumps(figures()))
