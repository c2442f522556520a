# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates such as `mtu <68-9214>` that read the words of a command line.

A template is literal words and slots. `{slot}` belongs to the identity of a line (`ntp server {word}`: one line per
server), `<slot>` is its value (`mtu <68-9214>`: one line, replaced by the next). A slot is `low-high` for an integer,
`a|b|c` for a choice, or the name of a reader in READERS; with a point in its bounds the number is a decimal fraction.
`{slot...}` reads one or more words. A slot that reads `text` takes the rest of the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from podsim.eos import interface_names, vlan_lists
from podsim.eos.errors import InvalidInput

Reader = Callable[[str], str]


def _vlans(word: str) -> str:
    return vlan_lists.format_vlans(vlan_lists.parse_vlans(word))


def _trunk_vlans(word: str) -> str:
    return {"all": "1-4094", "none": "none"}.get(word.lower()) or _vlans(word)


def _interfaces(kind: str) -> Reader:
    def read(word: str) -> str:
        if interface_names.parse(word)[0] != kind:
            raise ValueError(f"{word}: no {kind} interface")
        return word

    return read


def _vxlan(word: str) -> str:
    if interface_names.canonical(word) != "Vxlan1":
        raise ValueError(f"{word}: the only VXLAN interface is Vxlan1")
    return word


def _timer(word: str) -> str:
    match = re.fullmatch(r"(\d{1,2}):([0-5]?\d):([0-5]?\d)", word)
    if not match:
        raise ValueError(f"{word}: no time such as 00:05:00")
    return "{:02}:{:02}:{:02}".format(*map(int, match.groups()))


def _address(word: str) -> str:
    if not re.fullmatch(r"\d+(\.\d+){3}/\d+", word):
        raise ValueError(f"{word}: no address such as 10.1.0.1/24")
    return word


READERS: dict[str, Reader] = {
    "word": str,
    "text": str,
    "vlans": _vlans,
    "trunk-vlans": _trunk_vlans,
    "timer": _timer,
    "address": _address,
    "interface": interface_names.canonical,
    **{kind.lower(): _interfaces(kind) for kind in interface_names.KINDS},
    "vxlan": _vxlan,
}


@dataclass(frozen=True)
class Slot:
    """One position of a template; `read` turns a word into its canonical form or raises ValueError."""

    literal: str | None
    read: Reader
    name: str
    identity: bool
    several: bool = False

    @property
    def takes_rest(self) -> bool:
        """Whether this slot reads everything to the end of the line."""
        return self.name == "text"


class Words(NamedTuple):
    """A command line split at blanks, with the rest of the line behind each word's start as it was typed."""

    words: tuple[str, ...]
    rests: tuple[str, ...]


# The lines of a configuration are read again and again.
@lru_cache(maxsize=4096)
def split(line: str) -> Words:
    """Split a command line into words."""
    line = line.strip()
    words = [match[0] for match in re.finditer(r"\S+", line)]
    joined = interface_names.join_split_names(words)
    if joined != words:
        return split(" ".join(joined))
    return Words(tuple(words), tuple(line[match.start() :] for match in re.finditer(r"\S+", line)))


@dataclass(frozen=True)
class Template:
    """A compiled template, see the module's description."""

    text: str

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The positions of this template."""
        return tuple(_slot(part) for part in self.text.split())

    @cached_property
    def key_length(self) -> int:
        """How many words identify the line that this template writes."""
        return next((index for index, slot in enumerate(self.slots) if not slot.identity), len(self.slots))

    @cached_property
    def key(self) -> str:
        """The words that identify the line, where all of them are literal."""
        return " ".join(slot.name for slot in self.slots[: self.key_length])

    @cached_property
    def several(self) -> int | None:
        """The position of the slot that reads several words, if there is one: the command stands for as many lines."""
        return next((index for index, slot in enumerate(self.slots) if slot.several), None)

    def may_begin_with(self, first: Sequence[str], abbreviate: bool) -> bool:
        """A quick look at the first word, if there is one: false when `match` would refuse it."""
        literal = self.slots[0].literal
        return literal is None or not first or abbreviate or literal == first[0].lower()

    def match(self, line: Words, abbreviate: bool, start: int = 0, shortest: int | None = None) -> list[str]:
        """The canonical words of the line from the word at `start` on.

        With `abbreviate`, literal words may be shortened. With `shortest`, the line may end after that many slots (a
        `no` form needs no value). Raises InvalidInput at the word that doesn't fit.
        """
        found: list[str] = []
        position = start
        for index, slot in enumerate(self.slots):
            if position >= len(line.words):
                if shortest is not None and index >= shortest:
                    return found
                raise InvalidInput.at(line.words, position)
            last = self._last(slot, line, position)
            read = [line.rests[position]] if slot.takes_rest else line.words[position:last]
            try:
                found.append(" ".join(_read(slot, word, abbreviate) for word in read))
            except ValueError:
                raise InvalidInput.at(line.words, position) from None
            position = last
        if position < len(line.words):
            raise InvalidInput.at(line.words, position)
        return found

    @staticmethod
    def _last(slot: Slot, line: Words, position: int) -> int:
        """The position behind the words that a slot takes."""
        if slot.takes_rest:
            return len(line.words)
        last = position + 1
        while slot.several and last < len(line.words) and line.words[last].isdecimal():
            last += 1
        return last


def _read(slot: Slot, word: str, abbreviate: bool) -> str:
    if slot.literal is None:
        return slot.read(word)
    if word.lower() == slot.literal.lower() or (abbreviate and slot.literal.startswith(word.lower())):
        return slot.literal
    raise ValueError(f"{word}: not {slot.literal}")


def _slot(part: str) -> Slot:
    if part[0] not in "{<":
        return Slot(part, str, part, identity=True)
    name = part[1:-1].removesuffix("...")
    return Slot(None, _reader(name), name, identity=part[0] == "{", several=part[1:-1] != name)


def _reader(name: str) -> Reader:
    if name in READERS:
        return READERS[name]
    if bounds := re.fullmatch(r"(\d+)-(\d+)", name):
        return _integer(int(bounds[1]), int(bounds[2]))
    if bounds := re.fullmatch(r"([\d.]+)-([\d.]+)", name):
        return _decimal(float(bounds[1]), float(bounds[2]))
    return _choice(name.split("|"))


def _decimal(low: float, high: float) -> Reader:
    def read(word: str) -> str:
        if not re.fullmatch(r"\d+(\.\d+)?", word) or not low <= float(word) <= high:
            raise ValueError(f"{word}: no number from {low} to {high}")
        return f"{float(word):g}"

    return read


def _integer(low: int, high: int) -> Reader:
    def read(word: str) -> str:
        if not word.isdecimal() or not low <= int(word) <= high:
            raise ValueError(f"{word}: no number from {low} to {high}")
        return str(int(word))

    return read


def _choice(choices: Sequence[str]) -> Reader:
    def read(word: str) -> str:
        if word.lower() not in choices:
            raise ValueError(f"{word}: none of {', '.join(choices)}")
        return word.lower()

    return read
