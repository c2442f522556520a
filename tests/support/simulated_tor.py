# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated switch on loopback, an inventory for it, and playbooks run against it as a person would."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from tests.support.checkout import PROGRAMS
from tests.support.eapi import run_commands
from tests.support.playbook_run import JSON_OUTPUT, run_playbook
from tests.support.processes import end

USER, PASSWORD = "admin", "s3cret"


@dataclass
class Tor:
    """A running ``podsim eos`` behind an inventory whose switches all are this one.

    Attributes:
        directory: where its files are; the inventory is in ``inventory``.
        port: of eAPI.
    """

    directory: Path
    port: int

    @property
    def inventory(self) -> Path:
        return self.directory / "inventory"

    @property
    def connection(self) -> dict[str, Any]:
        """How Ansible reaches it."""
        return {
            "ansible_connection": "ansible.netcommon.httpapi",
            "ansible_network_os": "arista.eos.eos",
            "ansible_httpapi_port": self.port,
            "ansible_user": USER,
            "ansible_password": PASSWORD,
            "ansible_become": True,
            "ansible_become_method": "ansible.netcommon.enable",
            "ansible_python_interpreter": sys.executable,
            "ansible_host": "127.0.0.1",
        }

    def declare(self, document: dict[str, Any], **variables: Any) -> None:
        """Write the inventory; ``variables`` are the switches' own."""
        group_vars = self.inventory / "group_vars"
        group_vars.mkdir(parents=True, exist_ok=True)
        (self.inventory / "pods.yml").write_text(yaml.safe_dump(document, sort_keys=False))
        (group_vars / "switches.yml").write_text(yaml.safe_dump(self.connection | variables))

    def observe(self, **seen: Any) -> None:
        """Replace the surroundings of the switch."""
        (self.directory / "observed.json").write_text(json.dumps(seen))

    def type(self, *commands: str) -> None:
        """Commands of a person with the right to configure."""
        answer = run_commands(f"http://127.0.0.1:{self.port}/command-api", ["enable", *commands], USER, PASSWORD)
        assert "result" in answer, answer

    def requests(self) -> list[list[str]]:
        """The commands of each request since the last call of this."""
        log = self.directory / "requests.jsonl"
        seen = [json.loads(line)["commands"] for line in log.read_text().splitlines()] if log.exists() else []
        log.unlink(missing_ok=True)
        return seen

    def playbook(self, path: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a playbook; whether it succeeds is the caller's to see."""
        return run_playbook(path, *options, inventory=self.inventory, directory=self.directory, **environment)

    def tasks(
        self, content: list[dict[str, Any]], *options: str, **environment: str
    ) -> list[dict[str, dict[str, Any]]]:
        """Run plays and return, task by task, host to result."""
        path = self.directory / "play.yml"
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        done = self.playbook(path, *options, **JSON_OUTPUT, **environment)
        assert done.stdout.startswith("{"), done.stdout + done.stderr
        return [task["hosts"] for play in json.loads(done.stdout)["plays"] for task in play["tasks"]]


def over(connection: str, ssh_port: int) -> dict[str, Any]:
    """The variables of a switch that Ansible reaches by ``httpapi``, or by ``network_cli`` at this port."""
    variables: dict[str, Any] = {"ansible_connection": f"ansible.netcommon.{connection}"}
    if connection == "network_cli":
        variables |= {
            "ansible_port": str(ssh_port),
            "ansible_network_cli_ssh_type": "libssh",
            "ansible_host_key_checking": False,
        }
    return variables


@contextmanager
def running_tor(directory: Path, *options: str) -> Iterator[Tor]:
    """A switch that sees nothing yet."""
    (directory / "observed.json").write_text("{}")
    files = ["--config", "running-config", "--observed", "observed.json", "--request-log", "requests.jsonl"]
    command = [f"{PROGRAMS}/podsim", "eos", "--listen", "127.0.0.1:0", "--user", USER, "--password", PASSWORD]
    process = subprocess.Popen([*command, *files, *options], cwd=directory, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    port = urlsplit(process.stdout.readline().split()[-1]).port
    assert port
    try:
        yield Tor(directory, port)
    finally:
        end(process)
        process.stdout.close()
