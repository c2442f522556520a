# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of a run beside a bare `ansible -m ping` of the same devices, on the simulated pods.

Wall time, and processor time of the control node: everything that Ansible starts is in a control group of its own, so
that its SSH processes and the daemons that keep connections to switches count, too. Every run begins without
connections. Runs that are compared take turns, and the median of their ratios counts, because others may use the
machine, too.

What the devices are asked is counted on them: sessions of sshd, requests to the switches' eAPI and to the V-IPU
controller.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.benchmark.measuring import SimulatedPod, can_have_pods, figure, run
from tests.support.checkout import PROGRAMS, ROOT

POD64, POD128 = ROOT / "inventories" / "sim_pod64", ROOT / "inventories" / "sim_pod128"
DEVICES = "switches:poplar_servers:vipu_controllers"
ROUNDS, FRESH = 5, 2
# With version 2 each control group counts processor time; with version 1 those of one hierarchy do.
CGROUPS = next((path for path in [Path("/sys/fs/cgroup/cpuacct")] if path.exists()), Path("/sys/fs/cgroup"))
# An uplink that pods.yml says nothing else of.
SPARE_PORT = "Et8/1"
# What a run says that had nothing to do.
NOTHING = "nothing changed"


@dataclass(frozen=True)
class Cost:
    """Seconds of a run."""

    wall: float
    processor: float


class ControlGroup:
    """Processes that are counted together, also those that outlive whoever started them."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="ipu-pod-bench-", dir=CGROUPS))
        self._usage = "cpuacct.usage" if CGROUPS.name == "cpuacct" else "cpu.stat"

    def __enter__(self) -> ControlGroup:
        return self

    def __exit__(self, *_error: object) -> None:
        while processes := self._processes():
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.05)
        self._folder.rmdir()

    def command(self, *words: str) -> list[str]:
        """A command that runs in it."""
        return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self._folder / "cgroup.procs"), *words]

    def seconds(self) -> float:
        """Its processor time so far."""
        text = (self._folder / self._usage).read_text()
        if self._usage == "cpuacct.usage":
            return int(text) / 1e9
        return int(dict(line.split() for line in text.splitlines())["usage_usec"]) / 1e6

    def _processes(self) -> list[int]:
        return [int(line) for line in (self._folder / "cgroup.procs").read_text().split()]


class Site(SimulatedPod):
    """A running simulated site, and runs of Ansible on it."""

    def __init__(self, folder: Path, floor: Path) -> None:
        super().__init__(folder)
        self._folder = folder
        self._declared: dict[str, Any] = yaml.safe_load((floor / "pods.yml").read_text())
        (self.inventory / "group_vars").symlink_to(floor / "group_vars")
        self.declare()

    def declare(self, description: str = "") -> None:
        """Write pods.yml; with another description of one switch port of the first pod."""
        declared = copy.deepcopy(self._declared)
        if description:
            next(iter(declared["pods"].values()))["tor"].setdefault("ports", {})[SPARE_PORT] = {
                "description": description
            }
        self.pods_file.write_text(yaml.safe_dump(declared, sort_keys=False))

    def ping(self) -> Cost:
        """The least that Ansible can do with all devices."""
        return self._cost(None, "ansible", DEVICES, "-m", "ansible.builtin.ping")

    def look(self) -> Cost:
        """A look at all devices, and nothing else."""
        return self._cost(None, "ansible", DEVICES, "-m", "ipu.pod.look")

    def site(self, changes: bool) -> Cost:
        """Run site.yml, which has to change something, or nothing."""
        return self._cost(changes, "ansible-playbook", f"{ROOT}/playbooks/site.yml")

    def predict(self, playbook: str) -> Cost:
        """Run plan.yml or drift.yml; there is nothing to do."""
        return self._cost(None, "ansible-playbook", f"{ROOT}/playbooks/{playbook}.yml")

    def _cost(self, changes: bool | None, program: str, *words: str) -> Cost:
        variables = {"podsim_state": str(self.state)}
        variables |= {f"{name}_directory": str(self._folder / name) for name in ("plan", "drift")}
        with tempfile.TemporaryDirectory(dir=self._folder) as home, ControlGroup() as group:
            command = [f"{PROGRAMS}/{program}", "-i", str(self.inventory), *words, "-e", json.dumps(variables)]
            # Connections are kept there.
            environment = {"ANSIBLE_CONFIG": f"{ROOT}/ansible.cfg", "ANSIBLE_HOME": home}
            start = time.monotonic()
            output = run(*group.command(*command), **environment)
            cost = Cost(time.monotonic() - start, group.seconds())
        if changes is not None and (NOTHING in output) == changes:
            raise RuntimeError(f"site.yml did not do what it was to do:\n{output}")
        return cost

    def count(self) -> None:
        """Have sshd and the controllers note what they are asked; otherwise they are as the roles left them."""
        for name in self.machines:
            self.inside(name, "echo LogLevel VERBOSE >/etc/ssh/sshd_config.d/bench.conf && systemctl reload ssh")
        for name in self._declared["controllers"]:
            self.count_requests_of(name)

    @property
    def machines(self) -> list[str]:
        """The devices that are reached over SSH."""
        return [*self._declared["sim"]["poplar_servers"], *self._declared["controllers"]]

    def asked(self) -> Counter[str]:
        """How much each device has been asked so far."""
        asked: Counter[str] = Counter()
        for name in self._declared["sim"]["switches"]:
            asked[name] = self.requests_to_switch(name)
        for name in self.machines:
            asked[name] = int(
                self.inside(name, "journalctl --quiet --no-pager -o cat | grep -c 'Starting session' || true")
            )
        for name in self._declared["controllers"]:
            asked[name] += self.requests_to_controller(name)
        return asked


@contextlib.contextmanager
def running(floor: Path) -> Iterator[Site]:
    """The simulated pods of an inventory, without anything configured."""
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), floor)
        with site.running():
            yield site


def more_asked(site: Site, run: Callable[[], object]) -> Counter[str]:
    """How much more each device has been asked after a run."""
    before = site.asked()
    run()
    return Counter({name: count - before[name] for name, count in site.asked().items()})


def beyond(asked: Counter[str], looks: Counter[str], devices: Sequence[str]) -> int:
    """How much these devices have been asked beyond so many looks, or less."""
    return sum(abs(asked[name] - looks[name]) for name in devices)


def _wall(costs: Sequence[Cost], others: Sequence[Cost]) -> float:
    return statistics.median(cost.wall / other.wall for cost, other in zip(costs, others, strict=True))


def _processor(costs: Sequence[Cost], others: Sequence[Cost]) -> float:
    return statistics.median(cost.processor / other.processor for cost, other in zip(costs, others, strict=True))


def _columns(rounds: Sequence[Sequence[Cost]]) -> list[list[Cost]]:
    return [list(column) for column in zip(*rounds, strict=True)]


def _brought_up() -> tuple[Cost, Cost]:
    """The cost of bringing a fresh POD64 up, and of one ping of it."""
    with running(POD64) as site:
        return site.site(changes=True), site.ping()


def _changed(site: Site, description: str) -> tuple[Cost, Cost]:
    """The cost of changing the description of a port, and of one ping."""
    site.declare(description)
    return site.site(changes=True), site.ping()


def _one_rack() -> list[dict[str, Any]]:
    fresh = [_brought_up() for _each in range(FRESH)]
    with running(POD64) as site:
        site.site(changes=True)
        rounds = [
            (site.ping(), site.site(changes=False), site.predict("plan"), site.predict("drift"))
            for _round in range(ROUNDS)
        ]
        pings, quiet, plans, drifts = _columns(rounds)
        changes = [_changed(site, f"number {number}") for number in range(ROUNDS)]
        site.count()
        look = more_asked(site, site.look)
        asked = more_asked(site, lambda: site.site(changes=False))
    return [
        figure("run.quiet_wall_over_ping", _wall(quiet, pings), 5),
        figure("run.quiet_processor_over_ping", _processor(quiet, pings), 4),
        figure("run.quiet_requests_beyond_look", beyond(asked, look, list(look)), 0),
        figure("run.one_port_wall_over_ping", _wall(*_columns(changes)), 10),
        figure("run.fresh_wall_over_ping", _wall(*_columns(fresh)), 18),
        figure("run.plan_wall_over_quiet_site", _wall(plans, quiet), 1.2),
        figure("run.drift_wall_over_quiet_site", _wall(drifts, quiet), 1.2),
    ]


def _two_racks() -> list[dict[str, Any]]:
    with running(POD128) as site:
        site.site(changes=True)
        rounds = [(site.ping(), site.site(changes=False)) for _round in range(ROUNDS)]
        pings, quiet = _columns(rounds)
        site.count()
        look = more_asked(site, site.look)
        # The plan is made before the locks are taken, and once more under them.
        site.declare("changed")
        asked = more_asked(site, lambda: site.site(changes=True))
    others = [name for name in look if name.startswith("pod002")]
    return [
        figure("run.two_racks_quiet_wall_over_ping", _wall(quiet, pings), 5),
        figure("run.other_rack_requests_beyond_looks", beyond(asked, look + look, others), 0),
    ]


def figures() -> list[dict[str, Any]]:
    """All figures of this file; none where there can be no simulated pod."""
    if not can_have_pods("bench_run"):
        return []
    if not os.access(CGROUPS, os.W_OK):
        print(f"bench_run: skipped, it counts processor time by control groups, and {CGROUPS} is read-only here")
        return []
    return [*_one_rack(), *_two_racks()]


if __name__ == "__main__":
    print(json.dumps(figures()))
