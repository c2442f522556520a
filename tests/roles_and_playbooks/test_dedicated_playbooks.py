# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/vpods.yml with dedicated V-IPU controllers, on a pod of which only the controller's host is managed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.roles_and_playbooks.vpods_bed import Bed, running_bed, vpod


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    with running_bed(tmp_path) as bed:
        yield bed


def test_a_tenant_with_a_controller_of_their_own_comes_grows_and_goes(bed: Bed) -> None:
    alice, bob = vpod(101), vpod(102)
    bed.as_predicted(alice=alice, bob=bob)
    assert (bed.held("", "allocations"), bed.held("", "partitions")) == (["alice", "bob"], [])
    assert (bed.held("alice", "agents"), bed.held("bob", "agents")) == (["p-ipum1", "p-ipum2"], ["p-ipum3", "p-ipum4"])

    grown = vpod(101, ipus=16)
    bed.as_predicted("-e", '{"vpods_interrupt": ["alice"]}', alice=grown, bob=bob)
    assert bed.held("alice", "agents") == [f"p-ipum{n}" for n in range(5, 9)]
    assert bed.held("alice", "partitions") == ["train"]

    # That it has a controller of its own need not be said any more.
    gone = {"cluster": "c", "state": "absent", "vlan": 101}
    assert "partition train" in bed.run(alice=gone, bob=bob).messages
    bed.as_predicted("-e", '{"vpods_interrupt": ["alice"]}', alice=gone, bob=bob)
    assert (
        bed.server.sh("find /etc /var/lib /usr/local -name '*alice*'").split()[0].startswith("/var/lib/vipu-removed/")
    )
    assert bed.held("", "allocations") == ["bob"]
    assert bed.held("bob", "partitions") == ["train"]
    assert bed.run(alice=gone, bob=bob).changed["ctrl"] == 0
