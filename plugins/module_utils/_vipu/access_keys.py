# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the access keys of new users go: a controller shows them once and keeps none."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Callable, Iterable, Iterator

from .._host.atomic import NewFile, remove_unfinished
from .._host.files import os_errors_as
from .._plan.converge import DeviceError


class AccessKeys:
    """The keys of this run.

    Args:
        directory: where each goes into a file ``NAME.key``, mode 0600; empty for none. Made with mode 0700.
        keep: whether they stay in :attr:`kept`, for a caller who returns them.
    """

    def __init__(self, directory: str = "", keep: bool = False) -> None:
        self._directory = directory
        self._keep = keep
        self.kept: dict[str, str] = {}

    def receive(self, name: str, create: Callable[[], str]) -> None:
        """Create a user and put the key that ``create`` gives where it belongs; the place is opened before.

        Raises:
            DeviceError: the place cannot be written, and then nothing was created; or from ``create``.
        """
        with self._file(name) as put:
            key = self._created(name, create)
            if self._keep:
                self.kept[name] = key
            put(key)

    def lost(self, names: Iterable[str]) -> list[str]:
        """One sentence for each of these users, who were there before this run, whose file is not there."""
        if not self._directory:
            return []
        return [
            f"user {name} is on the controller, but {self._path(name)} is not there, and the controller never shows "
            "an access key again; put the key there, or remove the user and run again for a new key"
            for name in names
            if not os.path.exists(self._path(name))
        ]

    def _path(self, name: str) -> str:
        return os.path.join(self._directory, f"{name}.key")

    def _created(self, name: str, create: Callable[[], str]) -> str:
        try:
            return create()
        except DeviceError as error:
            raise DeviceError(
                f"{error}; if user {name} is there now, nobody has its key: remove it, run again"
            ) from error

    @contextmanager
    def _file(self, name: str) -> Iterator[Callable[[str], None]]:
        if not self._directory:
            yield lambda _key: None
            return
        path = self._path(name)
        with os_errors_as(f"{path}: the access key of user {name} cannot be kept"):
            os.makedirs(self._directory, 0o700, exist_ok=True)
            remove_unfinished(path)
            new = NewFile(path, 0o600)

        def put(key: str) -> None:
            try:
                new.put(f"{key}\n")
            except OSError as error:
                raise DeviceError(
                    f"{path}: user {name} was created, but its access key cannot be kept ({error.strerror}); "
                    "remove the user and run again"
                ) from error

        with new:
            yield put
