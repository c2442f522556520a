# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated POD64, started fresh for a module of tests and removed after it, and playbooks run against it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from podsim.floor.facts_file import sim_section
from tests.integration.slurm.cluster import Slurm
from tests.support.checkout import PROGRAMS, ROOT
from tests.support.containers import Containers
from tests.support.limited_time import InTime, pod_of
from tests.support.playbook_run import JSON_OUTPUT, PlaybookRun, read_run, run_playbook
from tests.support.simulated_pod import STATE, podsim, typed

INVENTORY = ROOT / "inventories" / "sim_pod64"
# Nobody works on the simulated servers: after the first, all others go side by side.
AT_A_TIME = ("-e", "poplar_servers_at_a_time=4")


# Marks of xdist_group would say the same, but pytest-xdist 3.8 does not see them with pytest 9.2.
class OneWorkerForAPod(LoadScopeScheduling):
    """The tests of a file, or of a folder with one pod, stay with one worker."""

    def _split_scope(self, nodeid: str) -> str:
        """The common part of the tests that go to the same worker."""
        return pod_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneWorkerForAPod:
    """Chooses it."""
    return OneWorkerForAPod(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option of runs whose time is limited."""
    parser.addoption("--begin-within", type=float, metavar="MINUTES", help="begin no further pod after so long")


def pytest_configure(config: pytest.Config) -> None:
    """Limits the time of a run."""
    minutes = config.getoption("--begin-within", None)
    if minutes is not None:
        config.pluginmanager.register(InTime(minutes))


class Pod:
    """The running simulated pod."""

    def __init__(self, inventory: Path, programs: Path = PROGRAMS) -> None:
        self.inventory = inventory
        self.programs = programs
        self.sim: dict[str, Any] = sim_section(inventory / "pods.yml")
        self._containers = Containers()

    def with_programs(self, programs: Path) -> Pod:
        """The same pod for playbooks of another Ansible."""
        return Pod(self.inventory, programs)

    def playbook(self, name: str, *options: str, inventory: Path | None = None) -> PlaybookRun:
        """Run one of the playbooks and return what it says in JSON."""
        done = self._run(name, options, inventory or self.inventory, JSON_OUTPUT)
        return read_run(name, done)

    def say(self, name: str, *options: str, inventory: Path | None = INVENTORY) -> tuple[int, str]:
        """Run one of the playbooks and return its exit code and what a person sees."""
        done = self._run(name, options, inventory, {"COLUMNS": "1000"})
        return done.returncode, done.stdout + done.stderr

    def module(self, host: str, name: str, **options: Any) -> dict[str, Any]:
        """The result of one of the collection's modules, run on a host."""
        done = subprocess.run(
            [
                f"{self.programs}/ansible",
                "-i",
                str(self.inventory),
                host,
                "-m",
                f"ipu.pod.{name}",
                "-a",
                json.dumps(options),
            ],
            cwd=ROOT,
            env={**os.environ, **JSON_OUTPUT, "ANSIBLE_LOAD_CALLBACK_PLUGINS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        result: dict[str, Any] = json.loads(done.stdout)["plays"][0]["tasks"][0]["hosts"][host]
        return result

    def _run(
        self, name: str, options: tuple[str, ...], inventory: Path | None, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        # An inventory of a test is not where the simulated ones are.
        state = ["-e", f"podsim_state={STATE}"] if inventory and not inventory.is_relative_to(ROOT) else []
        return run_playbook(
            name, *state, *AT_A_TIME, *options, inventory=inventory, programs=self.programs, **environment
        )

    def inside(self, host: str, command: str) -> str:
        """The output of a command on one of the simulated machines."""
        return self._containers.run(f"podsim-{host}", "sh", "-c", command)

    def held(self, kind: str, host: str = "ctrl001") -> list[str]:
        """The names of what a V-IPU controller holds of a kind, given in the plural."""
        answer = json.loads(self.inside(host, f"vipu-admin -P 8091 --showjson list {kind}"))
        return sorted(entity["id"] for entity in answer[kind])

    def forget_the_controller(self, host: str = "ctrl001") -> None:
        """Take away all that the role vipu_controller left on a host."""
        self.inside(
            host,
            "systemctl stop vipu-server 2>/dev/null; rm -rf /var/lib/vipu /etc/systemd/system/vipu-server.service "
            "/etc/systemd/system/vipu-server.service.d /etc/systemd/system/multi-user.target.wants/vipu-server.service "
            "/etc/vipu /run/faults.json; systemctl daemon-reload; systemctl reset-failed",
        )

    def switch(self, *commands: str, switch: str = "pod001-tor") -> list[dict[str, Any]]:
        """Type commands at a ToR switch, as a person would."""
        return typed(self.sim["switches"][switch]["management"], *commands)

    def fingerprint(self) -> dict[str, str]:
        """The state that a run could touch: the switch's configurations, the hosts' files and addresses."""
        configurations = (STATE / "switches" / "pod001-tor").glob("*-config")
        hosts = (*self.sim["controllers"], *self.sim["poplar_servers"])
        files = "find /etc /var/lib/vipu -type f -exec sha256sum {} + 2>/dev/null | sort; ip -brief address show up"
        return {
            **{path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in configurations},
            **{host: self.inside(host, files) for host in hosts},
        }

    def write_requests(self) -> int:
        """How many requests that could change something the switch has seen."""
        log = STATE / "switches" / "pod001-tor" / "requests.log"
        # The switch makes the log at its first request.
        lines = log.read_text().splitlines() if log.exists() else []
        return sum(json.loads(line)["write"] for line in lines)


@pytest.fixture(scope="module", name="inventory")
def _inventory() -> Path:
    """The inventory of the pod that a module's tests are about; a module may have another one."""
    return INVENTORY


def running_pod(inventory: Path) -> Iterator[Pod]:
    """A pod that no playbook has touched, until it is no longer needed."""
    if os.geteuid() != 0 or shutil.which("podman") is None:
        pytest.skip("the simulated pod needs root and podman; run: make prerequisites")
    podsim("down")
    podsim("up", str(inventory / "pods.yml"))
    yield Pod(inventory)
    podsim("down")


@pytest.fixture(scope="module")
def fresh_pod(inventory: Path) -> Iterator[Pod]:
    """The pod of a module's tests."""
    yield from running_pod(inventory)


def brought_up(pod: Pod) -> Pod:
    """The pod after site.yml."""
    run = pod.playbook("site")
    # Not as one comparison, which pytest cuts short.
    assert run.code == 0, run.messages
    assert run.messages == ""
    return pod


@pytest.fixture(scope="module")
def pod(fresh_pod: Pod) -> Pod:
    """The pod as declared."""
    return brought_up(fresh_pod)


@pytest.fixture(scope="module")
def rest(slurm: Slurm) -> dict[str, Any]:
    """The state of a Slurm cluster whose servers are all idle; one that was just resumed takes a moment."""
    slurm.until('[ "$(sinfo -h -N -o %T | sort -u)" = idle ]', "not all servers are idle")
    return slurm.left()


@pytest.fixture
def at_rest(slurm: Slurm, rest: dict[str, Any]) -> Iterator[None]:
    """The test leaves nothing behind in it."""
    yield
    slurm.is_left_as(rest)
