# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The directory of the hooks on the Slurm controller: who works on which job now, and who has which partition."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import ContextManager, Dict, Iterator

from .._host.lock import lock_file, locked
from .._host.store import Store
from .._plan.converge import DeviceError

# Name of a partition to the number of the job that has it.
Claims = Dict[str, int]

_CLAIMS, _BYTE_OF_CLAIMS = "claims.json", 0


class Directory:
    """The directory, which exists. A lock in it dies with its holder."""

    def __init__(self, path: str) -> None:
        self._store = Store(path)
        # Open as long as this process lives: closing it would give up every lock in it.
        self._lock = lock_file(self._store.path("lock"))

    def job(self, number: int) -> ContextManager[None]:
        """Work on a job alone: nobody ends what another one is still making for it."""
        # A byte of the file for each job: nothing is left to be cleaned up.
        return locked(self._lock, number)

    @contextmanager
    def claims(self) -> Iterator[Claims]:
        """The claims, for nobody else to change; what is changed in them is kept if the body ends well."""
        with locked(self._lock, _BYTE_OF_CLAIMS):
            before = self._read()
            claims = dict(before)
            yield claims
            if claims != before:
                self._store.write(_CLAIMS, json.dumps(claims, indent=2, sort_keys=True), 0o644)

    def _read(self) -> Claims:
        try:
            text = self._store.read(_CLAIMS)
            return {} if text is None else {str(name): int(number) for name, number in json.loads(text).items()}
        except (ValueError, AttributeError, TypeError):
            path = self._store.path(_CLAIMS)
            raise DeviceError(f"{path} is not understood; remove it while no job has IPUs") from None
