# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of this host in one look: whoever asks, each is run once, and none longer than it may take."""

from __future__ import annotations

import subprocess
from concurrent.futures import Future
from threading import Lock
from typing import Tuple

from .._host.programs import TIMED_OUT, Run, run_program

# Of one program, in seconds.
LIMIT = 30

Answer = Tuple[int, str, str]


class Once:
    """A function that runs programs, for several threads: the same words are answered by the same run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lock = Lock()
        self._answers: dict[tuple[str, ...], Future[Answer]] = {}

    def __call__(self, argv: list[str]) -> Answer:
        """The answer, or the error of whoever asked first."""
        mine: Future[Answer] = Future()
        with self._lock:
            answer = self._answers.setdefault(tuple(argv), mine)
        if answer is mine:
            try:
                mine.set_result(self._run(argv))
            except BaseException as error:
                mine.set_exception(error)
        return answer.result()


def run_limited(argv: list[str]) -> Answer:
    """Run a program of this host and return its exit status, output and errors; OSError where it does not exist."""
    try:
        return run_program(argv, LIMIT)
    except subprocess.TimeoutExpired:
        return TIMED_OUT, "", f"no end after {LIMIT} s"
