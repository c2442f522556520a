# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures, and a simulated pod of a benchmark's own with what is run on it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.checkout import PROGRAMS, ROOT

UNIT = "vipu-server.service"
REQUEST_LOG = "/var/lib/vipu/requests.log"


def figure(name: str, value: float, bound: float, at_least: bool = False) -> dict[str, Any]:
    """One figure; the bound is the most that it may be, or the least."""
    return {"name": name, "value": value, "bound": bound, "holds": value >= bound if at_least else value <= bound}


def run(*command: str, **environment: str) -> str:
    """The output of a command, which has to succeed."""
    variables = {**os.environ, **environment}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)[:300]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def can_have_pods(benchmark: str) -> bool:
    """Whether simulated pods can run here; if not, it says what is skipped."""
    if os.geteuid() == 0 and shutil.which("podman"):
        return True
    print(f"{benchmark}: skipped, the simulated pod needs root and podman; run: make prerequisites")
    return False


class SimulatedPod:
    """A simulated pod with an inventory and a state of its own in a folder; whoever has it declares it."""

    def __init__(self, folder: Path) -> None:
        self.inventory, self.state = folder / "inventory", folder / "podsim"
        self.inventory.mkdir()

    @property
    def pods_file(self) -> Path:
        """The declaration."""
        return self.inventory / "pods.yml"

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """It runs, without anything configured."""
        self._podsim("up", str(self.pods_file))
        try:
            yield
        finally:
            self._podsim("down")

    def play(self, playbook: str, **variables: Any) -> None:
        """Run a playbook."""
        words = json.dumps({"podsim_state": str(self.state), **variables})
        run(f"{PROGRAMS}/ansible-playbook", "-i", str(self.inventory), f"playbooks/{playbook}.yml", "-e", words)

    def inside(self, machine: str, command: str) -> str:
        """The output of a command on one of its machines."""
        return run("podman", "exec", "--workdir", "/tmp", f"podsim-{machine}", "sh", "-c", command)

    def count_requests_of(self, controller: str) -> None:
        """Have a V-IPU controller note what it is asked; otherwise it is as the role left it."""
        command = self.inside(controller, f"sed -n s/^ExecStart=//p /etc/systemd/system/{UNIT}").strip()
        drop_in = f"[Service]\nExecStart=\nExecStart={command} --request-log {REQUEST_LOG}\n"
        self.inside(
            controller,
            f"mkdir -p /run/systemd/system/{UNIT}.d && printf '%s' '{drop_in}' >/run/systemd/system/{UNIT}.d/log.conf"
            f" && install -m 0644 -o vipu-server /dev/null {REQUEST_LOG}"
            f" && systemctl daemon-reload && systemctl restart {UNIT}",
        )

    def requests_to_controller(self, name: str) -> int:
        """How many a V-IPU controller has had since then."""
        return int(self.inside(name, f"wc -l <{REQUEST_LOG}"))

    def requests_to_switch(self, name: str) -> int:
        """How many a switch has had."""
        return len((self.state / "switches" / name / "requests.log").read_text().splitlines())

    def _podsim(self, command: str, *arguments: str) -> None:
        run(f"{PROGRAMS}/podsim", command, *arguments, "--state", str(self.state))
