# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's way to write many host names in one word. Pure."""

from __future__ import annotations

import re

from .._plan.converge import Refused

_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def expanded(hosts: str) -> list[str]:
    """The names that a text like ``node[1-3,07],login`` stands for, in their order.

    Raises:
        Refused: what is in brackets is no list of numbers.
    """
    return [name for word in _words(hosts) for name in _names(word)]


def _words(hosts: str) -> list[str]:
    """The parts between the commas that are not in brackets."""
    return [word for word in re.split(r",(?![^\[]*\])", hosts) if word]


def _names(word: str) -> list[str]:
    brackets = _BRACKETS.search(word)
    if brackets is None:
        return [word]
    start, end = word[: brackets.start()], word[brackets.end() :]
    return [f"{start}{number}{rest}" for number in _numbers(brackets[1], word) for rest in _names(end)]


def _numbers(text: str, word: str) -> list[str]:
    numbers: list[str] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise Refused(f"slurm.conf: {word!r} is no list of hosts; write it like node[1-4]")
        first, last = match[1], match[2] or match[1]
        numbers += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return numbers
