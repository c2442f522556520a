# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The directory of the hooks on the Slurm controller: who works on which job now, and who has which partition."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from typing import Dict, Iterator

from .._plan.converge import DeviceError

# Name of a partition to the number of the job that has it.
Claims = Dict[str, int]

_CLAIMS = 0


class Directory:
    """The directory. A lock in it dies with its holder.

    Args:
        path: its path; it exists.
    """

    def __init__(self, path: str) -> None:
        self._claims = os.path.join(path, "claims.json")
        # Open as long as this process lives: closing it would give up every lock in it.
        self._lock = os.open(os.path.join(path, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @contextmanager
    def job(self, number: int) -> Iterator[None]:
        """Work on a job alone: nobody ends what another one is still making for it."""
        with self._locked(number):
            yield

    @contextmanager
    def claims(self) -> Iterator[Claims]:
        """The claims, for nobody else to change; what is changed in them is kept if the body ends well."""
        with self._locked(_CLAIMS):
            before = self._read()
            claims = dict(before)
            yield claims
            if claims != before:
                self._write(claims)

    @contextmanager
    def _locked(self, place: int) -> Iterator[None]:
        # A byte of the file for each job: nothing is left to be cleaned up.
        fcntl.lockf(self._lock, fcntl.LOCK_EX, 1, place)
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN, 1, place)

    def _read(self) -> Claims:
        try:
            with open(self._claims, encoding="utf-8") as stream:
                return {str(name): int(number) for name, number in json.load(stream).items()}
        except FileNotFoundError:
            return {}
        except (ValueError, AttributeError, TypeError):
            raise DeviceError(f"{self._claims} is not understood; remove it while no job has IPUs") from None

    def _write(self, claims: Claims) -> None:
        new = f"{self._claims}.new"
        with open(new, "w", encoding="utf-8") as stream:
            json.dump(claims, stream, indent=2, sort_keys=True)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(new, self._claims)
