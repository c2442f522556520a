# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credentials for a V-IPU controller in secure mode, and the places for access keys of new users, shown only once."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Callable, Iterable, Iterator

from .._host.atomic import NewFile, remove_unfinished
from .._host.files import os_errors_as
from .._plan.converge import DeviceError
from .dialect import ENVIRONMENT, METADATA


@dataclass(frozen=True)
class Credentials:
    """A user of a controller. All empty where the controller asks for nothing.

    ``tls_certs`` is a directory with the client's TLS certificates (:data:`.dialect.TLS_FILES`).
    """

    user_id: str = ""
    access_key: str = field(default="", repr=False)
    tls_certs: str = ""

    def metadata(self) -> list[tuple[str, str]]:
        """The call metadata of gRPC."""
        return [(METADATA[name], value) for name, value in self._who().items()]

    def environment(self) -> dict[str, str]:
        """The environment variables of the programs: a command line can be read by everybody on the host."""
        return {ENVIRONMENT[name]: value for name, value in self._who().items()}

    def options(self) -> list[str]:
        """The global options of the programs that are no secret."""
        return ["--tls-certs", self.tls_certs] if self.tls_certs else []

    def _who(self) -> dict[str, str]:
        return {"user_id": self.user_id, "access_key": self.access_key} if self.user_id else {}


@dataclass
class AccessKeys:
    """The keys of this run.

    Args:
        directory: where each goes into a file ``NAME.key``, mode 0600; empty for none. Made with mode 0700.
        keep: whether they stay in :attr:`kept`, for a caller who returns them.
    """

    directory: str = ""
    keep: bool = False
    kept: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def receive(self, name: str, create: Callable[[], str]) -> None:
        """Create a user and put the key that ``create`` gives where it belongs; the place is opened before.

        Raises:
            DeviceError: the place cannot be written, and then nothing was created; or from ``create``.
        """
        with self._file(name) as put:
            key = self._created(name, create)
            if self.keep:
                self.kept[name] = key
            put(key)

    def lost(self, names: Iterable[str]) -> list[str]:
        """One sentence for each of these users, who were there before this run, whose file is not there."""
        if not self.directory:
            return []
        return [
            f"user {name} is on the controller, but {self._path(name)} is not there, and the controller never shows "
            "an access key again; put the key there, or remove the user and run again for a new key"
            for name in names
            if not os.path.exists(self._path(name))
        ]

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, f"{name}.key")

    def _created(self, name: str, create: Callable[[], str]) -> str:
        try:
            return create()
        except DeviceError as error:
            raise DeviceError(
                f"{error}; if user {name} is there now, nobody has its key: remove it, run again"
            ) from error

    @contextmanager
    def _file(self, name: str) -> Iterator[Callable[[str], None]]:
        if not self.directory:
            yield lambda _key: None
            return
        path = self._path(name)
        with os_errors_as(f"{path}: the access key of user {name} cannot be kept"):
            os.makedirs(self.directory, 0o700, exist_ok=True)
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
