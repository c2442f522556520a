# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/vpods.yml with dedicated V-IPU controllers, on a pod of which only the controller's host is managed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.roles_and_playbooks.vpods_bed import Bed, running_bed, vpod
from tests.support.container_server import ContainerServer
from tests.support.controller_host import controller_host


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    with running_bed(tmp_path) as bed:
        yield bed


@pytest.fixture
def own_host(bed: Bed, tmp_path: Path) -> Iterator[ContainerServer]:
    with controller_host(tmp_path, number=1) as host:
        (bed.inventory / "host_vars").mkdir()
        (bed.inventory / "host_vars" / "alice-controller.yml").write_text(yaml.safe_dump(host.variables))
        yield host


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


def test_a_controller_on_a_host_of_its_own_comes_grows_and_goes(bed: Bed, own_host: ContainerServer) -> None:
    alice = vpod(101, controller_address=own_host.address)
    bed.as_predicted(alice=alice)
    assert (bed.held("", "allocations"), bed.held("", "partitions")) == (["alice"], [])
    assert bed.held("alice", "agents", own_host) == bed.machines_of("alice") == ["p-ipum1", "p-ipum2"]
    assert bed.held("alice", "partitions", own_host) == ["train"]
    assert bed.server.sh("find /etc /var/lib -name '*alice*'") == ""

    grown = {**alice, "ipus": 16}
    bed.as_predicted("-e", '{"vpods_interrupt": ["alice"]}', alice=grown)
    assert bed.held("alice", "agents", own_host) == bed.machines_of("alice") == [f"p-ipum{n}" for n in range(1, 5)]

    gone = {"cluster": "c", "state": "absent", "vlan": 101, "controller_address": own_host.address}
    assert "partition train" in bed.run(alice=gone).messages
    bed.as_predicted("-e", '{"vpods_interrupt": ["alice"]}', alice=gone)
    (left,) = own_host.sh("find /etc /var/lib /usr/local -name '*alice*'").split()
    assert left.startswith("/var/lib/vipu-removed/alice-")
    assert bed.held("", "allocations") == []
    again = bed.run(alice=gone)
    assert (again.changed["ctrl"], again.changed["alice-controller"]) == (0, 0)
