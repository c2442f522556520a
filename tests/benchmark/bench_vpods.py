# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Making one vPOD on a running POD64: what it costs beside one other vPOD, and beside fifteen.

On the simulated pod, tenants of 4 IPUs come one after the other. `playbooks/vpods.yml` makes the second of them, and
later the sixteenth, each alone and with a Poplar server of its own. Compared are the processor time of Ansible on the
control node, which other work on the machine does not change much, and what the devices were asked.
"""

from __future__ import annotations

import contextlib
import json
import resource
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.benchmark.measuring import SimulatedPod, can_have_pods, figure
from tests.support.checkout import ROOT

FLOOR = ROOT / "inventories" / "sim_pod64"
SWITCH, CONTROLLER = "pod001-tor", "ctrl001"
FEW, MANY = 1, 15
# What does not grow gives 1. The rest is for the noise of a shared machine.
CONSTANT = 1.25


@dataclass(frozen=True)
class Cost:
    """The cost of a run: processor seconds of Ansible, and requests to the switch and to the controller."""

    seconds: float
    switch_requests: int
    controller_requests: int


class Tenants(SimulatedPod):
    """The running pod and the tenants that are declared on it; the n-th has the VLAN 200 + n."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._vpods: dict[str, Any] = {}
        (self.inventory / "group_vars").symlink_to(FLOOR / "group_vars")

    def declare(self, number: int, *servers: str) -> str:
        """One tenant more; their name."""
        name = f"tenant{number:02}"
        self._vpods[name] = {"cluster": "c001", "ipus": 4, "vlan": 200 + number, "poplar_servers": list(servers)}
        self._vpods[name]["partitions"] = {f"{name}-serve": {"ipus": 4, "reconfigurable": True}}
        declared = yaml.safe_load((FLOOR / "pods.yml").read_text())
        declared["pods"]["pod001"]["vlans"] = {"quarantine": 999}
        self.pods_file.write_text(yaml.safe_dump({**declared, "vpods": self._vpods}))
        return name

    def make(self, *only: str) -> None:
        """Run vpods.yml for some vPODs."""
        self.play("vpods", vpods_only=only)

    def cost(self, name: str) -> Cost:
        """The cost of making one of them."""
        before, started = self._asked(), _processor_seconds()
        self.make(name)
        seconds, after = _processor_seconds() - started, self._asked()
        cost = Cost(seconds, after[0] - before[0], after[1] - before[1])
        if not (cost.switch_requests and cost.controller_requests):
            raise RuntimeError(f"{name}: the switch or the controller was not asked anything: {cost}")
        return cost

    def _asked(self) -> tuple[int, int]:
        """How many requests the switch and the controller have had."""
        return self.requests_to_switch(SWITCH), self.requests_to_controller(CONTROLLER)


@contextlib.contextmanager
def running_pod() -> Iterator[Tenants]:
    """A simulated pod with one tenant."""
    with tempfile.TemporaryDirectory() as folder:
        tenants = Tenants(Path(folder))
        tenants.declare(1)
        with tenants.running():
            tenants.play("site")
            tenants.count_requests_of(CONTROLLER)
            yield tenants


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def figures() -> list[dict[str, Any]]:
    """All figures of this file; none where there can be no simulated pod."""
    if not can_have_pods("bench_vpods"):
        return []
    with running_pod() as tenants:
        few = tenants.cost(tenants.declare(FEW + 1, "pod001-poplar1"))
        between = [tenants.declare(number) for number in range(FEW + 2, MANY + 1)]
        tenants.make(*between)
        many = tenants.cost(tenants.declare(MANY + 1, "pod001-poplar2"))
    more_of_the_switch = many.switch_requests - few.switch_requests
    more_of_the_controller = many.controller_requests - few.controller_requests
    return [
        figure(f"vpods: time of one more, beside {MANY} over beside {FEW}", many.seconds / few.seconds, CONSTANT),
        figure(f"vpods: more requests to the switch beside {MANY}", more_of_the_switch, 0),
        figure(f"vpods: more requests to the controller beside {MANY}", more_of_the_controller, 0),
    ]


if __name__ == "__main__":
    print(json.dumps(figures()))
