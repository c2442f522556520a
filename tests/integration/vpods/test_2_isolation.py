# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Four tenants side by side on the simulated POD64: what the matrix of who reaches whom notices, and what a neighbour's
change costs.

Where a vPOD lies is asked of the controller, what its ports are of the machines, and who reaches whom of packets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.packets.flow import Report
from tests.packets.matrix import faults
from tests.packets.ports import Port, management_port_of, rnic_of
from tests.packets.running_flow import RunningFlow

from .conftest import INVENTORY

DECLARED = yaml.safe_load((INVENTORY / "pods.yml").read_text())
VPODS = DECLARED["vpods"]
IPUS_OF_A_MACHINE = 4
# Of the controller, the switch and the control node; those of the machines are asked of them.
MANAGEMENT = ("10.3.1.200", "10.4.1.1", "10.1.1.254", "10.2.1.254", "10.3.1.254", "10.4.1.254")


class Floor:
    """Whose ports are whose: servers as declared, IPU-Machines as the controller has them."""

    def __init__(self, pod: Any, vpods: dict[str, Any]) -> None:
        machines = [*pod.sim["poplar_servers"], *pod.sim["ipu_machines"]]
        self.rnics = {machine: rnic_of(machine) for machine in machines}
        self.management = [management_port_of(machine) for machine in (*machines, "ctrl001")]
        self.tenants = {
            name: [self.rnics[machine] for machine in (*vpod["poplar_servers"], *allocated(pod, name))]
            for name, vpod in vpods.items()
        }

    def faults(self, vpods: dict[str, Any]) -> list[str]:
        """What is wrong with the isolation of these vPODs."""
        taken = {port for ports in self.tenants.values() for port in ports}
        nobodys = [port for port in self.rnics.values() if port not in taken]
        vlans = {name: vpod["vlan"] for name, vpod in vpods.items()}
        return faults(self.tenants, vlans, [*nobodys, *self.management], MANAGEMENT)


def asked(pod: Any, what: str) -> dict[str, Any]:
    """What the controller answers its administrator."""
    said = pod.inside("ctrl001", f"vipu-admin --config /etc/vipu/vipu-admin.hcl --showjson {what}")
    answer: dict[str, Any] = json.loads(said)
    return answer


def allocated(pod: Any, vpod: str) -> list[str]:
    """The IPU-Machines of a vPOD, as the controller has them."""
    agents: list[str] = asked(pod, f"get allocation {vpod}")["allocation"]["spec"]["agent_ids"]
    return sorted(agents, key=lambda name: int(name.removeprefix("pod001-ipum")))


def port_of(pod: Any, machine: str) -> str:
    """The switch port at the other end of a machine's cable."""
    switch, port = pod.sim["ipu_machines"][machine]["rnic"]["cable"].split()
    assert switch == "pod001-tor"
    return str(port)


@contextmanager
def in_wrong_vlan(pod: Any, port: str, wrong: int, right: int) -> Iterator[None]:
    """A switch port is in another VLAN for a while."""
    pod.switch("configure", f"interface {port}", f"switchport access vlan {wrong}")
    try:
        yield
    finally:
        pod.switch("configure", f"interface {port}", f"switchport access vlan {right}")


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


def everything_comes_back(reports: dict[str, Report]) -> bool:
    """Whether nothing was lost; a flow whose streams do not all come back at first does not begin."""
    return all(report.lost == 0 for report in reports.values())


def test_a_flow_notices_its_own_ports_change(pod: Any) -> None:
    floor = Floor(pod, VPODS)
    server, machine = floor.tenants["dave"]
    with RunningFlow({"dave": [server, machine]}) as flow:
        with in_wrong_vlan(pod, port_of(pod, machine.machine), 999, VPODS["dave"]["vlan"]):
            pod.inside(server.machine, f"! ping -c 2 -W 1 -I rnic0 {machine.address}")
        reports = flow.end()
    assert reports["dave"].lost > 0


def others(floor: Floor, changed: str) -> dict[str, Sequence[Port]]:
    """The ports of all vPODs but one."""
    return {name: ports for name, ports in floor.tenants.items() if name != changed}


def test_a_neighbours_ports_may_change_under_a_flow(pod: Any) -> None:
    """Plain changes of the switch, before any playbook is trusted with them."""
    floor = Floor(pod, VPODS)
    with RunningFlow(others(floor, "alice")) as flow:
        for machine in floor.tenants["alice"][1:] * 5:
            with in_wrong_vlan(pod, port_of(pod, machine.machine), 999, VPODS["alice"]["vlan"]):
                pod.switch("show running-config")
        reports = flow.end()
    assert everything_comes_back(reports), reports


# What the life of one vPOD costs its neighbours: nothing. Each entry is what pods.yml says differently from then on.
LIFE = {
    "carol is moved": ("carol", {"ipu_machines": ["pod001-ipum13", "pod001-ipum14"]}),
    "dave grows": ("dave", {"ipus": 8}),
    "bob is removed": ("bob", {"state": "absent"}),
}


class Life:
    """An inventory whose vPODs change, one at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.vpods: dict[str, Any] = {name: dict(vpod) for name, vpod in VPODS.items()}
        (folder / "group_vars").symlink_to(INVENTORY / "group_vars")

    def change(self, name: str, words: dict[str, Any]) -> None:
        """From now on these words are declared of one of them."""
        self.vpods[name].update(words)
        (self.folder / "pods.yml").write_text(yaml.safe_dump({**DECLARED, "vpods": self.vpods}))

    @property
    def present(self) -> dict[str, Any]:
        """Those that there are to be."""
        return {name: vpod for name, vpod in self.vpods.items() if vpod.get("state") != "absent"}


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    """The declaration as it changes from one test to the next."""
    return Life(tmp_path_factory.mktemp("life"))


@pytest.mark.parametrize("event", LIFE)
def test_the_neighbours_of_a_vpod_lose_nothing_when(pod: Any, life: Life, event: str) -> None:
    changed, words = LIFE[event]
    neighbours = others(Floor(pod, life.present), changed)
    life.change(changed, words)
    told = json.dumps({"vpods_only": [changed], "vpods_interrupt": [changed]})
    with RunningFlow(neighbours) as flow:
        run = pod.playbook("vpods", "-e", told, inventory=life.folder)
        reports = flow.end()
    assert (run.code, run.messages) == (0, "")
    assert everything_comes_back(reports), reports
    assert Floor(pod, life.present).faults(life.present) == []


def test_afterwards_everything_is_as_declared(pod: Any, life: Life) -> None:
    allocations = asked(pod, "list allocations")["allocations"]
    assert sorted(allocation["id"] for allocation in allocations) == ["alice", "carol", "dave"]
    assert allocated(pod, "carol") == ["pod001-ipum13", "pod001-ipum14"]
    assert len(allocated(pod, "dave")) * IPUS_OF_A_MACHINE == life.vpods["dave"]["ipus"]
    run = pod.playbook("site", inventory=life.folder)
    assert (run.code, run.messages) == (0, "")
    assert run.changed == dict.fromkeys(run.changed, 0)
