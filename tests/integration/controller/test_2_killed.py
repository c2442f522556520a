# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The V-IPU controller on the simulated POD64, killed in the middle of a bring-up."""

from __future__ import annotations

from typing import Any

import pytest

PODS = [f"pod001-ipum{n}" for n in range(1, 17)]

FAULTY = """[Service]
ExecStart=
ExecStart=/usr/local/bin/vipu-server --storage /var/lib/vipu/vipu-server.json --faults /run/faults.json
RestartSec=0
"""


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
