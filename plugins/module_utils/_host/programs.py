# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a host's own programs, with errors that name the program and quote its message."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Iterable, List, Mapping, Sequence, Tuple, TypeVar

from .._plan.converge import DeviceError

# Exit statuses, as the programs timeout and sh have them.
TIMED_OUT, NOT_FOUND = 124, 127

Run = Callable[[List[str]], Tuple[int, str, str]]
Thing = TypeVar("Thing")
Found = TypeVar("Found")

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where root looks for programs."""

# A NIC's tools are slow programs that wait for its driver; more at a time would only wait for a processor.
_SIDE_BY_SIDE = 4


def run_program(
    argv: Sequence[str],
    limit: float | None = None,
    directory: str | None = None,
    environment: Mapping[str, str] | None = None,
    text: str = "",
) -> tuple[int, str, str]:
    """Run a program of this host and return its exit status, output and errors, also in several threads.

    Args:
        limit: seconds after which it is ended.
        directory: its working directory; by default that of this process.
        environment: its variables; by default those of this process, with messages in English. Programs are
            found where root looks for them, also by who has become root with `su` and has another PATH.
        text: its input.

    Raises:
        OSError: it does not exist.
        subprocess.TimeoutExpired: it took longer than the limit.
    """
    variables = {**os.environ, "LC_ALL": "C"} if environment is None else dict(environment)
    variables["PATH"] = _with_those_of_root(variables.get("PATH", ""))
    done = subprocess.run(
        list(argv), cwd=directory, env=variables, input=text.encode(), capture_output=True, timeout=limit, check=False
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def _with_those_of_root(path: str) -> str:
    places, of_root = [place for place in path.split(os.pathsep) if place], SEARCH_PATH.split(os.pathsep)
    if set(of_root) <= set(places):
        return path
    return os.pathsep.join([*(place for place in places if place not in of_root), *of_root])


def side_by_side(look: Callable[[Thing], Found], things: Iterable[Thing]) -> list[Found]:
    """Run a function on each item in parallel and return the results in order, or raise the first error."""
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        return list(pool.map(look, things))


class Programs:
    """The programs of one server."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def call(self, argv: list[str]) -> str:
        """The output of a program that has to succeed. Raises DeviceError: it did not."""
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
        """Exit status, output and errors of a program. Raises DeviceError: there is no such program."""
        try:
            return self._run(argv)
        except OSError as error:
            raise DeviceError(f"{argv[0]} could not be run on this server: {error.strerror}") from error
