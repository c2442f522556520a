# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Interface names: abbreviations and ranges in, canonical names out."""

from __future__ import annotations

import re
from functools import lru_cache

KINDS = ("Ethernet", "Loopback", "Management", "Port-Channel", "Vlan", "Vxlan")
_SHORTEST = {"Ethernet": "e", "Loopback": "l", "Management": "m", "Port-Channel": "p", "Vlan": "vl", "Vxlan": "vx"}
_NAME = re.compile(r"([A-Za-z-]+)(\d[\d/.,-]*)")
_NUMBER = re.compile(r"\d+(?:/\d+){0,2}")


def kind_of(word: str) -> str | None:
    """The interface kind that a word such as `et` or `Port-Channel` stands for, if any."""
    lower = word.lower()
    return next((kind for kind in KINDS if kind.lower().startswith(lower) and lower.startswith(_SHORTEST[kind])), None)


def canonical(name: str) -> str:
    """`et9/1` becomes `Ethernet9/1`; ValueError when it is no interface name."""
    kind, numbers = parse(name)
    if not _NUMBER.fullmatch(numbers):
        raise ValueError(f"{name}: no single interface")
    return kind + numbers


def short(name: str) -> str:
    """`Ethernet9/1` becomes `Et9/1`, as the tables of EOS print it."""
    kind, numbers = parse(name)
    return kind[:2] + numbers


def expand(names: str, existing: list[str] | None = None) -> list[str]:
    """The interfaces in `Et9/1`, `Et9/1,12/1` or `Et9/1-12/1`.

    A range runs over the existing names if they are given, else over whole numbers. ValueError when it is no name.
    """
    kind, numbers = parse(names)
    expanded: list[str] = []
    for part in numbers.split(","):
        first, dash, last = part.partition("-")
        ends = [first, last if dash else first]
        if not all(_NUMBER.fullmatch(end) for end in ends):
            raise ValueError(f"{names}: no interface name")
        low, high = (natural_order(kind + end) for end in ends)
        if not dash:
            expanded.append(kind + first)
        elif existing is not None:
            expanded += [name for name in existing if name.startswith(kind) and low <= natural_order(name) <= high]
        elif first.isdecimal() and last.isdecimal():
            expanded += [f"{kind}{number}" for number in range(int(first), int(last) + 1)]
        else:
            raise ValueError(f"{names}: no range of whole numbers")
    return expanded


# Whatever is shown is sorted by it, again and again.
@lru_cache(maxsize=4096)
def natural_order(text: str) -> tuple[tuple[int, int | str], ...]:
    """A sort key that counts numbers as numbers: Ethernet9/1 before Ethernet10/1."""
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in re.findall(r"\d+|\D+", text))


def join_split_names(words: list[str]) -> list[str]:
    """`interface ethernet 9/1` is `interface ethernet9/1`."""
    joined: list[str] = []
    for word in words:
        after_kind = len(joined) > 1 and joined[-2].startswith("interface") and kind_of(joined[-1])
        if after_kind and word[0].isdecimal():
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def parse(name: str) -> tuple[str, str]:
    """The kind and the numbers of a name or range of names; ValueError when it is none."""
    match = _NAME.fullmatch(name)
    kind = kind_of(match[1]) if match else None
    if not match or not kind:
        raise ValueError(f"{name}: no interface name")
    return kind, match[2]
