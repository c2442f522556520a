# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""IPU-Machines that die under a vPOD: once they are excluded, everything else goes on, and every report says so."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.integration.two_servers.conftest import INVENTORY

DEAD = ["pod001-ipum2", "pod001-ipum14"]


def excluding(folder: Path, machines: list[str]) -> Path:
    """The inventory with some IPU-Machines out of order."""
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["pods"]["pod001"]["excluded"] = machines
    folder.mkdir()
    (folder / "pods.yml").write_text(yaml.safe_dump(document, sort_keys=False))
    (folder / "group_vars").symlink_to(INVENTORY / "group_vars")
    return folder


def test_dead_machines_that_are_excluded_leave_a_run_degraded_and_change_nothing(pod: Any, tmp_path: Path) -> None:
    for name in DEAD:
        subprocess.run(["podman", "kill", f"podsim-{name}"], check=True, capture_output=True)
    assert pod.playbook("verify").code != 0
    inventory = excluding(tmp_path / "inventory", DEAD)
    run = pod.playbook("site", inventory=inventory)
    assert (run.code, run.messages) == (0, "")
    assert run.changed == dict.fromkeys(run.changed, 0)
    first, second, third, last = run.reported
    assert [first, second] == [f"degraded: {name} is excluded" for name in DEAD]
    assert third.startswith("degraded: vPOD demo has pod001-ipum2")
    assert last.startswith("nothing changed; ")
    assert "Degraded      pod001-ipum14 is excluded" in pod.playbook("verify", inventory=inventory).reported
    assert pod.held("allocations") == ["demo"]
    code, output = pod.say("drift", "-e", f"drift_directory={tmp_path}", inventory=inventory)
    assert code == 0, output
    code, output = pod.say("capacity", "-e", "ipus=4", inventory=inventory)
    assert "pod001 dxdd dddd dddd dxdd pod001-ipum1..16" in " ".join(output.split())
