# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One declared change of one switch: the read, plan and apply that `converge` puts in order."""

from __future__ import annotations

from difflib import unified_diff
from typing import Sequence

from .._plan.converge import DeviceError, Refused, StepFailed
from .._plan.steps import State, Step, changed_fields, predict, reason_for
from .declared import Declared
from .plan import commands_for, plan, state_of
from .running_config import RunningConfig, parse
from .session import Send, commit_confirmed, read_pending_sessions, read_running_config, save

CONFIRM_SECONDS = range(10, 3601)


class Change:
    """Makes a switch what is declared, or says what that would take.

    Args:
        declared: what the owner declares.
        send: the way to the switch.
        session: the name for the configuration session, not in use on the switch.
        confirm_within: seconds after which the switch undoes what was not confirmed.

    Raises:
        Refused: the timer is too short to look at the switch, or longer than anybody should wait for it.
    """

    def __init__(self, declared: Declared, send: Send, session: str, confirm_within: int) -> None:
        if confirm_within not in CONFIRM_SECONDS:
            limits = f"{CONFIRM_SECONDS[0]} to {CONFIRM_SECONDS[-1]}"
            raise Refused(f"confirm_within: {confirm_within} seconds is no useful commit timer; give {limits}")
        self._declared = declared
        self._send = send
        self._session = session
        self._confirm_within = confirm_within
        self._readings: list[RunningConfig] = []
        self._pending: dict[str, str] = {}

    def read(self) -> State:
        """The declared part of the running-config; before a change also the sessions that others have open."""
        self._readings.append(parse(read_running_config(self._send)))
        if len(self._readings) == 1 and self.commands:
            self._pending = read_pending_sessions(self._send)
        return state_of(self._declared, self._readings[-1])

    def plan(self, _actual: State) -> list[Step]:
        """The steps from what was read last; they need more of the running-config than the declared part.

        Raises:
            Refused: the declaration does not fit the switch, or somebody else is changing it.
        """
        steps = plan(self._declared, self._readings[-1])
        if steps and self._pending:
            sessions = ", ".join(f"{name} ({state})" for name, state in sorted(self._pending.items()))
            raise Refused(f"another configuration session is open on the switch: {sessions}; commit or abort it first")
        return steps

    def apply(self, steps: Sequence[Step]) -> None:
        """One session with a commit timer, confirmed only if the switch then has what was planned and nothing else.

        Raises:
            StepFailed: all steps, or none, were carried out; the message says which and why.
        """
        before = self._readings[0]
        planned = predict(state_of(self._declared, before), steps)

        def mismatch() -> str | None:
            return difference(self._declared, planned, before, parse(read_running_config(self._send)))

        try:
            commit_confirmed(self._send, self._session, commands_for(steps), self._confirm_within, mismatch)
        except DeviceError as error:
            raise StepFailed(str(error), done=0) from error
        try:
            save(self._send)
        except DeviceError as error:
            message = f"the change is in force, but not saved, and lost at the next reload: {error}"
            raise StepFailed(message, done=len(steps)) from error

    @property
    def commands(self) -> list[str]:
        """The configuration lines from what was read first to what is declared."""
        return commands_for(plan(self._declared, self._readings[0]))


def difference(declared: Declared, planned: State, before: RunningConfig, now: RunningConfig) -> str | None:
    """What the switch has now that was not planned: on declared things, or in lines that are somebody else's."""
    actual = state_of(declared, now)
    for kind, names in planned.items():
        for name, fields in names.items():
            changes = changed_fields(actual[kind].get(name, {}), fields)
            if changes:
                return f"{kind} {name}: {reason_for(actual[kind].get(name, {}), changes)}"
    foreign_before = before.foreign_lines(declared.vlans, declared.ports)
    foreign_now = now.foreign_lines(declared.vlans, declared.ports)
    lines = list(unified_diff(foreign_before, foreign_now, n=0, lineterm=""))[2:]
    others = [line for line in lines if not line.startswith("@@")]
    return f"lines that are not part of it changed meanwhile: {' | '.join(others[:4])}" if others else None
