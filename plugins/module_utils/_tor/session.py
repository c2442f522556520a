# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Talking to an EOS switch: read its configuration, and change it so that a change nobody confirms undoes itself."""

from __future__ import annotations

import json
from typing import Callable, List, Sequence

from .._plan.converge import DeviceError

Send = Callable[[Sequence[str], str], List[str]]
"""Sends commands in one request, for answers as ``text`` or ``json``, one per command; raises DeviceError."""


def read_running_config(send: Send) -> str:
    """The text of the running-config."""
    return send(["show running-config"], "text")[0]


def read_pending_sessions(send: Send) -> dict[str, str]:
    """The configuration sessions that are open, or whose commit waits for confirmation, each with its state."""
    answer = send(["show configuration sessions detail"], "json")[0]
    try:
        answered = json.loads(answer)
        states = {name: str(session["state"]) for name, session in answered["sessions"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DeviceError(f"'show configuration sessions detail' did not list sessions: {answer!r}") from error
    pending = {name: state for name, state in states.items() if state.startswith("pending")}
    # EOS after 4.32 names the session whose commit timer runs beside the list.
    timed = answered.get("commitTimerSessionName")
    return {**pending, timed: "pendingCommitTimer"} if timed else pending


def commit_confirmed(
    send: Send, name: str, lines: Sequence[str], confirm_within: int, mismatch: Callable[[], str | None]
) -> None:
    """Carry out configuration lines in one session, look at the result, and keep it only if it is right.

    Args:
        name: of the session, not in use on the switch.
        confirm_within: seconds after which the switch undoes a commit that was not confirmed.
        mismatch: reads the switch again and says what is wrong, or None. Raises DeviceError.

    Raises:
        DeviceError: the change was undone, or the message says when the switch does so.
    """
    try:
        timer = f"commit timer {_hours_minutes_seconds(confirm_within)}"
        send([f"configure session {name}", *lines, timer], "text")
        problem = mismatch()
        if not problem:
            send([f"configure session {name} commit"], "text")
    except DeviceError as error:
        problem = str(error)
    if problem:
        raise DeviceError(f"the change was not confirmed: {problem}; {_undo(send, name, confirm_within)}")


def save(send: Send) -> None:
    """Make the running-config the one that the switch starts with."""
    send(["copy running-config startup-config"], "text")


def _undo(send: Send, name: str, confirm_within: int) -> str:
    """Abort the session, which also rolls back its unconfirmed commit; says how that went."""
    try:
        send([f"configure session {name} abort"], "text")
    except DeviceError as error:
        return (
            f"session {name} could not be aborted either ({error}): if it was committed, and not confirmed, "
            f"the switch undoes it by itself within {confirm_within} s"
        )
    return f"session {name} was aborted, which takes back what is not confirmed"


def _hours_minutes_seconds(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"
