# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose ports are whose on the pod of this folder: asked of the controller and of the machines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.support.packets.flow import Report
from tests.support.packets.matrix import faults
from tests.support.packets.ports import Port, management_port_of, rnic_of

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
        """The faults in the isolation of these vPODs."""
        taken = {port for ports in self.tenants.values() for port in ports}
        nobodys = [port for port in self.rnics.values() if port not in taken]
        vlans = {name: vpod["vlan"] for name, vpod in vpods.items()}
        return faults(self.tenants, vlans, [*nobodys, *self.management], MANAGEMENT)


def asked(pod: Any, what: str) -> dict[str, Any]:
    """The answer of the controller to its administrator."""
    output = pod.inside("ctrl001", f"vipu-admin --config /etc/vipu/vipu-admin.hcl --showjson {what}")
    answer: dict[str, Any] = json.loads(output)
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


def others(floor: Floor, changed: str) -> dict[str, Sequence[Port]]:
    """The ports of all vPODs but one."""
    return {name: ports for name, ports in floor.tenants.items() if name != changed}


def everything_comes_back(reports: dict[str, Report]) -> bool:
    """Whether nothing was lost; a flow whose streams do not all come back at first does not begin."""
    return all(report.lost == 0 for report in reports.values())
