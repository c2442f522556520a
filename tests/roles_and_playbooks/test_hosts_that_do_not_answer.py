# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A look at hosts that SSH does not reach: the message is that of ssh."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

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
