# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text from devices, tenants and files as people get it: one line, bounded, of characters that are seen. Pure."""

from __future__ import annotations

from typing import Any

LONGEST = 4000
CUT = " ..."


def visible(text: str) -> str:
    """The text in one line: control characters and their like are spelled out."""
    return text if text.isprintable() else "".join(map(_shown, text))


def printable(text: str, longest: int = LONGEST) -> str:
    """The same, cut where it is too long."""
    # What is cut off need not be looked at.
    shown = visible(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - len(CUT)] + CUT


def one_line(text: str, longest: int = LONGEST) -> str:
    """The same, cut, as a sentence: lines, indentation and columns become single spaces."""
    return printable(" ".join(text.split()), longest)


def encodable(data: Any) -> Any:
    """Plain data with a question mark for each half of a character, which Ansible does not hand on."""
    if isinstance(data, dict):
        return {encodable(key): encodable(value) for key, value in data.items()}
    if isinstance(data, list):
        return [encodable(each) for each in data]
    return data.encode(errors="replace").decode() if isinstance(data, str) else data


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
