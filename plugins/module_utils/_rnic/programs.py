# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a server's own programs, with errors that say which program said what."""

from __future__ import annotations

from typing import Callable, List, Tuple

from .._plan.converge import DeviceError

Run = Callable[[List[str]], Tuple[int, str, str]]


class Programs:
    """The programs of one server.

    Args:
        run: runs a program and returns exit status, output and errors; OSError where it does not exist.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def call(self, argv: list[str]) -> str:
        """The output of a program that has to succeed.

        Raises:
            DeviceError: it did not.
        """
        status, output, errors = self.attempt(argv)
        if status != 0:
            raise DeviceError(f"{' '.join(argv)}: {' '.join((errors or output).split()) or f'exit status {status}'}")
        return output

    def answer(self, argv: list[str]) -> str | None:
        """The output of a program that may be missing or fail; None where it does."""
        try:
            return self.call(argv)
        except DeviceError:
            return None

    def attempt(self, argv: list[str]) -> tuple[int, str, str]:
        """Exit status, output and errors of a program.

        Raises:
            DeviceError: there is no such program.
        """
        try:
            return self._run(argv)
        except OSError as error:
            raise DeviceError(f"{argv[0]} could not be run on this server: {error.strerror}") from error
