# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switches that can be simulated: their ports, and their configurations without any settings."""

from __future__ import annotations

from dataclasses import dataclass

from podsim.eos.config import Editor, Node
from podsim.eos.grammar import line
from podsim.eos.syntax import GLOBAL
from podsim.eos.templates import split

MANAGEMENT = "Management1"
SERIAL_NUMBER = "SIM00000001"
SWITCHED_MTU = 9214


@dataclass(frozen=True, eq=False)
class Hardware:
    """A switch model: the speed of each port in bit/s by name, and the transceiver that its data ports have."""

    model: str
    speeds: dict[str, int]
    interface_type: str
    lanes: int

    @property
    def ports(self) -> tuple[str, ...]:
        """The names of all ports."""
        return tuple(self.speeds)

    def speed(self, interface: str) -> int:
        """The speed in bit/s of a port; that of the fastest port for an interface that is none."""
        return self.speeds.get(interface, max(self.speeds.values()))


DCS_7060CX_32S = Hardware(
    "DCS-7060CX-32S-F",
    {**{f"Ethernet{number}/1": 100_000_000_000 for number in range(1, 33)}, MANAGEMENT: 1_000_000_000},
    "100GBASE-CR4",
    lanes=4,
)
DCS_7010T_48 = Hardware(
    "DCS-7010T-48-F",
    {
        **{f"Ethernet{number}": 1_000_000_000 for number in range(1, 49)},
        **{f"Ethernet{number}": 10_000_000_000 for number in range(49, 53)},
        MANAGEMENT: 1_000_000_000,
    },
    "1000BASE-T",
    lanes=1,
)
MODELS = {hardware.model.removesuffix("-F"): hardware for hardware in (DCS_7060CX_32S, DCS_7010T_48)}


def empty_config(hardware: Hardware = DCS_7060CX_32S) -> Node:
    """The configuration after `rollback clean-config`: every port with its defaults, VLAN 1, nothing else."""
    root = Node("", line("config", mode=GLOBAL))
    editor = Editor(root)
    for command in ("spanning-tree mode mstp", "vlan 1"):
        editor.enter(command)
    for port in hardware.ports:
        name = f"interface {port}"
        root.children["interface", port] = Node(name, GLOBAL.find(split(name), abbreviate=False).statement)
    return root


def factory_config(hardware: Hardware, hostname: str | None) -> Node:
    """The configuration of a new switch: the empty one, the API switched on, and a host name if given."""
    root = empty_config(hardware)
    editor = Editor(root)
    for command in ("management api http-commands", "no shutdown"):
        editor.enter(command)
    if hostname:
        editor.enter(f"hostname {hostname}")
    return root
