# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory of small files, each read and written as a whole, changed by one process at a time."""

from __future__ import annotations

import contextlib
import os
from typing import Iterator

from .._plan.converge import DeviceError
from . import atomic
from .lock import locked


class Store:
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
        with self._in_words(self._path):
            os.makedirs(self._path, mode=0o755, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with locked(descriptor):
                yield
        finally:
            os.close(descriptor)

    def read(self, name: str) -> str | None:
        """What a file holds, or None if there is none."""
        with self._in_words(self.path(name)):
            try:
                with open(self.path(name), encoding="utf-8") as stream:
                    return stream.read()
            except FileNotFoundError:
                return None

    def write(self, name: str, text: str, mode: int) -> None:
        """Put a file in place as a whole."""
        with self._in_words(self.path(name)):
            atomic.write(self.path(name), text, mode)

    def remove(self, name: str) -> None:
        """Remove a file that is there."""
        with self._in_words(self.path(name)):
            os.unlink(self.path(name))

    @staticmethod
    @contextlib.contextmanager
    def _in_words(path: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DeviceError(f"{path}: {error.strerror}; use a user who may work there") from error
