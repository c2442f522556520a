# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The directory with the locks of pods and the record of runs: files as a whole, changed by one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from typing import Iterator

from .._plan.converge import DeviceError
from .lock import Lock, lock_from

RECORD = "runs.jsonl"
FOR_ALL, FOR_ITS_OWNER = 0o644, 0o600


class Directory:
    """The files below ``path``, which is made when something is written.

    Every method raises :class:`DeviceError` where the system does not let it do its work.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def path(self, name: str) -> str:
        """The path of a file."""
        return f"{self._path}/{name}"

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """While the body runs, no other process is in such a body; it takes milliseconds, so others wait."""
        with self._said(self._path):
            os.makedirs(self._path, mode=0o755, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def read(self, name: str) -> str | None:
        """What a file holds, or None if there is none."""
        with self._said(self.path(name)):
            try:
                with open(self.path(name), encoding="utf-8") as stream:
                    return stream.read()
            except FileNotFoundError:
                return None

    def write(self, name: str, text: str, mode: int) -> None:
        """Put a file in place as a whole."""
        with self._said(self.path(name)):
            handle, new = tempfile.mkstemp(prefix=f".{name}.", dir=self._path)
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
                os.fchmod(stream.fileno(), mode)
            os.replace(new, self.path(name))

    def remove(self, name: str) -> None:
        """Remove a file that is there."""
        with self._said(self.path(name)):
            os.unlink(self.path(name))

    def lock(self, pod: str) -> Lock | None:
        """Who holds a pod, or None.

        Raises:
            Refused: its file holds something else than a lock.
        """
        text = self.read(lock_name(pod))
        return None if text is None else lock_from(text, self.path(lock_name(pod)))

    @staticmethod
    @contextlib.contextmanager
    def _said(path: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DeviceError(f"{path}: {error.strerror}; use a user who may work there") from error


def lock_name(pod: str) -> str:
    """The file of a pod's lock."""
    return f"{pod}.lock"
