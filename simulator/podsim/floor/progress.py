# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show a person which step runs and how long it took; plain lines, the same with and without a terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TextIO

WIDTH = 52


class Progress:
    """Steps with their times on standard error, so that standard output stays free for results."""

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self._stream = stream
        self._start = time.monotonic()

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Announce a step before its work, and its time in seconds after it; a failed step says so."""
        self._write(f"{what:<{WIDTH}}")
        start = time.monotonic()
        try:
            yield
        except BaseException:
            self._write(" failed\n")
            raise
        self._write(f" {time.monotonic() - start:5.1f} s\n")

    def total(self, what: str) -> None:
        """The time since the beginning."""
        self._write(f"{what:<{WIDTH}} {time.monotonic() - self._start:5.1f} s\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
