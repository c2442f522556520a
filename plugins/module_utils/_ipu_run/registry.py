# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which container of this server has which IPUs: a file for each container, and its IPUoF configuration beside it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Iterator, Mapping

from .._host.files import Files, os_errors_as
from .._host.lock import Held, lock_file, locked
from .._host.store import Store
from .._plan.converge import DeviceError

_RECORD, _LOCK, _CONFIGURATION = "record.json", "lock", "ipuof.conf.d"
# No container is called so: a name begins with a letter or a digit.
_TURN = ".turn-"
# What Poplar in the container reads; the name that Backend.AI's plugin expects, too.
CONFIGURATION_FILE = "ipuof.conf"
_REMEDY = "; run it as root"


@dataclass(frozen=True)
class Record:
    """A container and its partition, which have one name.

    Args:
        user: who has started it.
        began: when, in seconds since 1970.
        is_ready: whether it has its partition; before, that is being made.
        gcd: which GCD of its partition it has; the container with the first one owns the partition.
        gcds: how many GCDs that has; each further one is that of a container on another server.
        servers: in a session, the RNIC address of each server's container by its host name, once all are known.
    """

    name: str
    vpod: str
    user: str
    ipus: int
    engine: str
    image: str
    began: float
    is_ready: bool = False
    gcd: int = 0
    gcds: int = 1
    servers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_session(self) -> bool:
        """Whether it is one of several containers that end together, with the ipu-run that holds them."""
        return self.gcds > 1

    @property
    def owns_partition(self) -> bool:
        """Whether the partition goes with it."""
        return self.gcd == 0


class Registry:
    """The registry in a directory; every method raises ``DeviceError`` where the system does not let it work."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def names(self) -> list[str]:
        """The names of all containers, also of those whose record is not written yet."""
        return [name for name in Files().names(self._directory) if not name.startswith(_TURN)]

    def read(self) -> dict[str, Record]:
        """All records by name."""
        found = {name: self.record(name) for name in self.names()}
        return {name: record for name, record in found.items() if record}

    @contextlib.contextmanager
    def held(self, name: str) -> Iterator[bool]:
        """Hold the name of a container while the body runs: True, or False where another process has it.

        Whoever holds it looks after that container; a name is free again when its holder has ended in any way.
        """
        with os_errors_as(self._directory, _REMEDY):
            os.makedirs(self._path(name), mode=0o755, exist_ok=True)
            descriptor = lock_file(self._path(name, _LOCK))
        try:
            with locked(descriptor, timeout=0):
                # Somebody may have held, forgotten and so removed it since it was opened.
                yield os.path.exists(self._path(name, _LOCK)) and os.path.samestat(
                    os.fstat(descriptor), os.stat(self._path(name, _LOCK))
                )
        except Held:
            yield False
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def in_turn(self, vpod: str, wait: float) -> Iterator[bool]:
        """Be the one of those who wait that takes what becomes free in a vPOD, or not after that many seconds."""
        with os_errors_as(self._directory, _REMEDY):
            os.makedirs(self._directory, mode=0o755, exist_ok=True)
            descriptor = lock_file(self._path(_TURN + vpod))
        try:
            with locked(descriptor, timeout=wait):
                yield True
        except Held:
            yield False
        finally:
            os.close(descriptor)

    def write(self, record: Record) -> None:
        """Put a record in the place of the earlier one."""
        Store(self._path(record.name)).write(_RECORD, json.dumps(asdict(record), sort_keys=True), 0o644)

    def write_configuration(self, name: str, configuration: Mapping[str, Any]) -> str:
        """Write the IPUoF configuration of a container. Returns the directory that it is in, with nothing else."""
        directory = self.configuration(name)
        Store(directory).write(CONFIGURATION_FILE, json.dumps(configuration, indent=2) + "\n", 0o644)
        return directory

    def configuration(self, name: str) -> str:
        """The directory of a container's IPUoF configuration, before that is there."""
        return self.directory(name, _CONFIGURATION)

    def directory(self, name: str, inner: str) -> str:
        """A directory of a container, which is made where it is not there."""
        directory = self._path(name, inner)
        with os_errors_as(directory, _REMEDY):
            os.makedirs(directory, mode=0o755, exist_ok=True)
        return directory

    def forget(self, name: str) -> None:
        """Remove everything of a container that is held; its record first, so that the rest is nobody's."""
        with os_errors_as(self._path(name), _REMEDY):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path(name, _RECORD))
            shutil.rmtree(self._path(name))

    def record(self, name: str) -> Record | None:
        """The record of a container, None if there is none. Raises DeviceError: it is not understood."""
        text = Store(self._path(name)).read(_RECORD)
        if text is None:
            return None
        try:
            data = json.loads(text)
            # One that an earlier release has written knows nothing of sessions.
            return Record(**{known.name: data[known.name] for known in fields(Record) if known.name in data})
        except (ValueError, TypeError, LookupError):
            path = self._path(name, _RECORD)
            raise DeviceError(
                f"{path} is not understood; see that container and partition {name} are gone, and remove its directory"
            ) from None

    def path(self, name: str, file: str) -> str:
        """The path of a file of a container."""
        return self._path(name, file)

    def _path(self, name: str, file: str = "") -> str:
        return str(Path(self._directory, name, file))
