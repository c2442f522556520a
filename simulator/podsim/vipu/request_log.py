# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One JSON line per request, so that a test can say what was asked and that nothing was written."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

_WRITING_VERBS = ("Create", "Remove", "Reset", "Test")


class RequestLog:
    """Appends to a file; without one it does nothing."""

    def __init__(self, path: Path | None) -> None:
        self._file = path.open("a") if path else None
        self._lock = threading.Lock()

    def note(self, service: str, method: str) -> None:
        """Writes one line, out of any buffer before the request is answered."""
        if not self._file:
            return
        entry = {"time": time.time(), "service": service, "method": method, "write": method.startswith(_WRITING_VERBS)}
        with self._lock:
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()
