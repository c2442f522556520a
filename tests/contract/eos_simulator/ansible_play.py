# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays of the arista.eos modules against a simulated switch, over eAPI or SSH."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.contract.eos_simulator.conftest import PASSWORD, USER, RunningSwitch

CONNECTIONS = {
    "httpapi": lambda switch: {"ansible_httpapi_port": switch.port},
    "network_cli": lambda switch: {"ansible_port": switch.ssh_port, "ansible_network_cli_ssh_type": "libssh"},
}


def play(switch: RunningSwitch, connection: str, *plays: list[dict[str, Any]], secret: str = "") -> list[list[Any]]:
    """Run tasks against the switch, one play after the other; the results of each play's tasks, in order."""
    variables = {
        "ansible_host": "127.0.0.1",
        "ansible_connection": f"ansible.netcommon.{connection}",
        "ansible_network_os": "arista.eos.eos",
        "ansible_user": USER,
        "ansible_password": PASSWORD,
        "ansible_become": True,
        "ansible_become_method": "ansible.netcommon.enable",
        "ansible_become_password": secret,
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        **CONNECTIONS[connection](switch),
    }
    home = switch.directory / "home"
    home.mkdir(exist_ok=True)
    inventory = {"all": {"hosts": {"tor1": variables}}}
    content = [{"hosts": "all", "gather_facts": False, "tasks": tasks} for tasks in plays]
    for name, value in {"inventory.json": inventory, "play.json": content}.items():
        (home / name).write_text(json.dumps(value))
    (home / "ansible.cfg").write_text("[defaults]\nhost_key_checking = false\n")
    environment = {**os.environ, "HOME": str(home), "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json"}
    environment |= {"ANSIBLE_CONFIG": str(home / "ansible.cfg")}
    playbook = Path(sys.executable).with_name("ansible-playbook")
    command = [playbook, "-i", "inventory.json", "play.json"]
    done = subprocess.run(command, cwd=home, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    ran = json.loads(done.stdout)["plays"]
    return [[task["hosts"]["tor1"] for task in each["tasks"]] for each in ran]
