# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is free on the simulated POD64, and two dead IPU-Machines on it that do not stop the others."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

INVENTORY = Path(__file__).resolve().parents[2] / "inventories" / "sim_two_servers"
DEAD = ["pod001-ipum2", "pod001-ipum14"]


@pytest.fixture(scope="module", name="inventory")
def _inventory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The simulated pod with two vPODs, and room for a third."""
    inventory = tmp_path_factory.mktemp("two_vpods")
    declare(inventory, [])
    (inventory / "group_vars").symlink_to(INVENTORY / "group_vars")
    return inventory


def declare(inventory: Path, excluded: list[str]) -> None:
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["sim"] = str(INVENTORY / document["sim"])
    document["pods"]["pod001"]["excluded"] = excluded
    document["vpods"] = {
        "alice": {
            "cluster": "c001",
            "ipus": 32,
            "vlan": 201,
            "poplar_servers": ["pod001-poplar1"],
            "partitions": {"train": {"ipus": 32}},
        },
        "bob": {"cluster": "c001", "ipus": 16, "vlan": 202, "poplar_servers": ["pod001-poplar2"]},
    }
    (inventory / "pods.yml").write_text(yaml.safe_dump(document))


@pytest.fixture(scope="module")
def pod(fresh_pod: Any) -> Any:
    """The pod after site.yml."""
    run = fresh_pod.playbook("site")
    assert (run.code, run.messages) == (0, "")
    return fresh_pod


def capacity(pod: Any, ipus: int) -> str:
    code, said = pod.say("capacity", "-e", f"ipus={ipus}", inventory=pod.inventory)
    assert code == 0, said
    return " ".join(said.split())


def test_what_is_free_and_what_fits(pod: Any) -> None:
    said = capacity(pod, 16)
    assert "c001: 16 of 64 IPUs free, in blocks: 1 of 16" in said
    assert "pod001 aaaa aaaa bbbb .... pod001-ipum1..16" in said
    assert "16 IPUs: fits in c001 on pod001-ipum13..16" in said
    said = capacity(pod, 32)
    assert "bob (vpods.bob, 16 IPUs on pod001-ipum9..12) is in the way; removing bob would make room" in said


def test_dead_machines_that_are_excluded_leave_a_run_degraded_and_change_nothing(pod: Any, tmp_path: Path) -> None:
    for name in DEAD:
        subprocess.run(["podman", "kill", f"podsim-{name}"], check=True, capture_output=True)
    assert pod.playbook("verify").code != 0
    declare(pod.inventory, DEAD)
    run = pod.playbook("site")
    assert (run.code, run.messages) == (0, "")
    assert run.changed == dict.fromkeys(run.changed, 0)
    first, second, third, last = run.told
    assert [first, second] == [f"degraded: {name} is excluded" for name in DEAD]
    assert third.startswith("degraded: vPOD alice has pod001-ipum2 and")
    assert last.startswith("nothing changed; ")
    assert "Degraded      pod001-ipum14 is excluded" in pod.playbook("verify").told
    assert pod.held("allocations") == ["alice", "bob"]
    code, said = pod.say("drift", "-e", f"drift_directory={tmp_path}", inventory=pod.inventory)
    assert code == 0, said
    assert "pod001 axaa aaaa bbbb .x.. pod001-ipum1..16" in capacity(pod, 4)
