# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file in which the program remembers, from round to round, whose each partition is. Only root reads it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Dict

from .._host.store import Store
from .._plan.converge import DeviceError
from .decision import Moment, Record, Records

_NAME = "records.json"

# The records of each vPOD.
Kept = Dict[str, Records]


class RecordFile:
    """The file in a directory that is there."""

    def __init__(self, directory: str) -> None:
        self._store = Store(directory)
        self.alone = self._store.alone

    def read(self) -> Kept:
        """The records. Raises DeviceError: they are not understood."""
        try:
            kept = json.loads(self._store.read(_NAME) or "{}")
            return {vpod: {name: _record(data) for name, data in records.items()} for vpod, records in kept.items()}
        except (ValueError, TypeError, AttributeError, KeyError):
            path = self._store.path(_NAME)
            raise DeviceError(f"{path} is not understood; remove it, and partitions are recorded anew") from None

    def write(self, kept: Kept) -> None:
        """Put the records in the place of the earlier ones."""
        data = {vpod: {name: asdict(record) for name, record in records.items()} for vpod, records in kept.items()}
        self._store.write(_NAME, json.dumps(data, indent=2, sort_keys=True), 0o600)


def _record(data: Any) -> Record:
    deleted = data["deleted"]
    moment = None if deleted is None else Moment(str(deleted["boot"]), float(deleted["seconds"]))
    return Record(dict(data["facts"]), str(data["machine"]), str(data["called"]), str(data["project"]), moment)
