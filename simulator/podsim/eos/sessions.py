# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration sessions: candidates beside the running configuration, committed at once, with a timer if wanted."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from threading import Timer
from typing import Protocol

from podsim.eos.config import Node
from podsim.eos.errors import EosError
from podsim.eos.releases import Release
from podsim.eos.rendering import render

MAX_PENDING = 5
MAX_COMPLETED = 1

PENDING, COMPLETED, TIMED = "pending", "completed", "pendingCommitTimer"


class RunningConfig(Protocol):
    """The parts of the switch that sessions use."""

    running: Node
    release: Release

    def uptime(self) -> float:
        """Seconds since boot."""

    def exclusively(self, action: Callable[[], None]) -> None:
        """Run an action of the switch's own while no command runs, and put its changes into effect."""


@dataclass
class Session:
    """One configuration session; `commit_by` is an uptime in seconds while a commit timer runs."""

    name: str
    user: str
    candidate: Node
    state: str = PENDING
    commit_by: float | None = None


class Sessions:
    """The configuration sessions of one switch. Every method is called while no other command runs."""

    def __init__(self, switch: RunningConfig) -> None:
        self._switch = switch
        self._names = (f"sess-{number}--0" for number in itertools.count(1))
        self._timer: Timer | None = None
        self._before_timed_commit: Node | None = None
        self.by_name: dict[str, Session] = {}

    @property
    def timed(self) -> Session | None:
        """The session whose commit timer runs."""
        return next((session for session in self.by_name.values() if session.state == TIMED), None)

    @property
    def confirmed(self) -> Node:
        """The configuration that holds whether or not a running commit timer expires."""
        return self._before_timed_commit or self._switch.running

    def open(self, name: str | None, user: str) -> Session:
        """Enter the session of that name, made from the running configuration if it doesn't exist yet."""
        session = self.by_name.get(name) if name else None
        if session is None:
            if sum(each.state == PENDING for each in self.by_name.values()) >= MAX_PENDING:
                raise EosError(
                    "Maximum number of pending sessions has been reached. "
                    "Please commit or abort previous sessions before creating a new one."
                )
            session = Session(name or next(self._names), user, self._switch.running.copy())
            self.by_name[session.name] = session
        if session.state == COMPLETED:
            raise EosError(f"Cannot enter session {session.name} (already completed)")
        return session

    def get(self, name: str) -> Session:
        """The session of that name, which must exist."""
        if name not in self.by_name:
            raise EosError(f"Session {name} does not exist")
        return self.by_name[name]

    def commit(self, session: Session, timer: float | None = None) -> None:
        """Make the candidate the running configuration, or confirm it.

        With `timer`, the configuration from before comes back after that many seconds unless the session is committed
        again; for a session whose timer runs already, that starts it anew.
        """
        if session.state == COMPLETED:
            raise EosError(f"Session {session.name} is already completed")
        if self.timed not in (None, session):
            raise EosError(f"Cannot commit session {session.name}: the commit timer of another session is running")
        if session.state == PENDING:
            before = self._switch.running
            self._switch.running = session.candidate.copy()
            if timer is not None:
                self._before_timed_commit = before
        self._stop_timer()
        if timer is None:
            self._complete(session)
        else:
            self._start_timer(session, timer)

    def abort(self, session: Session) -> None:
        """Drop a session; if its commit timer runs, the configuration from before comes back now."""
        if session.state == COMPLETED:
            raise EosError(f"Session {session.name} is already completed")
        if session.state == TIMED:
            self._stop_timer()
            self._restore()
        del self.by_name[session.name]

    def diff(self, session: Session) -> str:
        """The candidate against the running configuration; empty when they are equal."""
        return diff(
            self._switch.running, session.candidate, self._switch.release, f"session:/{session.name}-session-config"
        )

    def close(self) -> None:
        """Stop the clock, when the switch stops."""
        self._stop_timer()

    def _start_timer(self, session: Session, seconds: float) -> None:
        session.state = TIMED
        session.commit_by = self._switch.uptime() + seconds
        timer = Timer(seconds, lambda: self._switch.exclusively(lambda: self._expire(timer)))
        timer.daemon = True
        self._timer = timer
        timer.start()

    def _expire(self, timer: Timer) -> None:
        session = self.timed
        # A confirmation may have been under way when the timer went off; then it is not the current one any more.
        if timer is self._timer and session:
            self._restore()
            self._complete(session)

    def _restore(self) -> None:
        assert self._before_timed_commit is not None
        self._switch.running = self._before_timed_commit
        self._before_timed_commit = None

    def _complete(self, session: Session) -> None:
        self._before_timed_commit = None
        session.state, session.commit_by = COMPLETED, None
        del self.by_name[session.name]
        self.by_name[session.name] = session
        completed = [each.name for each in self.by_name.values() if each.state == COMPLETED]
        for name in completed[:-MAX_COMPLETED]:
            del self.by_name[name]

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = None


def diff(old: Node, new: Node, release: Release, new_name: str, old_name: str = "system:/running-config") -> str:
    """A unified diff of two configurations, as `show session-config diffs` prints it; empty when they are equal."""
    lines = difflib.unified_diff(
        render(old, release=release), render(new, release=release), old_name, new_name, lineterm=""
    )
    return "".join(f"{line}\n" for line in lines)
