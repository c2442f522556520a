# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""EOS releases, and where what they read or show changed.

Public sources show the older and the newer form; where nothing says in which release a form changed, the number here
is an assumption that only serves to have both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

Number = tuple[int, ...]

# Before every release, and after every one.
FIRST: Number = ()
LAST: Number = (1_000,)
# 4.13.7M reads `priority-flow-control mode on`, 4.20 and later read and show `priority-flow-control on`.
PRIORITY_FLOW_CONTROL_ON: Number = (4, 15)
# `lacp rate fast` became `lacp timer fast`.
LACP_TIMER: Number = (4, 21)
# `spanning-tree portfast` is shown as `spanning-tree portfast edge`.
PORTFAST_EDGE: Number = (4, 33)
# The running commit timer has fields of its own in `show configuration sessions detail`.
COMMIT_TIMER_FIELDS: Number = (4, 32)


@dataclass(frozen=True)
class Release:
    """An EOS release by its name, such as 4.28.3M."""

    name: str

    @cached_property
    def number(self) -> Number:
        """The release as numbers to compare: 4.28.3M is (4, 28, 3)."""
        return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in self.name.split("."))

    def has(self, change: Number) -> bool:
        """Whether this release came with or after a change."""
        return self.number >= change


DEFAULT_RELEASE = Release("4.28.3M")
