# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Four tenants side by side on the simulated POD64: what the matrix of who reaches whom notices, and what a flow does.

Where a vPOD lies is asked of the controller, what its ports are of the machines, and who reaches whom of packets.
"""

from __future__ import annotations

from typing import Any

import yaml

from tests.integration.vpods.conftest import INVENTORY
from tests.integration.vpods.floor import Floor, everything_comes_back, in_wrong_vlan, others, port_of
from tests.support.packets.running_flow import RunningFlow

VPODS = yaml.safe_load((INVENTORY / "pods.yml").read_text())["vpods"]


def test_the_matrix_notices_one_port_in_a_wrong_vlan(pod: Any) -> None:
    floor = Floor(pod, VPODS)
    astray = floor.tenants["alice"][-1]
    with in_wrong_vlan(pod, port_of(pod, astray.machine), VPODS["bob"]["vlan"], VPODS["alice"]["vlan"]):
        found = floor.faults(VPODS)
    server, other = floor.tenants["alice"][0], floor.tenants["bob"][0]
    assert f"{server} of alice does not reach {astray} with a frame to {astray.mac}" in found
    assert f"{server} of alice gets no answer from {astray.address}" in found
    assert f"{astray} of alice reaches {other} of bob with a frame to {other.mac}" in found
    assert f"{other} of bob gets an answer from {astray.address}" in found
    assert floor.faults(VPODS) == []


def test_the_matrix_notices_a_trunk_that_carries_a_neighbours_vlan(pod: Any) -> None:
    floor = Floor(pod, VPODS)
    server, other = floor.tenants["alice"][0], floor.tenants["bob"][1]
    _, port = pod.sim["poplar_servers"][server.machine]["rnics"]["rnic0"]["cable"].split()
    foreign = VPODS["bob"]["vlan"]
    pod.switch("configure", f"interface {port}", f"switchport trunk allowed vlan add {foreign}")
    found = floor.faults(VPODS)
    pod.switch("configure", f"interface {port}", f"switchport trunk allowed vlan remove {foreign}")
    assert (
        f"{server} of alice reaches {other} of bob with a frame to ff:ff:ff:ff:ff:ff that it tagged with VLAN {foreign}"
    ) in found
    assert floor.faults(VPODS) == []


def test_a_flow_notices_its_own_ports_change(pod: Any) -> None:
    floor = Floor(pod, VPODS)
    server, machine = floor.tenants["dave"]
    with RunningFlow({"dave": [server, machine]}) as flow:
        with in_wrong_vlan(pod, port_of(pod, machine.machine), 999, VPODS["dave"]["vlan"]):
            pod.inside(server.machine, f"! ping -c 2 -W 1 -I rnic0 {machine.address}")
        reports = flow.end()
    assert reports["dave"].lost > 0


def test_a_neighbours_ports_may_change_under_a_flow(pod: Any) -> None:
    """Plain changes of the switch, before any playbook is trusted with them."""
    floor = Floor(pod, VPODS)
    with RunningFlow(others(floor, "alice")) as flow:
        for machine in floor.tenants["alice"][1:] * 5:
            with in_wrong_vlan(pod, port_of(pod, machine.machine), 999, VPODS["alice"]["vlan"]):
                pod.switch("show running-config")
        reports = flow.end()
    assert everything_comes_back(reports), reports
