# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files, directories, links, units, packages and kernel parameters of a host, and the steps that make them so. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import Step


@dataclass(frozen=True)
class File:
    """A file with all of its content.

    Args:
        content: its text; None where the control node never has it, which only a secret file may say.
        is_secret: the content stays out of plans and logs.
        sha256: of a secret that the control node does not have, as another host's look says it.
    """

    path: str
    content: str | None
    owner: str = "root"
    group: str = "root"
    mode: str = "0644"
    is_secret: bool = False
    sha256: str | None = None


@dataclass(frozen=True)
class Directory:
    """A directory; what is in it is nobody's business here."""

    path: str
    owner: str = "root"
    group: str = "root"
    mode: str = "0755"


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    path: str
    target: str


@dataclass(frozen=True)
class Absent:
    """A path where nothing is."""

    path: str


@dataclass(frozen=True)
class Unit:
    """A systemd unit. ``state`` is that of systemd_service; a change of a file of ``restarted_by`` restarts it."""

    name: str
    enabled: bool | None = True
    state: str | None = "started"
    restarted_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Packages:
    """Packages that are installed.

    Args:
        names: their names.
        by_os_family: instead of them where names depend on the OS: its family, as Ansible calls it, to the names there.
        otherwise: the role's variable that takes names for another family.
    """

    names: tuple[str, ...] = ()
    by_os_family: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    otherwise: str = ""


@dataclass(frozen=True)
class KernelParameter:
    """A kernel parameter and its value, as it is running."""

    name: str
    value: str


@dataclass(frozen=True)
class Made:
    """A command of a role that runs once, until ``creates`` is there; ``name`` is its task's."""

    name: str
    creates: str


Thing = File | Directory | Link | Absent | Unit | Packages | KernelParameter | Made
# In the order in which they are written.
Things = Sequence[Thing]


def thing_steps(things: Things, seen: Mapping[str, Any]) -> list[Step]:
    """The steps that make everything as wanted, in the order of ``things``; ``seen`` is the part "things" of a look."""
    raise NotImplementedError
