# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switch that is simulated: a DCS-7060CX-32S, its ports and its configuration without any settings."""

from __future__ import annotations

from dataclasses import dataclass

from podsim.eos.config import Editor, Node
from podsim.eos.grammar import line, split
from podsim.eos.syntax import GLOBAL

MODEL = "DCS-7060CX-32S-F"
SERIAL_NUMBER = "SIM00000001"
PORTS = (*(f"Ethernet{number}/1" for number in range(1, 33)), "Management1")
PORT_SPEED = 100_000_000_000
MANAGEMENT_SPEED = 1_000_000_000
SWITCHED_MTU = 9214


@dataclass(frozen=True)
class Release:
    """An EOS release, such as 4.28.3M."""

    name: str

    @property
    def number(self) -> tuple[int, ...]:
        """The release as numbers to compare: 4.28.3M is (4, 28, 3)."""
        return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in self.name.split("."))

    @property
    def has_commit_timer_fields(self) -> bool:
        """Whether a pending commit timer has fields of its own in `show configuration sessions detail`."""
        return self.number >= (4, 32)


def empty_config() -> Node:
    """What `rollback clean-config` leaves: every port with its defaults, VLAN 1, nothing else."""
    root = Node("", line("config", mode=GLOBAL))
    editor = Editor(root)
    for command in ("spanning-tree mode mstp", "vlan 1"):
        editor.enter(command)
    for port in PORTS:
        name = f"interface {port}"
        root.children["interface", port] = Node(name, GLOBAL.find(split(name), abbreviate=False).statement)
    return root


def factory_config(hostname: str | None) -> Node:
    """The configuration of a new switch: the empty one, the API switched on, and a host name if given."""
    root = empty_config()
    editor = Editor(root)
    for command in ("management api http-commands", "no shutdown"):
        editor.enter(command)
    if hostname:
        editor.enter(f"hostname {hostname}")
    return root
