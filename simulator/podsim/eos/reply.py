# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reply of a command, and the filters that a pipe applies to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from podsim.eos.errors import EosError, NoJsonModel


@dataclass(frozen=True)
class Reply:
    """An answer in both forms; `model` is None when the command has no JSON form."""

    text: str = ""
    model: dict[str, Any] | None = field(default_factory=dict)


def as_json(reply: Reply) -> dict[str, object]:
    """The JSON form of a reply; NoJsonModel if it has none."""
    if reply.model is None:
        raise NoJsonModel
    return reply.model


def table(headings: list[str], rows: list[list[str]]) -> str:
    """Columns under headings, left-aligned."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    lines = [headings, ["-" * width for width in widths], *rows]
    padded = (map(str.ljust, line, widths) for line in lines)
    return "".join("  ".join(cells).rstrip() + "\n" for cells in padded)


def pipe(text: str, wanted: str) -> str:
    """Text through `include RE`, `exclude RE`, `begin RE`, `section RE` or `no-more`; a `|` in RE belongs to RE."""
    name, _, pattern = wanted.strip().partition(" ")
    if name == "no-more":
        return text
    if name not in _FILTERS or not pattern:
        raise EosError(f"Invalid filter '{wanted.strip()}'")
    expression = compiled(pattern.strip().strip('"'))
    return "".join(_FILTERS[name](text.splitlines(keepends=True), expression))


def compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression that ignores case, as EOS does; EosError when it is none."""
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise EosError(f"Invalid regular expression '{pattern}': {error}") from None


def section(lines: list[str], wanted: re.Pattern[str]) -> list[str]:
    """The blocks whose heading matches, and matching lines inside other blocks under their headings."""
    found: list[str] = []
    headings: list[tuple[int, str, bool]] = []  # indentation, line, already in `found`
    for line in lines:
        depth = len(line) - len(line.lstrip())
        headings = [heading for heading in headings if heading[0] < depth]
        whole = any(wanted.search(heading) for _, heading, _ in headings)
        if line.strip() == "!" and not whole:
            continue
        matches = whole or bool(wanted.search(line.rstrip("\n")))
        if matches:
            found += [heading for _, heading, shown in headings if not shown]
            headings = [(indent, heading, True) for indent, heading, _ in headings]
            found.append(line)
        headings.append((depth, line, matches))
    return found


def _begin(lines: list[str], wanted: re.Pattern[str]) -> list[str]:
    first = next((index for index, line in enumerate(lines) if wanted.search(line)), len(lines))
    return lines[first:]


_FILTERS: dict[str, Callable[[list[str], re.Pattern[str]], list[str]]] = {
    "include": lambda lines, wanted: [line for line in lines if wanted.search(line)],
    "grep": lambda lines, wanted: [line for line in lines if wanted.search(line)],
    "exclude": lambda lines, wanted: [line for line in lines if not wanted.search(line)],
    "begin": _begin,
    "section": section,
}
