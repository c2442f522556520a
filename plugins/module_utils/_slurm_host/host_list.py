# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's way to write many host names in one word. Pure."""

from __future__ import annotations

import re
from itertools import groupby
from math import prod
from typing import Iterator, Sequence

from .._plan.converge import Refused

_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
# A number that begins with 0 could not be written back as it was.
_NUMBER = re.compile(r"[1-9][0-9]*$")


def expanded(hosts: str) -> list[str]:
    """The names that a text like ``node[1-3,07],login`` stands for, in their order.

    Raises:
        Refused: what is in brackets is no list of numbers.
    """
    return [name for word in _words(hosts) for name in _names(word)]


def count_of(hosts: str) -> int:
    """How many names :func:`expanded` finds, without a name being made.

    Raises:
        Refused: what is in brackets is no list of numbers.
    """
    return sum(prod(_count(brackets, word) for brackets in _BRACKETS.findall(word)) for word in _words(hosts))


def folded(names: Sequence[str]) -> str:
    """Names in Slurm's short form, where those that differ only in a number at their end are one."""
    numbers: dict[str, list[int]] = {}
    for name in names:
        stem = _NUMBER.sub("", name)
        digits = name[len(stem) :]
        numbers.setdefault(stem, []).extend(int(digits) for digits in [digits] if digits)
    return ",".join(_bracketed(stem, sorted(found)) for stem, found in numbers.items())


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
    return [
        str(number).zfill(len(first))
        for first, last in _ranges(text, word)
        for number in range(int(first), int(last) + 1)
    ]


def _count(text: str, word: str) -> int:
    return sum(max(0, int(last) + 1 - int(first)) for first, last in _ranges(text, word))


def _ranges(text: str, word: str) -> Iterator[tuple[str, str]]:
    """The first and the last number of each range."""
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise Refused(f"slurm.conf: {word!r} is no list of hosts; write it like node[1-4]")
        yield match[1], match[2] or match[1]


def _bracketed(stem: str, numbers: Sequence[int]) -> str:
    if len(numbers) < 2:
        return stem + "".join(map(str, numbers))
    runs = [list(run) for _offset, run in groupby(numbers, key=lambda each: each - numbers.index(each))]
    return f"{stem}[{','.join(str(run[0]) if len(run) == 1 else f'{run[0]}-{run[-1]}' for run in runs)}]"
