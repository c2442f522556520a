# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/vpods.yml where an IPU-Machine is dead, on a pod of which only the controller's host is managed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.roles_and_playbooks.vpods_bed import Bed, running_bed, vpod

LEFT = "degraded: vPOD alice has p-ipum2 and its partitions are left as they are; "


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    with running_bed(tmp_path) as bed:
        yield bed


def test_a_vpod_on_a_dead_machine_stays_until_it_may_be_interrupted(bed: Bed) -> None:
    alice, bob = vpod(101, controller=None), vpod(102, controller=None, partitions={"serve": {"ipus": 4}})
    assert bed.run(alice=alice).messages == ""
    bed.server.sh("systemctl stop agent-p-ipum2")
    bed.excluded = ("p-ipum2",)
    run = bed.run(alice=alice, bob=bob)
    assert run.messages == ""
    assert "degraded: p-ipum2 is excluded" in run.reported
    assert any(line.startswith(LEFT) for line in run.reported)
    assert bed.machines_of("alice") == ["p-ipum1", "p-ipum2"]
    assert bed.held("", "partitions") == ["serve", "train"]
    bed.as_predicted("-e", '{"vpods_interrupt": ["alice"]}', alice=alice, bob=bob)
    assert bed.machines_of("alice") == ["p-ipum5", "p-ipum6"]
    assert bed.held("", "partitions") == ["serve", "train"]
    run = bed.run(alice=alice, bob=bob)
    assert run.changed["ctrl"] == 0
    assert "degraded: p-ipum2 is excluded" in run.reported
    assert not any(line.startswith(LEFT) for line in run.reported)
