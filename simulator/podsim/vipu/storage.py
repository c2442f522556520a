# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's one storage file, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from podsim.vipu.entities import State, state_from_json, state_to_json

FORMAT = 1


class StorageError(Exception):
    """The storage file cannot be used; the text says what to do."""


class Storage:
    """A state kept in a JSON file. `before_rename` is called between writing the new file and putting it in place."""

    def __init__(self, path: Path, before_rename: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._before_rename = before_rename

    def initialise(self, state: State) -> None:
        """Creates the file. Raises StorageError when it exists."""
        if self._path.exists():
            raise StorageError(f"storage {self._path} exists already: start without --init, or remove it yourself")
        self.write(state)

    def read(self) -> State:
        """The stored state. Raises StorageError when there is none, or none that can be understood."""
        try:
            data = json.loads(self._path.read_text())
        except FileNotFoundError:
            raise StorageError(f"storage {self._path} does not exist: create it with --init") from None
        except (OSError, ValueError) as error:
            raise StorageError(f"storage {self._path} cannot be read ({error}): restore it from a backup") from None
        try:
            if data["format"] != FORMAT:
                raise ValueError(f"format {data['format']}, known is {FORMAT}")
            return state_from_json(data)
        except (KeyError, TypeError, ValueError) as error:
            raise StorageError(f"storage {self._path} is not a controller's ({error!r}): restore a backup") from None

    def write(self, state: State) -> None:
        """Puts the state in place of what is stored; a crash leaves either the old file or the new one."""
        temporary = self._path.with_name(self._path.name + ".new")
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump({"format": FORMAT, **state_to_json(state)}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        self._before_rename()
        os.replace(temporary, self._path)
        directory = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
