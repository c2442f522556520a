# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two pods of which only the switches are managed, each with a simulated one behind one inventory."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.checkout import ROOT
from tests.support.playbook_run import JSON_OUTPUT, PlaybookRun, read_run
from tests.support.simulated_tor import Tor, running_tor

PODS = ("blue", "green")


def document(**of_green: Any) -> dict[str, Any]:
    """Two pods; nobody answers for their Poplar servers."""
    pods = {
        name: {
            "model": "bow-pod64",
            "lrack": number,
            "addressing": "multi-rack",
            "managed": ["switch"],
            "rnic": {"vlan": 100},
            "overrides": {f"{name}-poplar1": {"management_address": f"127.0.0.{10 + number}"}},
        }
        for number, name in enumerate(PODS, 1)
    }
    pods["green"] |= of_green
    return {"plugin": "ipu.pod.pods", "schema": 1, "pods": pods}


@dataclass
class Site:
    """Two switches behind one inventory, and a directory for locks and records."""

    switches: dict[str, Tor]
    directory: Path

    def declare(self, pods_yml: dict[str, Any]) -> None:
        first = self.switches["blue"]
        first.declare(pods_yml)
        (first.inventory / "group_vars" / "poplar_servers.yml").write_text("ansible_port: 9\n")
        for name, tor in self.switches.items():
            host_vars = first.inventory / "host_vars"
            host_vars.mkdir(exist_ok=True)
            # Persistent connections are told apart by ansible_port: without it both switches would be one.
            here = dict.fromkeys(("ansible_port", "ansible_httpapi_port"), tor.port)
            (host_vars / f"{name}-tor.yml").write_text(yaml.safe_dump({"ansible_host": "127.0.0.1", **here}))

    def log_in(self, host: str, password: str) -> None:
        """Say how a switch is logged in to."""
        path = self.switches["blue"].inventory / "host_vars" / f"{host}.yml"
        words = yaml.safe_load(path.read_text()) if path.exists() else {"ansible_port": 1}
        path.write_text(yaml.safe_dump({**words, "ansible_password": password}))

    def run(self, *options: str, name: str = "tor_switches", **environment: str) -> subprocess.CompletedProcess[str]:
        return self.switches["blue"].playbook(
            ROOT / "playbooks" / f"{name}.yml", *self.options, *options, COLUMNS="1000", **environment
        )

    @property
    def options(self) -> list[str]:
        return ["-e", f"pod_lock_own_directory={self.directory / 'state'}"]

    def lock(self, pod: str) -> Path:
        return self.directory / "state" / f"{pod}.lock"

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.directory / "state" / "runs.jsonl").read_text().splitlines()]

    def configured(self, pod: str) -> bool:
        """Whether a run has been at that switch."""
        config = self.switches[pod].directory / "running-config"
        return config.exists() and "vlan 100\n" in config.read_text()

    def dry_run(self, *options: str) -> PlaybookRun:
        """The result of a dry run, which succeeds."""
        done = self.run("--check", *options, name="site", **JSON_OUTPUT)
        run = read_run("site", done)
        assert (run.code, run.messages) == (0, "")
        return run


@contextmanager
def two_switches(directory: Path) -> Iterator[Site]:
    """Two pods as declared by :func:`document`, whose switches nobody has configured.

    Args:
        directory: where all of it is kept.
    """
    for name in PODS:
        (directory / name).mkdir()
    with running_tor(directory / "blue") as blue, running_tor(directory / "green") as green:
        found = Site({"blue": blue, "green": green}, directory)
        found.declare(document())
        yield found
