# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state around a change of a switch: open sessions, and what is seen at the ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Mapping

from .._plan.converge import Refused
from .checks import Checks
from .observed import Observed, observed
from .session import SESSIONS, WITH_TIMER, Send, ask, pending_sessions
from .session_name import is_gone, owner_of


@dataclass(frozen=True)
class Surroundings:
    """Open sessions and observations of a switch.

    Attributes:
        sessions: that are open or wait for their confirmation, each with its state.
        left_over: those of them that a run of ours opened, and can neither use nor close any more.
        seen: what is seen at the ports, at ``time`` in seconds.
        commands: what this switch answers, of what was asked.
        reachable: whether the switch takes new connections.
    """

    sessions: dict[str, str]
    left_over: list[str]
    seen: Observed
    time: float
    commands: list[str]
    reachable: bool

    @property
    def busy(self) -> dict[str, str]:
        """The sessions that somebody still needs."""
        return {name: state for name, state in self.sessions.items() if name not in self.left_over}


UNSEEN = Surroundings({}, [], Observed(), 0.0, [], reachable=False)
"""The surroundings of a switch that is not changed, and therefore was not asked."""


def look_around(
    send: Send, checks: Checks, host: str, now: Callable[[], float], reachable: Callable[[], bool]
) -> Surroundings:
    """Look at a switch, in one request if it knows all commands; ``host`` is as in the names of our sessions."""
    answers = ask(send, [SESSIONS], checks.commands)
    sessions = pending_sessions(answers.pop(SESSIONS))
    left_over = left_over_of(sessions, host, now())
    return Surroundings(sessions, left_over, observed(answers), now(), list(answers), reachable())


def refuse_busy(sessions: Mapping[str, str]) -> None:
    """Refuse to change a switch that somebody else is changing.

    Raises:
        Refused: with these sessions and their states.
    """
    if sessions:
        listed = ", ".join(f"{name} ({state})" for name, state in sorted(sessions.items()))
        raise Refused(
            f"another configuration session is open on the switch: {listed}; commit or abort it first, or wait "
            "until its commit is confirmed or undone"
        )


def left_over_of(sessions: Mapping[str, str], host: str, now: float) -> list[str]:
    """The sessions that a run of ours opened on this host or long ago, and can neither use nor close any more."""
    return [name for name, state in sessions.items() if state != WITH_TIMER and _is_left_over(name, host, now)]


def _is_left_over(session: str, host: str, now: float) -> bool:
    owner = owner_of(session)
    return owner is not None and is_gone(owner, host, now)
