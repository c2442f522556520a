# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text from devices, tenants and files as people get it: one line, bounded, of characters that are seen. Pure."""

from __future__ import annotations

from typing import Any

LONGEST = 4000
CUT = " ..."


def printable(text: str, longest: int = LONGEST) -> str:
    """The text in one line, cut where it is too long: control characters and their like are spelled out."""
    # What is cut off need not be looked at.
    shown = text[: longest + 1]
    if not shown.isprintable():
        shown = "".join(map(_shown, shown))
    return shown if len(shown) <= longest else shown[: longest - len(CUT)] + CUT


def one_line(text: str, longest: int = LONGEST) -> str:
    """The same as a sentence: lines, indentation and columns become single spaces."""
    return printable(" ".join(text.split()), longest)


def readable(data: Any) -> Any:
    """Plain data for a view: each text in it is printable."""
    if isinstance(data, dict):
        return {readable(key): readable(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [readable(each) for each in data]
    return printable(data) if isinstance(data, str) else data


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else character.encode("unicode_escape").decode("ascii")
