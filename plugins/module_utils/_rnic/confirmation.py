# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control node's part of an armed change: confirm it over a new connection, or tell what became of it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, Callable, Dict

CHANGE, CONFIRM, REVIEW = "change", "confirm", "review"
PHASES = (CHANGE, CONFIRM, REVIEW)

Result = Dict[str, Any]

# How long the server may need to put the old settings back after its deadline, and how often it is asked.
_UNDOING_SECONDS = 60
_ASK_EVERY = 2


class Lost(Exception):
    """The server could not be reached, or the connection broke."""


@dataclass(frozen=True)
class _Course:
    """The phases on the server, one after the other."""

    call: Callable[[str], Result]
    reconnect: Callable[[], None]
    pause: Callable[[float], None]
    confirm_within: int

    def result(self) -> Result:
        """The result of the change as a whole."""
        try:
            first = self.call(CHANGE)
        except Lost as error:
            return self._failed_later({}, f"the connection broke while the change was made ({error})")
        if "module_stdout" in first:
            # The module did not end by itself, so nobody knows how far it came.
            return self._failed_later({}, f"the module was ended: {first.get('msg')}")
        armed = first.pop("armed", False)
        if armed and first.get("failed"):
            return self._failed_later(first, first["msg"])
        return self._confirmed(first) if armed else first

    def _confirmed(self, first: Result) -> Result:
        try:
            self.reconnect()
            confirmed = self.call(CONFIRM)
        except Lost as error:
            return self._failed_later(first, f"the server cannot be reached since the change ({error})")
        if confirmed.get("failed"):
            review = self._reviewed() or {}
            message = f"the change was not confirmed: {confirmed.get('msg')}"
            return _failed(first, message, review.get("after"), review.get("undo_log"))
        return {**first, "after": confirmed["after"]}

    def _failed_later(self, first: Result, problem: str) -> Result:
        """Wait until the server has decided for itself, and read what is there then."""
        self.pause(self.confirm_within)
        review = self._reviewed()
        if review is None:
            message = (
                f"{problem}; it cannot be reached {_UNDOING_SECONDS} s after its deadline of {self.confirm_within} s "
                "either: it puts the old settings back by itself, look at it over its console"
            )
            return _failed(first, message, None)
        if review.get("failed"):
            return _failed(first, f"{problem}; what is there now could not be read: {review.get('msg')}", None)
        return _failed(first, f"{problem}; {_verdict(first, review)}", review.get("after"), review.get("undo_log"))

    def _reviewed(self) -> Result | None:
        """Return the state of the server after its decision; None if it cannot be reached."""
        review: Result | None = None
        for _attempt in range(_UNDOING_SECONDS // _ASK_EVERY):
            with contextlib.suppress(Lost):
                review = self.call(REVIEW)
                if not review.get("pending"):
                    return review
            self.pause(_ASK_EVERY)
        return review


def carried_out(
    call: Callable[[str], Result], reconnect: Callable[[], None], pause: Callable[[float], None], confirm_within: int
) -> Result:
    """Run the module's phases on the server, as many as it takes, for the result of the change as a whole.

    Args:
        call: runs one phase and returns the module's result; raises :class:`Lost`.
        reconnect: drops the connection, so that the next call opens a new one; raises :class:`Lost`.
        pause: waits that many seconds.
        confirm_within: seconds after which the server undoes what was not confirmed.
    """
    return _Course(call, reconnect, pause, confirm_within).result()


def _verdict(first: Result, review: Result) -> str:
    if review.get("pending"):
        return "the server is still putting the old settings back"
    if review.get("undo_log") is None:
        return "the server has not changed anything, or has undone it before"
    if "before" in first and first["before"] != review.get("after"):
        return "the server has undone it at its deadline, but not everything is as it was: see after and undo_log"
    return "the server has undone it at its deadline: the old settings are back"


def _failed(first: Result, message: str, after: Any, undo_log: list[str] | None = None) -> Result:
    changed = bool(first) and first.get("before") != after
    log = {} if undo_log is None else {"undo_log": undo_log}
    return {**first, "failed": True, "changed": changed, "msg": message, "after": after, **log}
