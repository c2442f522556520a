# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of IPUs for a Slurm job: how much later it ends than one without, and the requests to the V-IPU controller.

On one simulated pod, way after way. Compared with a job without IPUs on the same cluster: one job that is waited for,
and fifty that were submitted at once, from the submission to the end of the last. A simulated partition takes 0.2 s to
come up; a real one takes longer, whoever makes it.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.benchmark.measuring import SimulatedPod, can_have_pods, figure
from tests.support.checkout import ROOT

FLOOR = ROOT / "inventories" / "sim_slurm"
CONTROLLER = "ctrl001"
MANY, TIMES = 50, 5
SERVERS = [f"pod001-poplar{number}" for number in range(1, 5)]


@dataclass(frozen=True)
class Way:
    """A way to have IPUs: what it needs of the vPOD, what a job says, and the most that each figure may be.

    ``without`` is what a job says that has no IPUs, and the same of everything else.
    """

    vpod: Mapping[str, Any]
    asks: str
    without: str
    one: float
    many: float
    requests: float


FOUR_EACH = {f"s{number}": {"ipus": 4, "poplar_servers": [SERVERS[number // 4]]} for number in range(16)}
MACHINES = [f"pod001-ipum{number}" for number in range(1, 17)]
# Jobs without IPUs are seen in the first way.
WAYS = {
    "dynamic": Way({}, "--ipus=1", "", 6, 6, 12),
    "reconfigurable": Way({"partitions": {"all": {"ipus": 64, "reconfigurable": True}}}, "--ipus=1", "", 5, 7, 2),
    "static": Way({"partitions": FOUR_EACH}, "--gres=vipu:4:1", "", 7, 9, 12),
    "mapping": Way({"allocation": "jobs", "ipu_machines": MACHINES}, "--ipus=16", "--exclusive", 9, 7, 20),
}


class Pod(SimulatedPod):
    """The running pod with Slurm."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for path in FLOOR.iterdir():
            if path.name != "pods.yml":
                (self.inventory / path.name).symlink_to(path)
        self._declared = yaml.safe_load((FLOOR / "pods.yml").read_text())
        self._declared["sim"]["floor"] = str((FLOOR / self._declared["sim"]["floor"]).resolve())

    def declare(self, way: Way) -> None:
        """The vPOD is as this way needs it."""
        vpod = self._declared["vpods"]["jobs"]
        for key in ("partitions", "allocation", "ipu_machines"):
            vpod.pop(key, None)
        vpod.update(way.vpod)
        self.pods_file.write_text(yaml.safe_dump(self._declared))

    def one(self, options: str) -> float:
        """How long a job that does nothing takes, in seconds; the median of a few."""
        return statistics.median(self._seconds(f"srun {options} true") for _each in range(TIMES))

    def many(self, options: str) -> float:
        """How long many of them take that are submitted at once."""
        return self._seconds(
            f"sbatch --parsable --output=/dev/null --array=1-{MANY} {options} --wrap=true && "
            'while [ -n "$(squeue -h -a)" ]; do sleep 0.1; done'
        )

    def _seconds(self, command: str) -> float:
        began = time.monotonic()
        self.inside(CONTROLLER, command)
        self.inside(CONTROLLER, 'while [ -n "$(squeue -h -a)" ]; do sleep 0.1; done')
        return time.monotonic() - began


@contextlib.contextmanager
def running_pod() -> Iterator[Pod]:
    """A simulated pod with the first way."""
    with tempfile.TemporaryDirectory() as folder:
        pod = Pod(Path(folder))
        pod.declare(WAYS["dynamic"])
        with pod.running():
            pod.play("site")
            pod.count_requests_of(CONTROLLER)
            pod.play("slurm")
            yield pod


def figures() -> list[dict[str, Any]]:
    """All figures of this file; none where there can be no simulated pod."""
    if not can_have_pods("bench_slurm"):
        return []
    found = []
    with running_pod() as pod:
        one = {way.without: pod.one(way.without) for way in WAYS.values()}
        many = {way.without: pod.many(way.without) for way in WAYS.values()}
        for name, way in WAYS.items():
            if way.vpod:
                pod.declare(way)
                pod.play("slurm_layout", slurm_way=name)
            first = pod.one(way.asks) / one[way.without]
            found.append(figure(f"slurm {name}: 1 job over 1 without IPUs", first, way.one))
            asked = pod.requests_to_controller(CONTROLLER)
            all_of_them = pod.many(way.asks) / many[way.without]
            found.append(figure(f"slurm {name}: {MANY} over {MANY} without IPUs", all_of_them, way.many))
            requests = (pod.requests_to_controller(CONTROLLER) - asked) / MANY
            found.append(figure(f"slurm {name}: V-IPU requests of a job", requests, way.requests))
    return found


if __name__ == "__main__":
    print(json.dumps(figures()))
