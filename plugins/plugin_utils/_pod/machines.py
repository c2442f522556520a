# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of virtual machines that run, and get IPUs and give them back as they do. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunningMachine:
    """A virtual machine; ``vpod`` is the one whose IPUs it has, None for none.

    ``name`` is that of a cloud or a hypervisor, a slash, and what the machine is called there. SSH reaches it at
    ``address``, None for that in the control network of its cloud, and lets ``user`` in.
    """

    name: str
    vpod: str | None
    address: str | None
    user: str

    @property
    def place(self) -> str:
        """The cloud or the hypervisor that it is in."""
        return self.name.partition("/")[0]

    @property
    def own_name(self) -> str:
        """What it is called there."""
        return self.name.partition("/")[2]
