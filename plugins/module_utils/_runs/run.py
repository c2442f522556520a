# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run as others know it: who started what, where and in which process. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from typing import Any, Mapping

from .._text.line import one_line


@dataclass(frozen=True)
class Run:
    """One run of a playbook on a control node.

    Attributes:
        user: who started it.
        host: the control node's name.
        process: its process there.
        process_started: tells this process from a later one of the same number; empty where that cannot be known.
        node: the control node since it was booted, with its process numbers; empty where that cannot be known.
        playbook: what it runs.
    """

    user: str
    host: str
    process: int
    process_started: str
    node: str
    playbook: str

    @property
    def by(self) -> str:
        """The run for a person: ``alice on control1 (process 4711, site.yml)``."""
        return one_line(f"{self.user} on {self.host} (process {self.process}, {self.playbook})")

    @property
    def identity(self) -> str:
        """No other run has the same."""
        return f"{self.host} {self.node} {self.process} {self.process_started}"

    def public(self) -> dict[str, Any]:
        """The run as plain data."""
        return asdict(self)


def run_from(data: Mapping[str, Any]) -> Run:
    """The run in plain data, which may hold more. Raises KeyError: something is missing."""
    return Run(**{field.name: data[field.name] for field in fields(Run)})


def moment(seconds: float) -> str:
    """A time for files, from seconds since 1970: ``2026-11-21T14:02:11Z``."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(moment_: str) -> float:
    """The opposite of :func:`moment`. Raises ValueError: it is none."""
    return datetime.strptime(moment_, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp()


def spoken(moment_: str) -> str:
    """A time for a person: ``2026-11-21 14:02:11 UTC``."""
    return moment_.replace("T", " ").replace("Z", " UTC")
