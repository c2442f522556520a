# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's configuration files: lines of KEY=VALUE and files that they include."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Callable, Iterator

from .._plan.converge import DeviceError

# Comments begin with a # that has no backslash before it; a backslash at the end continues a line.
_COMMENT = re.compile(r"(?<!\\)#.*")
_FIELD = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)\s*=\s*("[^"]*"|\S*)')
_INCLUDE = re.compile(r"include\s+(\S+)", re.IGNORECASE)
# As Slurm itself has it.
_DEEPEST = 10

Read = Callable[[str], "str | None"]


@dataclass(frozen=True)
class Line:
    """One line with its file; ``include`` is the file that it includes, or empty."""

    file: str
    fields: tuple[tuple[str, str], ...]
    include: str


def lines_of(read: Read, path: str, depth: int = 0) -> Iterator[Line]:
    """The lines of a file and of all that it includes, in the order in which Slurm reads them.

    Raises:
        DeviceError: a file that is included is not there, or includes itself.
    """
    text = read(path)
    if text is None or depth > _DEEPEST:
        raise DeviceError(f"{path}: it is included and {'is not there' if text is None else 'includes itself'}")
    for words in _joined(text):
        include = _INCLUDE.fullmatch(words)
        if include is None:
            yield Line(path, tuple((key, value.strip('"')) for key, value in _FIELD.findall(words)), "")
            continue
        folder = path.rpartition("/")[0]
        included = include[1] if include[1].startswith("/") else f"{folder}/{include[1]}"
        yield Line(path, (), included)
        yield from lines_of(read, included, depth + 1)


def _joined(text: str) -> Iterator[str]:
    """The lines that say something, without comments, continued ones as one."""
    for line in text.replace("\\\n", "").splitlines():
        words = _COMMENT.sub("", line).strip()
        if words:
            yield words
