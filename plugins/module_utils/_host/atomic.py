# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one way to write a file: beside its place, synced, and renamed into it. A reset leaves the old one or the new."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from typing import Any

_UNFINISHED = re.compile(r"\.(.+)\.[a-z0-9_]{8}")
# A user or group id that means: as it is.
_UNCHANGED = -1


class NewFile:
    """A file that nobody sees before it is complete and on the disk. What was not put in place goes.

    Args:
        uid: whom it belongs to; by default whoever this process runs as.
        gid: its group; likewise.
    """

    def __init__(self, path: str, mode: int, uid: int = _UNCHANGED, gid: int = _UNCHANGED) -> None:
        self._path = path
        self._mode = mode
        self._owner = (uid, gid)
        directory, name = os.path.split(path)
        handle, self._unfinished = tempfile.mkstemp(prefix=f".{name}.", dir=directory)
        self._stream = os.fdopen(handle, "w", encoding="utf-8", newline="")

    def __enter__(self) -> NewFile:
        return self

    def __exit__(self, *_error: Any) -> None:
        # What was put is on the disk already, and of what was not its error is known.
        with contextlib.suppress(OSError):
            self._stream.close()
        if self._unfinished:
            os.unlink(self._unfinished)

    def put(self, text: str) -> None:
        """Write the text, and take the place of what was there."""
        self._stream.write(text)
        self._stream.flush()
        os.fchown(self._stream.fileno(), *self._owner)
        os.fchmod(self._stream.fileno(), self._mode)
        os.fsync(self._stream.fileno())
        os.replace(self._unfinished, self._path)
        self._unfinished = ""
        _sync_directory(os.path.dirname(self._path))


def rename(path: str, new: str) -> None:
    """Give a file another name in its directory, in one step; a reset after it does not take that back."""
    os.rename(path, new)
    _sync_directory(os.path.dirname(new))


def finished_name(name: str) -> str | None:
    """The name that an unfinished file was to get; None where it is no unfinished file."""
    found = _UNFINISHED.fullmatch(name)
    return found.group(1) if found else None


def remove_unfinished(path: str) -> None:
    """Remove what earlier writes of a file left because they were killed; nobody may be writing it now."""
    directory, name = os.path.split(path)
    for left in os.listdir(directory):
        if finished_name(left) == name:
            os.unlink(os.path.join(directory, left))


def _sync_directory(path: str) -> None:
    """Have the names in a directory on the disk, too."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
