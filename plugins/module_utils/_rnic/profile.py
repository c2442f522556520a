# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The persistent settings of one interface, independent of the back end. Pure."""

from __future__ import annotations

import ipaddress
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Callable, Dict, List, Mapping, Pattern, Sequence

from .._plan.steps import Step
from .declared import Interface

HEADER = "# Written by ipu.pod.rnic_network, which overwrites what is changed here by hand."
_DESCRIPTION = "# Description: "

# Loss of the carrier is noticed within this time; without it a bond would not notice at all.
MII_MONITOR_MS = 100

Commands = List[List[str]]
Texts = Dict[str, str]


@dataclass(frozen=True)
class Profile(Interface):
    """A declared interface; where it declares None, the value that is kept.

    Args:
        device: the kernel's name; finds the NIC where no ``mac`` does.
        bond: the bond that a NIC is a member of.
        parent_device: the kernel's name of the interface that a VLAN is on.
    """

    device: str = ""
    bond: str | None = None
    parent_device: str = ""


@dataclass(frozen=True)
class Kept:
    """The settings in an interface's own files that stay when they are not declared. None: not said there."""

    mtu: int | None = None
    addresses: tuple[str, ...] = ()
    description: str = ""


class Backend(ABC):
    """One way of configuring interfaces: its files, and the commands that make them effective.

    Attributes:
        name: as in the option ``backend``.
        directory: of its files.
        mode: of its files.
        own: paths of files with a name of ours, with the declared name of the interface as first group.
    """

    name: str
    directory: str
    mode = "0600"
    own: tuple[Pattern[str], ...]

    def directories(self, _names: Callable[[str], Sequence[str]]) -> list[str]:
        """The directories with its files; ``names`` lists one."""
        return [self.directory]

    def interface_of(self, path: str) -> str | None:
        """The declared name of the interface whose own file this would be; None for other names of files."""
        return next((found[1] for found in (own.fullmatch(path) for own in self.own) if found), None)

    @abstractmethod
    def render(self, profile: Profile) -> Texts:
        """The interface's own files, by path."""

    @abstractmethod
    def kept(self, texts: Texts) -> Kept:
        """The settings in files that were rendered here, also where a person has written them otherwise."""

    @abstractmethod
    def used_file(self, name: str) -> str:
        """The file that the device of the interface of this declared name is then configured from."""

    def prepare(self) -> Commands:
        """Return commands that follow a change of files, even before the network starts; they change no interface."""
        return []

    @abstractmethod
    def load(self, steps: Sequence[Step]) -> Commands:
        """Make the interfaces what the files say, after the steps' files are in place."""

    @abstractmethod
    def unload(self, steps: Sequence[Step]) -> Commands:
        """Make the interfaces what the files say, after the files of before the steps are back."""


def head_of(profile: Profile) -> list[str]:
    """The first lines of a file whose language has no word for a description."""
    return [HEADER, *([_DESCRIPTION + profile.description] if profile.description else [])]


def kept_description(text: str) -> str:
    """The description that :func:`head_of` has written into a file."""
    found = re.search(rf"^\s*{_DESCRIPTION}(.*)$", text, re.MULTILINE)
    return found[1].rstrip() if found else ""


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
