# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a host in memory. Every write makes a new object, as every real write makes a new inode."""

from __future__ import annotations

import itertools
from dataclasses import replace

from ansible_collections.ipu.pod.plugins.module_utils._host.files import File, Files


class MemoryFiles(Files):
    def __init__(self, **content: File) -> None:
        super().__init__("/nowhere")
        self.files = dict(content)
        self._clock = itertools.count(1)
        self._modified: dict[str, int] = {}

    def names(self, directory: str) -> list[str]:
        prefix = directory.rstrip("/") + "/"
        return sorted({path[len(prefix) :].split("/")[0] for path in self.files if path.startswith(prefix)})

    def read(self, path: str) -> File | None:
        return self.files.get(path)

    def kernels(self, path: str) -> str:
        return self.files[path].content if path in self.files else ""

    def modified(self, path: str) -> int | None:
        return self._modified.get(path, 0) if path in self.files else None

    def write(self, path: str, file: File) -> None:
        self.files[path] = replace(file)
        self._modified[path] = next(self._clock)

    def remove(self, path: str) -> None:
        self.files.pop(path, None)

    def rename(self, path: str, new: str) -> bool:
        if path not in self.files:
            return False
        self.files[new] = self.files.pop(path)
        return True
