# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory of small files, each read and written as a whole, changed by one process at a time."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Iterator

from .atomic import NewFile, remove_unfinished
from .files import os_errors_as
from .lock import lock_file, locked

_LOCK = ".alone"
_REMEDY = "; use a user who may work there"


class Store:
    """The files below ``path``, which is made when something is written.

    Every method raises ``DeviceError`` where the system does not let it do its work.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def path(self, name: str) -> str:
        """The path of a file."""
        return f"{self._path}/{name}"

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """While the body runs, no other process is in such a body; it takes milliseconds, so others wait."""
        with os_errors_as(self._path, _REMEDY):
            os.makedirs(self._path, mode=0o755, exist_ok=True)
            descriptor = lock_file(self.path(_LOCK))
        try:
            with locked(descriptor):
                yield
        finally:
            os.close(descriptor)

    def read(self, name: str) -> str | None:
        """Return the content of a file, or None if there is none."""
        with os_errors_as(self.path(name), _REMEDY), contextlib.suppress(FileNotFoundError):
            return Path(self.path(name)).read_text(encoding="utf-8")
        return None

    def write(self, name: str, text: str, mode: int) -> None:
        """Put a file in place as a whole, while no other process writes it."""
        with os_errors_as(self.path(name), _REMEDY):
            remove_unfinished(self.path(name))
            with NewFile(self.path(name), mode) as new:
                new.put(text)

    def remove(self, name: str) -> None:
        """Remove a file that is there."""
        with os_errors_as(self.path(name), _REMEDY):
            os.unlink(self.path(name))
