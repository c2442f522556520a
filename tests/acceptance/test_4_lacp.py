# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Both ports of a server and a port channel of the switch agree by LACP: a port fails, the server restarts."""

from __future__ import annotations

from typing import Any

import pytest

SERVER = "pod001-poplar1"


@pytest.fixture(scope="module", autouse=True)
def _declared(bed: Any) -> None:
    run = bed.play("lacp")
    assert run.code == 0, run.messages


@pytest.fixture(name="one")
def _one(bed: Any) -> Any:
    return bed.server(SERVER)


def bond_field(one: Any, name: str) -> str:
    """The kernel's value of a field of the bond."""
    return str(one.check_output(f"cat /sys/class/net/bond1/bonding/{name}"))


def both_ports_agreed(one: Any) -> bool:
    return (bond_field(one, "ad_num_ports"), bond_field(one, "mii_status")) == ("2", "up")


def test_both_ports_agree_with_the_switch(bed: Any, one: Any) -> None:
    assert bond_field(one, "mode") == "802.3ad 4"
    bed.until(lambda: both_ports_agreed(one), "the ports have not agreed with the switch")
    assert bond_field(one, "ad_partner_mac") != "00:00:00:00:00:00"
    assert not one.file("/sys/class/net/bond0").exists


def test_the_tenants_vlan_is_on_both(bed: Any, one: Any) -> None:
    bed.until(lambda: bed.answers("pod001-ipum1", "10.5.1.101"), "nothing answers on the bond")
    one.check_output("ping -q -c 2 -i 0.2 -W 3 -M do -s 8972 10.5.1.102")


@pytest.mark.parametrize("nic", [0, 1])
def test_either_port_may_fail(bed: Any, one: Any, nic: int) -> None:
    bed.cable(SERVER, nic, plugged=False)
    bed.until(lambda: bond_field(one, "ad_num_ports") == "1", "the bond has not noticed the failed port")
    bed.until(lambda: bed.answers("pod001-ipum1", "10.5.1.101"), "nothing answers on the other port")
    bed.cable(SERVER, nic, plugged=True)
    bed.until(lambda: both_ports_agreed(one), "the port is not back")


def test_a_restart_keeps_everything(bed: Any, one: Any) -> None:
    before, boot = bed.settings(SERVER), bed.boot(SERVER)
    one.run("systemctl reboot")
    bed.wait_for_boot(SERVER, boot)
    assert bed.settings(SERVER) == before
    bed.until(lambda: both_ports_agreed(one), "the ports have not agreed with the switch again")
    bed.until(lambda: bed.answers("pod001-ipum1", "10.5.1.101"), "the VLAN on the bond is not back")


def test_what_is_declared_is_still_there(bed: Any) -> None:
    run = bed.play("lacp")
    assert run.code == 0, run.messages
    assert run.changes == []
