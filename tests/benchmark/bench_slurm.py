# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What IPUs cost a Slurm job: how much later it ends than one without, and what the V-IPU controller is asked for it.

On one simulated pod, way after way. Compared with a job without IPUs on the same cluster: one job that is waited for,
and fifty that were submitted at once, from the submission to the end of the last. A simulated partition takes 0.2 s to
come up; a real one takes longer, whoever makes it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
FLOOR = ROOT / "inventories" / "sim_slurm"
CONTROLLER = "ctrl001"
UNIT = "vipu-server.service"
LOG = "/run/vipu-requests.log"
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


class Pod:
    """The running pod with Slurm."""

    def __init__(self, folder: Path) -> None:
        self._inventory, self._state = folder / "inventory", folder / "podsim"
        self._inventory.mkdir()
        for path in FLOOR.iterdir():
            if path.name != "pods.yml":
                (self._inventory / path.name).symlink_to(path)
        self._declared = yaml.safe_load((FLOOR / "pods.yml").read_text())
        self._declared["sim"]["floor"] = str((FLOOR / self._declared["sim"]["floor"]).resolve())

    def declare(self, way: Way) -> None:
        """The vPOD is as this way needs it."""
        vpod = self._declared["vpods"]["jobs"]
        for key in ("partitions", "allocation", "ipu_machines"):
            vpod.pop(key, None)
        vpod.update(way.vpod)
        (self._inventory / "pods.yml").write_text(yaml.safe_dump(self._declared))

    def podsim(self, command: str, *arguments: str) -> None:
        """Run a command of the simulated pod."""
        _run(f"{PROGRAMS}/podsim", command, *arguments, "--state", str(self._state))

    @property
    def pods_file(self) -> str:
        """The declaration."""
        return str(self._inventory / "pods.yml")

    def play(self, playbook: str, **variables: Any) -> None:
        """Run a playbook."""
        words = json.dumps({"podsim_state": str(self._state), **variables})
        _run(f"{PROGRAMS}/ansible-playbook", "-i", str(self._inventory), f"playbooks/{playbook}.yml", "-e", words)

    def count_requests(self) -> None:
        """Have the V-IPU controller note what it is asked; otherwise it is as the role left it."""
        command = self.inside(f"sed -n s/^ExecStart=//p /etc/systemd/system/{UNIT}").strip()
        drop_in = f"[Service]\nExecStart=\nExecStart={command} --request-log {LOG}\n"
        self.inside(
            f"mkdir -p /run/systemd/system/{UNIT}.d && printf '%s' '{drop_in}' >/run/systemd/system/{UNIT}.d/log.conf"
            f" && touch {LOG} && systemctl daemon-reload && systemctl restart {UNIT}"
        )

    def requests(self) -> int:
        """How many it has had."""
        return int(self.inside(f"wc -l <{LOG}"))

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
        self.inside(command)
        self.inside('while [ -n "$(squeue -h -a)" ]; do sleep 0.1; done')
        return time.monotonic() - began

    @staticmethod
    def inside(command: str) -> str:
        """What a command prints on the controller's host."""
        return _run("podman", "exec", "--workdir", "/tmp", f"podsim-{CONTROLLER}", "sh", "-c", command)


@contextlib.contextmanager
def running_pod() -> Iterator[Pod]:
    """A simulated pod with the first way."""
    with tempfile.TemporaryDirectory() as folder:
        pod = Pod(Path(folder))
        pod.declare(WAYS["dynamic"])
        pod.podsim("up", pod.pods_file)
        try:
            pod.play("site")
            pod.count_requests()
            pod.play("slurm")
            yield pod
        finally:
            pod.podsim("down")


def _run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[:4])} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def figure(name: str, value: float, bound: float) -> dict[str, Any]:
    """One figure; the bound is the most that it may be."""
    return {"name": name, "value": value, "bound": bound, "holds": value <= bound}


def figures() -> list[dict[str, Any]]:
    """All figures of this file; none where there can be no simulated pod."""
    if os.geteuid() != 0 or shutil.which("podman") is None:
        print("bench_slurm: skipped, the simulated pod needs root and podman; run: make prerequisites")
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
            asked = pod.requests()
            all_of_them = pod.many(way.asks) / many[way.without]
            found.append(figure(f"slurm {name}: {MANY} over {MANY} without IPUs", all_of_them, way.many))
            found.append(
                figure(f"slurm {name}: V-IPU requests of a job", (pod.requests() - asked) / MANY, way.requests)
            )
    return found


if __name__ == "__main__":
    print(json.dumps(figures()))
