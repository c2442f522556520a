# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The V-IPU controller on the simulated POD64: killed in the middle of a bring-up; secure, with two tenants."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.playbook_run import did_what_was_foretold

INVENTORY = Path(__file__).resolve().parents[2] / "inventories" / "sim_two_servers"
PODS = [f"pod001-ipum{n}" for n in range(1, 17)]

FAULTY = """[Service]
ExecStart=
ExecStart=/usr/local/bin/vipu-server --storage /var/lib/vipu/vipu-server.json --faults /run/faults.json
RestartSec=0
"""


@pytest.fixture(scope="module", name="inventory")
def _inventory() -> Path:
    return INVENTORY


@pytest.mark.parametrize(("write", "step"), [(3, "agent pod001-ipum3"), (17, "cluster c001"), (19, "partition train")])
def test_a_controller_killed_in_the_middle_is_completed_by_a_plain_re_run(
    fresh_pod: Any, write: int, step: str
) -> None:
    fresh_pod.forget_the_controller()
    fresh_pod.inside(
        "ctrl001",
        f"mkdir -p /etc/systemd/system/vipu-server.service.d; printf '{FAULTY}' > "
        "/etc/systemd/system/vipu-server.service.d/faults.conf; "
        f"""printf '{{"crash_on_write": {write}}}' > /run/faults.json""",
    )
    broken = fresh_pod.playbook("vipu_controllers")
    assert broken.code != 0
    failed = next(result for _, _, result in broken.tasks if "failed_step" in result)
    assert f"{failed['failed_step']['kind']} {failed['failed_step']['name']}" == step
    fresh_pod.inside("ctrl001", "rm /run/faults.json")
    completed = fresh_pod.playbook("vipu_controllers")
    assert (completed.code, completed.messages) == (0, "")
    assert fresh_pod.held("agents") == sorted(PODS)
    assert [fresh_pod.held(kind) for kind in ("clusters", "allocations")] == [["c001"], ["demo"]]
    assert fresh_pod.held("partitions") == ["serve", "train"]
    again = fresh_pod.playbook("vipu_controllers")
    assert again.changed == dict.fromkeys(again.changed, 0)


@pytest.fixture(scope="module")
def secure_inventory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The simulated pod with a secure controller, two tenants, and users of their own."""
    inventory = tmp_path_factory.mktemp("secure")
    document = yaml.safe_load((INVENTORY / "pods.yml").read_text())
    document["controllers"]["ctrl001"]["mode"] = "secure"
    servers = ["pod001-poplar1", "pod001-poplar2"]
    document["vpods"] = {
        name: {
            "cluster": "c001",
            "ipus": 32,
            "vlan": vlan,
            "users": [name],
            "poplar_servers": own,
            "partitions": {f"{name}-train": {"ipus": 16}},
        }
        for name, vlan, own in (("alice", 101, servers[:1]), ("bob", 102, servers[1:]))
    }
    (inventory / "pods.yml").write_text(yaml.safe_dump(document))
    (inventory / "group_vars").symlink_to(INVENTORY / "group_vars")
    return inventory


def test_a_secure_controller_with_two_tenants(fresh_pod: Any, secure_inventory: Path) -> None:
    fresh_pod.forget_the_controller()
    check = fresh_pod.playbook("site", "--check", "--diff", inventory=secure_inventory)
    assert (check.code, check.messages) == (0, "")
    run = fresh_pod.playbook("site", "--diff", inventory=secure_inventory)
    assert (run.code, run.messages) == (0, "")
    did_what_was_foretold(check, run)

    key = fresh_pod.inside("ctrl001", "sed -n 's/^api-access-key=\"\\(.*\\)\"/\\1/p' /etc/vipu/vipu-admin.hcl").strip()
    alices = fresh_pod.inside("ctrl001", "cat /var/lib/vipu/keys/alice.key").strip()
    said = json.dumps(run.document)
    assert key
    assert key not in said
    assert alices
    assert alices not in said
    assert key not in fresh_pod.inside("ctrl001", "journalctl --no-pager")

    assert "alice-train" in fresh_pod.inside("pod001-poplar1", "vipu list partitions")
    assert "bob-train" not in fresh_pod.inside("pod001-poplar1", "vipu list partitions")
    assert "bob-train" in fresh_pod.inside("pod001-poplar2", "vipu list partitions")
    nobody = "vipu --config /dev/null -H 10.3.1.200 list partitions"
    refused = subprocess.run(
        ["podman", "exec", "podsim-pod001-poplar1", *nobody.split()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode != 0

    again = fresh_pod.playbook("site", "--diff", inventory=secure_inventory)
    assert again.changed == dict.fromkeys(again.changed, 0)

    opened = fresh_pod.playbook(
        "vipu_controllers", "--diff", "-e", "vipu_controller_mode=insecure", inventory=secure_inventory
    )
    assert opened.code != 0
    assert "The V-IPU controller on ctrl001 is in secure mode (/etc/vipu/vipu-admin.hcl is there)" in opened.messages
