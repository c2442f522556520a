# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The persistent settings of one interface, independent of the back end. Pure."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Callable, Dict, List, Mapping, Protocol, Sequence

from .._plan.steps import Step
from .declared import NIC

HEADER = "# Written by ipu.pod.rnic_network, which overwrites what is changed here by hand."

# Loss of the carrier is noticed within this time; without it a bond would not notice at all.
MII_MONITOR_MS = 100

Commands = List[List[str]]
Texts = Dict[str, str]


@dataclass(frozen=True)
class Profile:
    """The persistent settings of one interface.

    Args:
        name: as it is declared; stands in the files' names.
        type: ``nic``, ``vlan`` or ``bond``.
        device: the kernel's name.
        mac: finds the NIC; None finds it by ``device``.
        mtu: in bytes; None leaves it to the kernel.
        addresses: with prefix length, in canonical order.
        description: one line; empty for none.
        bond: the bond that a NIC is a member of.
        parent: the declared name of the interface that a VLAN is on.
        parent_device: its kernel name.
        vlan_id: 1 to 4094.
        members: the declared names of a bond's NICs.
        mode: of a bond.
    """

    name: str
    type: str = NIC
    device: str = ""
    mac: str | None = None
    mtu: int | None = None
    addresses: tuple[str, ...] = ()
    description: str = ""
    bond: str | None = None
    parent: str = ""
    parent_device: str = ""
    vlan_id: int = 0
    members: tuple[str, ...] = ()
    mode: str = ""


@dataclass(frozen=True)
class Kept:
    """The settings in an interface's own files that stay when they are not declared. None: not said there."""

    mtu: int | None = None
    addresses: tuple[str, ...] = ()
    description: str = ""


class Backend(Protocol):
    """One way of configuring interfaces: its files, and the commands that make them effective.

    Attributes:
        name: as in the option ``backend``.
        mode: of its files.
    """

    name: str
    mode: str

    def directories(self, names: Callable[[str], Sequence[str]]) -> list[str]:
        """The directories with its files; ``names`` lists one."""

    def interface_of(self, path: str) -> str | None:
        """The declared name of the interface whose own file this would be; None for other names of files."""

    def render(self, profile: Profile) -> Texts:
        """The interface's own files, by path."""

    def kept(self, texts: Texts) -> Kept:
        """The settings in files that were rendered here, whatever was added since."""

    def used_file(self, profile: Profile) -> str:
        """The file that the interface's device is then configured from."""

    def prepare(self) -> Commands:
        """Return commands that follow a change of files, even before the network starts; they change no interface."""

    def load(self, steps: Sequence[Step]) -> Commands:
        """Make the interfaces what the files say, after the steps' files are in place."""

    def unload(self, steps: Sequence[Step]) -> Commands:
        """Make the interfaces what the files say, after the files of before the steps are back."""


def kept_number(text: str | None) -> int | None:
    """The MTU as it stands in a file; None where a person wrote something else there."""
    return int(text) if text and text.isdigit() else None


def kept_addresses(texts: Sequence[str]) -> tuple[str, ...]:
    """Those of the texts that are addresses, whatever a person wrote beside them."""
    return tuple(text for text in texts if "/" in text and _is_address(text))


def device_before(step: Step) -> str:
    """The device that a step finds; empty where it is not there yet."""
    return (step.before or {}).get("device") or ""


def own_texts(files: Mapping[str, str]) -> Texts:
    """Those of the files that were written here."""
    return {path: text for path, text in files.items() if text.startswith(HEADER + "\n")}


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return True
