# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a run keeps what its plays hand on: the looks, and the plan. Ansible removes the folder when the run ends."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from ansible import constants


class RunFolder:
    """The files of this run, readable by nobody else: the folder, by default of this process, has mode 0700."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(constants.DEFAULT_LOCAL_TMP) / "ipu_pod"

    def write(self, kind: str, name: str, data: Mapping[str, Any]) -> str:
        """Keep something, in place of what there was of that name, and return its digest."""
        path = self._path(kind, name)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps(data)
        new = path.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.rename(path)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def read(self, kind: str, name: str) -> dict[str, Any] | None:
        """Return what was last kept under a name, or None."""
        path = self._path(kind, name)
        found: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        return found

    def key(self, purpose: str) -> str:
        """A secret of this run for one purpose, the same for all tasks, also for those that ask at the same time."""
        path = self._path("keys", purpose)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps({"key": token_hex()}), encoding="utf-8")
        # Of several only the first one has the name.
        with suppress(FileExistsError):
            os.link(new, path)
        new.unlink()
        return str((self.read("keys", purpose) or {})["key"])

    def names(self, kind: str) -> list[str]:
        """The names of what was kept, sorted."""
        return sorted(path.stem for path in (self.folder / kind).glob("*.json"))

    def looks(self) -> dict[str, dict[str, Any]]:
        """Host to what it has answered last."""
        found = {name: self.read("looks", name) for name in self.names("looks")}
        return {name: look for name, look in found.items() if look is not None}

    def fresh_looks(self) -> dict[str, dict[str, Any]]:
        """The same of those that have answered since the last decision; what is older need not be true any more."""
        decided = self._path("plan", "document")
        since = decided.stat().st_mtime_ns if decided.exists() else 0
        return {
            name: look for name, look in self.looks().items() if self._path("looks", name).stat().st_mtime_ns >= since
        }

    def done(self) -> set[tuple[str, str]]:
        """Stage and device, for all that the run has carried out so far."""
        found = [self.read("done", name) or {} for name in self.names("done")]
        return {(each["stage"], each["host"]) for each in found}

    def _path(self, kind: str, name: str) -> Path:
        return self.folder / kind / f"{name}.json"
