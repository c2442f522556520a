# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks a switch over a fresh connection after a timed commit, then confirms the commit or rolls it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from .._plan.converge import DeviceError
from .checks import broken, missing
from .expectation import Expectation
from .observed import Observed, observed
from .pending import Pending
from .running_config import parse
from .session import Send, confirm, read_running_config, undo

POLL_SECONDS = 1.0


@dataclass(frozen=True)
class Clock:
    """The time in seconds, the same for all processes of a host, and a way to let it pass."""

    now: Callable[[], float]
    sleep: Callable[[float], None]


def confirm_if_right(
    send: Send, reachable: Callable[[], bool], clock: Clock, pending: Pending, key: str
) -> tuple[Observed, str]:
    """Confirm a commit if everything holds that has to; otherwise undo it. The key is that of the change.

    Returns what was seen at the ports, and the text of the running-config right after the confirmation.

    Raises:
        DeviceError: it was rolled back, or the message says when the switch does so.
    """
    try:
        if pending.reachable and not reachable():
            problem: str | None = "the switch takes no new connection any more"
        else:
            problem = pending.mismatch(parse(read_running_config(send)), key)
        if not problem:
            now, problem = _look_until_right(send, clock, pending)
        if not problem:
            return now, confirm(send, pending.session)
    except DeviceError as error:
        problem = str(error)
    undone = undo(send, pending.session, pending.confirm_within)
    raise DeviceError(f"the change was not confirmed: {problem}; {undone}")


def _look_until_right(send: Send, clock: Clock, pending: Pending) -> tuple[Observed, str | None]:
    """Return what is seen, and the problems that remain when nothing changes any more."""
    expected = Expectation(**pending.expectation)
    until = clock.now() + pending.settle_within
    while True:
        now = observed(dict(zip(pending.commands, send(pending.commands, "json"))))
        problem = broken(expected, now, clock.now())
        if problem:
            return now, problem
        problem = missing(expected, now)
        if not problem or clock.now() >= until:
            return now, problem
        clock.sleep(POLL_SECONDS)
