# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wording of sentences about a declaration. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any


def unknown(name: str, what: str, known: Any) -> str:
    """That a name is not declared, and which are."""
    return f"{name!r} is no declared {what}; {'known are ' + some(list(known)) if known else 'none is declared'}"


def some(names: Collection[str], most: int = 6) -> str:
    """The first of some names, and how many more there are."""
    shown = ", ".join(sorted(names)[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


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
