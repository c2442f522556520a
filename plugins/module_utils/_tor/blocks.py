# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a running-config as blocks: a line, and the lines that are indented below it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterable

_INDENT = "   "
# After these lines EOS shows free text, not indented, up to a line EOF.
_FREE_TEXT = re.compile(r"\s*(?:banner \S+|action bash|code(?: .+)?)")


@dataclass(frozen=True)
class Block:
    """A line that is not indented, and the lines below it as they stand there."""

    header: str
    lines: tuple[str, ...]

    @property
    def inner(self) -> list[Block]:
        """The lines below as blocks of their own. What is indented oddly belongs to the line before it."""
        return blocks(line[len(_INDENT) :] if line.startswith(_INDENT) else f" {line}" for line in self.lines)

    @property
    def own_lines(self) -> list[str]:
        """The lines of this block that are not inside one of its inner blocks."""
        return [block.header for block in self.inner]


def blocks(lines: Iterable[str]) -> list[Block]:
    """The blocks of some lines, in order, without comments and separators."""
    found: list[tuple[str, list[str]]] = []
    free_text = False
    for line in lines:
        if free_text:
            found[-1][1].append(line)
            free_text = line.strip() != "EOF"
            continue
        if not line.strip() or re.match(r"\s*!(?!!)", line):
            continue
        free_text = _FREE_TEXT.fullmatch(line.rstrip()) is not None
        if line.startswith(" ") and found:
            found[-1][1].append(line.rstrip())
        else:
            found.append((line.rstrip(), []))
    return [Block(header, tuple(below)) for header, below in found]
