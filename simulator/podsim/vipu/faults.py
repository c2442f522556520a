# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The faults that a controller is to show: a JSON file that is read anew whenever it has changed.

{"hang": {"CreatePartition": 30}}           every such call waits so many seconds before it is answered
{"refuse": {"CreateCluster": "disk full"}}  every such call is refused with that text
{"crash_on_write": 2}                       the process dies at the second write from then on, before the
                                            new storage file is put in place
{"fail_partition": {"p1": 3}}               the next three attempts to bring p1 up end in PS_ERROR
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from podsim.vipu.entities import Partition
from podsim.vipu.errors import Refused


class Faults:
    """The faults of one controller; none without a file. An unreadable file raises ValueError where it is used."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._read_at = 0
        self._faults: dict[str, Any] = {}
        self._lock = threading.Lock()

    def on_call(self, method: str) -> None:
        """Hangs, or raises Refused, as the file has it."""
        faults = self._current()
        time.sleep(faults.get("hang", {}).get(method, 0))
        if method in faults.get("refuse", {}):
            raise Refused("INTERNAL", faults["refuse"][method])

    def before_rename(self) -> None:
        """Dies here, as a power failure would, when this is the write that the file names."""
        faults = self._current()
        if "crash_on_write" in faults:
            faults["crash_on_write"] -= 1
            if faults["crash_on_write"] <= 0:
                os._exit(70)

    def failing(self, partition: Partition) -> str:
        """Why the partition must not come up this time; empty when it may."""
        attempts = self._current().get("fail_partition", {})
        if attempts.get(partition.id, 0) <= 0:
            return ""
        attempts[partition.id] -= 1
        return "IPU-Link training failed"

    def _current(self) -> dict[str, Any]:
        with self._lock:
            if self._path and self._path.exists():
                changed = self._path.stat().st_mtime_ns
                if changed != self._read_at:
                    self._faults = json.loads(self._path.read_text())
                    self._read_at = changed
            return self._faults
