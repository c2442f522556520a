# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Talking to an EOS switch: read it, and change it in sessions whose commit undoes itself unless it is confirmed."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Callable, List, NamedTuple, Sequence

from .._plan.converge import NOT_UNDERSTOOD, DeviceError

Send = Callable[[Sequence[str], str], List[str]]
"""Sends commands in one request, for answers as ``text`` or ``json``, one per command; raises DeviceError."""

RUNNING_CONFIG = "show running-config"
STARTUP_CONFIG = "show startup-config"
SESSIONS = "show configuration sessions detail"
VERSION = "show version"
SESSION_DIFF = "show session-config diffs"
SAVE = "copy running-config startup-config"

WITH_TIMER = "pendingCommitTimer"
"""The state of a session that is committed, and waits for its confirmation."""


class CommandRefused(DeviceError):
    """The switch answered that it does not take a command."""


class Configs(NamedTuple):
    """The texts of the running-config and of the startup-config, which a reload loads; or why that cannot be read."""

    running: str
    startup: str | None
    unread: str = ""


def read_running_config(send: Send) -> str:
    """The text of the running-config."""
    return send([RUNNING_CONFIG], "text")[0]


def read_configs(send: Send) -> Configs:
    """Both configurations, in one request where the switch shows the startup-config."""
    try:
        return Configs(*send([RUNNING_CONFIG, STARTUP_CONFIG], "text"))
    except CommandRefused as refusal:
        return Configs(read_running_config(send), None, str(refusal))


def ask(send: Send, needed: Sequence[str], wished: Sequence[str]) -> dict[str, str]:
    """The JSON answers to commands, in one request if this switch knows all of them.

    Some models or releases refuse the ``wished`` commands; then their answers are left out.
    """
    commands = [*needed, *wished]
    with suppress(CommandRefused):
        return dict(zip(commands, send(commands, "json")))
    answers = dict(zip(needed, send(needed, "json")))
    for command in wished:
        with suppress(CommandRefused):
            answers[command] = send([command], "json")[0]
    return answers


def pending_sessions(answer: str) -> dict[str, str]:
    """The sessions that are open, or wait for confirmation, with their states, from the JSON answer to ``SESSIONS``."""
    try:
        answered = json.loads(answer)
        states = {name: str(session["state"]) for name, session in answered["sessions"].items()}
        pending = {name: state for name, state in states.items() if state.startswith("pending")}
        # EOS after 4.32 names the session whose commit timer runs beside the list.
        timed = answered.get("commitTimerSessionName")
        return {**pending, str(timed): WITH_TIMER} if timed else pending
    except NOT_UNDERSTOOD as error:
        raise DeviceError(f"{SESSIONS!r} did not list sessions: {answer!r}") from error


def seconds_left(sessions: str, version: str) -> int | None:
    """Seconds until the switch undoes a commit that waits for its confirmation; None if none does.

    From the JSON answers to ``SESSIONS`` and ``VERSION``, which has the uptime that the timer counts in.
    """
    try:
        answered = json.loads(sessions)
        # EOS after 4.32 has it beside the list.
        ends = [answered.get("commitTimerExpireTime")]
        ends += [session.get("commitBy") for session in answered["sessions"].values()]
        end = next((float(each) for each in ends if each), None)
        return None if end is None else max(0, round(end - float(json.loads(version)["uptime"])))
    except NOT_UNDERSTOOD as error:
        raise DeviceError(f"{SESSIONS!r} did not tell the commit timer: {sessions!r}") from error


def release_of(version: str) -> str:
    """The release of EOS, for example ``4.28.3M``, from the JSON answer to ``VERSION``."""
    try:
        return str(json.loads(version)["version"])
    except NOT_UNDERSTOOD as error:
        raise DeviceError(f"{VERSION!r} did not tell the release: {version!r}") from error


def commit_with_timer(
    send: Send, name: str, left_over: Sequence[str], lines: Sequence[str], confirm_within: int
) -> str:
    """Carry out configuration lines in one session, and commit it so that it undoes itself; returns the switch's diff.

    The session's name is not in use on the switch. Sessions that are left over are aborted first. The switch undoes the
    commit after ``confirm_within`` seconds.
    """
    before = [f"configure session {each} abort" for each in left_over] + [f"configure session {name}", *lines]
    after = [f"commit timer {_hours_minutes_seconds(confirm_within)}"]
    return send([*before, SESSION_DIFF, *after], "text")[len(before)]


def confirm(send: Send, name: str) -> str:
    """Keep what was committed with a timer; returns the text of the running-config."""
    return send([f"configure session {name} commit", RUNNING_CONFIG], "text")[1]


def save(send: Send) -> Configs:
    """Make the running-config the one that the switch starts with; returns both."""
    return Configs(*send([SAVE, RUNNING_CONFIG, STARTUP_CONFIG], "text")[1:])


def undo(send: Send, name: str, confirm_within: int) -> str:
    """Abort a session, which also rolls back its unconfirmed commit, and return the result as a sentence."""
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
