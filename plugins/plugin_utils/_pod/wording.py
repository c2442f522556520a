# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wording of sentences about a declaration. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

# Of a long text, what a sentence shows.
_SHOWN = 60


def shown(value: Any) -> str:
    """A value as YAML has it, short."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}...")
    return "nothing" if value is None else str(value)


def meant(name: Any, known: Iterable[Any]) -> str:
    """`` (did you mean NAME?)`` for one of the known names that is like this one, else nothing."""
    names = {str(each).casefold(): str(each) for each in known}
    close = get_close_matches(str(name).casefold(), names, 1, 0.7)
    return f" (did you mean {names[close[0]]}?)" if close and names[close[0]] != name else ""


def unknown(name: str, what: str, known: Any) -> str:
    """That a name is not declared, and which are."""
    there = f"known are {some(list(known))}" if known else "none is declared"
    return f"{name!r} is no declared {what}{meant(name, known)}; {there}"


def some(names: Collection[str], most: int = 6) -> str:
    """The first of some names, and how many more there are."""
    first = ", ".join(sorted(names, key=natural)[:most])
    return f"{first} and {len(names) - most} more" if len(names) > most else first


def natural(name: str) -> list[tuple[int, str]]:
    """By which names are sorted: numbers in them count as numbers."""
    return [(int(part) if part.isdigit() else -1, part) for part in re.split(r"([0-9]+)", name)]


def listed(texts: Sequence[str], word: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``; ``word`` before the last."""
    return f" {word} ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def spans(names: Iterable[str]) -> str:
    """Names that end in numbers, in a given order, with rows of neighbours as pod001-ipum9..16."""
    rows: list[list[str]] = []
    for name in names:
        if rows and name == _next(rows[-1][-1]):
            rows[-1].append(name)
        else:
            rows.append([name])
    return ", ".join(row[0] if len(row) == 1 else f"{row[0]}..{_number(row[-1])}" for row in rows)


def _next(name: str) -> str | None:
    number = _number(name)
    return f"{name[: -len(number)]}{int(number) + 1:0{len(number)}}" if number else None


def _number(name: str) -> str:
    return name[len(name.rstrip("0123456789")) :]
