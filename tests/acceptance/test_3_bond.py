# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Both ports of a server as one interface with a tagged VLAN on it, of which one is active: it fails."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="module", autouse=True)
def _bonded(bed: Any) -> None:
    run = bed.play("bond")
    assert run.code == 0, run.messages


@pytest.fixture(name="one")
def _one(bed: Any) -> Any:
    return bed.server("pod001-poplar1")


def test_the_tenants_vlan_is_on_the_bond(bed: Any, one: Any) -> None:
    assert sorted(one.check_output("cat /sys/class/net/bond0/bonding/slaves").split()) == ["rnic0", "rnic1"]
    assert not one.file("/sys/class/net/rnic0.101").exists
    # The bond has a MAC of its own, which the machine has to learn first.
    bed.until(lambda: bed.answers("pod001-ipum1", "10.5.1.101"), "nothing answers on the bond")


def test_the_bond_takes_jumbo_frames(one: Any) -> None:
    one.check_output("ping -q -c 2 -i 0.2 -W 3 -M do -s 8972 10.5.1.102")


def test_a_port_may_fail(bed: Any, one: Any) -> None:
    active = "cat /sys/class/net/bond0/bonding/active_slave"
    first = one.check_output(active)
    nic = int(first[-1])
    bed.cable("pod001-poplar1", nic, plugged=False)
    bed.until(lambda: one.check_output(active) not in (first, ""), "the bond has not changed over")
    assert bed.answers("pod001-ipum1", "10.5.1.101")
    bed.cable("pod001-poplar1", nic, plugged=True)
