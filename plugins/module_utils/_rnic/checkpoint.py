# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The armed change: before anything is touched the server itself gets what it needs to put everything back.

A timer runs the undo script at the deadline, and a unit runs it at boot; both are gone when the change is confirmed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Sequence

from .._host.files import File, Files
from .._host.programs import Programs
from .._plan.converge import DeviceError, Refused
from .._plan.steps import Step
from . import undo, virtual_functions
from .backends import BACKENDS
from .profile import Backend

_FLAGS = {flag: f"{undo.DIRECTORY}/{flag}" for flag in (undo.ARMED, undo.CONFIRMED, undo.UNDOING, undo.UNDONE)}
_LOG = f"{undo.DIRECTORY}/log"


@dataclass(frozen=True)
class Armed:
    """A change that waits for its confirmation.

    Args:
        interfaces: what it touches, in words.
        until: the deadline as people read it.
        default_devices: the devices of the default routes before it.
    """

    change: str
    interfaces: str
    until: str
    default_devices: Sequence[str]


class Checkpoint:
    """The way back on one server."""

    def __init__(self, programs: Programs, files: Files) -> None:
        self._programs = programs
        self._files = files

    def refuse_pending(self) -> None:
        """Raises Refused where an earlier change is neither confirmed nor undone, with what happens to it."""
        armed = self._armed()
        if armed is None:
            return
        if self.is_pending():
            if self._files.read(_FLAGS[undo.UNDOING]) is not None:
                raise Refused(
                    f"a change of {armed.interfaces} was not confirmed until {armed.until}, and the server is still "
                    f"putting the old settings back; it tries again every {undo.AGAIN} s, and `journalctl -u "
                    f"{undo.UNIT}` says what keeps it from that; run again when they are back"
                )
            raise Refused(
                f"a change of {armed.interfaces} waits for its confirmation until {armed.until}; "
                "let it be confirmed or undone first"
            )
        raise Refused(
            f"a change of {armed.interfaces} was not confirmed until {armed.until}, and its timer is gone; "
            f"undo it with `systemctl start {undo.UNIT}`"
        )

    def is_pending(self) -> bool:
        """Whether the timer runs or the undoing is going on."""
        active = [self._programs.attempt(["systemctl", "is-active", unit])[1] for unit in (undo.TIMER, undo.UNIT)]
        return any(state.strip() in ("active", "activating") for state in active)

    def undone(self) -> str | None:
        """Return the log of the last roll-back; None if there was none."""
        if self._files.read(_FLAGS[undo.UNDONE]) is None:
            return None
        log = self._files.read(_LOG)
        return log.content if log else ""

    def arm(self, armed: Armed, backend: Backend, steps: Sequence[Step], seconds: int) -> None:
        """Prepare the way back and start its timer. Raises DeviceError: that failed; nothing else was touched."""
        try:
            self.clean()
            self._programs.call(["install", "-d", "-m", "0700", undo.DIRECTORY])
            for path, there in undo.touched_files(steps).items():
                old = self._files.read(path) if there else None
                if old:
                    self._files.write(undo.saved_path(path), old)
            self._files.write(undo.SCRIPT, File(undo.script(backend, steps), mode="0700"))
            self._files.write(undo.SAME_BOOT, File("", mode="0600"))
            self._files.write(undo.UNIT_PATH, File(undo.UNIT_TEXT))
            self._programs.call(["systemctl", "enable", "--quiet", undo.UNIT])
            # As the files are, the link is on the disk before anything is changed.
            self._programs.call(["sync", virtual_functions.WANTS_DIRECTORY])
            self._programs.call(undo.start_in(seconds))
            # Last, so that whoever dies before it leaves nothing that waits for a decision.
            self._files.write(_FLAGS[undo.ARMED], File(json.dumps(asdict(armed)) + "\n", mode="0600"))
        except DeviceError as error:
            self.clean()
            raise DeviceError(f"the way back could not be prepared, nothing was changed: {error}") from error

    def confirm(self, change: str) -> Armed:
        """Let this change stay. Raises DeviceError: the server has undone it, or it is not the one that waits."""
        armed = self._armed()
        if armed is None or armed.change != change:
            raise DeviceError("the server has put the old settings back before the confirmation")
        if not self._files.rename(_FLAGS[undo.ARMED], _FLAGS[undo.CONFIRMED]):
            raise DeviceError("the server was just putting the old settings back")
        return armed

    def armed(self, change: str) -> Armed | None:
        """The change, if it still waits."""
        armed = self._armed()
        return armed if armed and armed.change == change else None

    def undo(self) -> None:
        """Put the old settings back now. Raises DeviceError: it could not be started; the timer then does it."""
        self._programs.call(["systemctl", "start", undo.UNIT])

    def clean(self) -> None:
        """Remove what is left of a change that was confirmed or undone."""
        if self._files.read(undo.UNIT_PATH) is not None:
            self._programs.attempt(["systemctl", "stop", undo.TIMER])
            self._programs.attempt(["systemctl", "disable", "--quiet", undo.UNIT])
            self._files.remove(undo.UNIT_PATH)
            self._programs.call(["systemctl", "daemon-reload"])
        self._files.remove(undo.SAME_BOOT)
        if self._files.names(undo.DIRECTORY):
            self._programs.call(["rm", "-r", undo.DIRECTORY])
        self._remove_unfinished()

    def _remove_unfinished(self) -> None:
        """Remove what a reset in the middle of writing one of our files has left beside it."""
        directories = [folder for backend in BACKENDS.values() for folder in backend.directories(self._files.names)]
        for directory in [*directories, virtual_functions.DIRECTORY]:
            for path, wanted in self._files.unfinished(directory).items():
                if _is_ours(wanted):
                    self._files.remove(path)

    def _armed(self) -> Armed | None:
        file = self._files.read(_FLAGS[undo.ARMED]) or self._files.read(_FLAGS[undo.UNDOING])
        if file is None:
            return None
        try:
            return Armed(**json.loads(file.content))
        except (TypeError, ValueError) as error:
            raise DeviceError(f"{_FLAGS[undo.ARMED]} cannot be read: {error}") from error


def _is_ours(path: str) -> bool:
    of_backend = any(backend.interface_of(path) for backend in BACKENDS.values())
    return of_backend or path == undo.UNIT_PATH or virtual_functions.interface_of(path) is not None
