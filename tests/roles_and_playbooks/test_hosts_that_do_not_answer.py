# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A look at hosts that SSH does not reach, and at a switch that is not there: the message is theirs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

from tests.support.loopback import closed_port
from tests.support.playbook_run import run_playbook

PODS = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {"p": {"model": "bow-pod64", "managed": ["controller"]}},
    "controllers": {"ctrl": {"address": "192.0.2.1"}},
    "clusters": {"c": {"controller": "ctrl", "pods": ["p"]}},
}
# As one that ends before it has read what is sent to the host, and takes its time over it.
SSH = """\
#!/bin/sh
exec <&-
sleep 0.5
echo '{says}' >&2
exit 255
"""


@pytest.mark.parametrize(
    ("says", "remedy"),
    [
        ("ssh: connect to host 192.0.2.1 port 22: Connection refused", "start it, or correct its address in pods.yml"),
        ("root@192.0.2.1: Permission denied (publickey).", "correct how the inventory says to log in"),
    ],
)
def test_messages_of_ssh_are_reported_with_a_remedy(tmp_path: Path, says: str, remedy: str) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text(SSH.format(says=says))
    ssh.chmod(0o755)
    inventory = tmp_path / "inventory"
    (inventory / "group_vars").mkdir(parents=True)
    (inventory / "pods.yml").write_text(yaml.safe_dump(PODS))
    reached = {"ansible_ssh_executable": str(ssh), "ansible_python_interpreter": "/usr/bin/python3"}
    (inventory / "group_vars" / "vipu_controllers.yml").write_text(yaml.safe_dump(reached))
    done = run_playbook("site", inventory=inventory, COLUMNS="1000")
    assert done.returncode != 0
    assert f"{says}; {remedy}" in done.stdout + done.stderr


def test_a_switch_that_is_not_there_is_not_taken_for_one_that_was_seen(tmp_path: Path) -> None:
    (tmp_path / "group_vars").mkdir()
    pod = {"model": "bow-pod64", "managed": ["switch"], "tor": {"address": "127.0.0.1"}}
    (tmp_path / "pods.yml").write_text(yaml.safe_dump({"plugin": "ipu.pod.pods", "schema": 1, "pods": {"p": pod}}))
    command_line = {
        "ansible_connection": "ansible.netcommon.network_cli",
        "ansible_network_cli_ssh_type": "libssh",
        "ansible_network_os": "arista.eos.eos",
        "ansible_user": "admin",
        "ansible_password": "s3cret",
        "ansible_python_interpreter": sys.executable,
    }
    with closed_port() as port:
        command_line["ansible_port"] = port
        (tmp_path / "group_vars" / "switches.yml").write_text(yaml.safe_dump(command_line))
        done = run_playbook("verify", inventory=tmp_path, COLUMNS="1000")
    assert done.returncode != 0
    assert "p-tor: the switch could not be asked: " in done.stdout
    assert "; start it, or correct its address in pods.yml\n  Nothing has been touched." in done.stdout
    assert "Checked" not in done.stdout
