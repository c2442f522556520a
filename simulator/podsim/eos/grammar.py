# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The grammar engine: templates such as `mtu <68-9214>` that read the words of a command.

A template is literal words and slots. `{slot}` belongs to the identity of a line (`ntp server {word}`: one line per
server), `<slot>` is its value (`mtu <68-9214>`: one line, replaced by the next). A slot is `low-high` for an integer,
`a|b|c` for a choice, or the name of a reader in READERS. A slot that reads `text` takes the rest of the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from podsim.eos import interface_names, vlan_lists
from podsim.eos.errors import InvalidInput

Reader = Callable[[str], str]


def _decimal(word: str) -> str:
    if not re.fullmatch(r"\d+(\.\d+)?", word):
        raise ValueError(f"{word}: no number")
    return word


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
    "decimal": _decimal,
    "vlans": _vlans,
    "trunk-vlans": _trunk_vlans,
    "timer": _timer,
    "address": _address,
    "interface": interface_names.canonical,
    **{kind.lower(): _interfaces(kind) for kind in interface_names.KINDS},
}


@dataclass(frozen=True)
class Slot:
    """One position of a template; `read` turns a word into its canonical form or raises ValueError."""

    literal: str | None
    read: Reader
    name: str
    identity: bool

    @property
    def takes_rest(self) -> bool:
        """Whether this slot reads everything to the end of the line."""
        return self.name == "text"


class Words(NamedTuple):
    """A command line split at blanks, with the rest of the line behind each word's start as it was typed."""

    words: list[str]
    rests: list[str]


def split(line: str) -> Words:
    """Split a command line into words."""
    line = line.strip()
    words = [match[0] for match in re.finditer(r"\S+", line)]
    joined = interface_names.join_split_names(words)
    if joined != words:
        return split(" ".join(joined))
    return Words(words, [line[match.start() :] for match in re.finditer(r"\S+", line)])


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
            try:
                found.append(_read(slot, line.rests[position] if slot.takes_rest else line.words[position], abbreviate))
            except ValueError:
                raise InvalidInput.at(line.words, position) from None
            position = len(line.words) if slot.takes_rest else position + 1
        if position < len(line.words):
            raise InvalidInput.at(line.words, position)
        return found


def _read(slot: Slot, word: str, abbreviate: bool) -> str:
    if slot.literal is None:
        return slot.read(word)
    if word.lower() == slot.literal.lower() or (abbreviate and slot.literal.startswith(word.lower())):
        return slot.literal
    raise ValueError(f"{word}: not {slot.literal}")


def _slot(part: str) -> Slot:
    if part[0] not in "{<":
        return Slot(part, str, part, identity=True)
    name = part[1:-1]
    return Slot(None, _reader(name), name, identity=part[0] == "{")


def _reader(name: str) -> Reader:
    if name in READERS:
        return READERS[name]
    if bounds := re.fullmatch(r"(\d+)-(\d+)", name):
        return _integer(int(bounds[1]), int(bounds[2]))
    return _choice(name.split("|"))


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


@dataclass(frozen=True)
class Statement:
    """One kind of configuration line.

    `default` is what holds when the line is absent (shown by `show running-config all`); `negative` says that the
    `no` form is a setting of its own; `same_as` is the line that this one is only another spelling of; `mode` is the
    block that the line opens; `update` computes the new line from the old one and the words (None removes it);
    `permanent` blocks exist always; a block that is not `shown_empty` is left out while it holds no lines; `heredoc`
    takes lines of text up to EOF. `check` refuses a line by raising EosError, `then` does what else the line causes;
    both get the root of the configuration and the line.
    """

    template: Template
    default: str | None = None
    negative: bool = False
    same_as: str | None = None
    mode: Mode | None = None
    update: Callable[[str | None, list[str]], str | None] | None = None
    permanent: bool = False
    shown_empty: bool = True
    heredoc: bool = False
    check: Callable[[Any, str], None] | None = None
    then: Callable[[Any, str], None] | None = None


def line(template: str, default: str | None = None, **options: Any) -> Statement:
    """A statement from the text of its template."""
    return Statement(Template(template), default, **options)


@dataclass(frozen=True, eq=False)
class Mode:
    """A block of the configuration: the name in its prompt and its statements in the order of `show running-config`.

    A block with `kept` keeps, as that statement, also the lines that nothing else reads, in the order of entering.
    """

    prompt: str
    statements: tuple[Statement, ...] = field(default=(), repr=False)
    kept: Statement | None = None

    @cached_property
    def _ranks(self) -> dict[int, int]:
        ranks = {id(statement): rank for rank, statement in enumerate(self.statements)}
        return {**ranks, id(self.kept): -1}

    def rank(self, statement: Statement) -> int:
        """The position of a statement in this block; kept lines come first."""
        return self._ranks[id(statement)]

    def find(self, words: Words, abbreviate: bool) -> Match:
        """The statement that reads this line.

        If there is none: InvalidInput, at the word up to which the best statement could read.
        """
        return _find(self.statements, words, abbreviate)

    def find_kept(self, words: Words) -> Match | None:
        """The line as one to be kept, if this block keeps lines."""
        return _find((self.kept,), words, abbreviate=False) if self.kept else None


def _find(statements: tuple[Statement, ...], words: Words, abbreviate: bool) -> Match:
    negation = words.words[0].lower() if words.words[0].lower() in ("no", "default") else None
    furthest = InvalidInput.at(words.words, 0)
    for statement in statements:
        template = statement.template
        try:
            if negation:
                return Match(statement, negation, template.match(words, abbreviate, 1, template.key_length))
            return Match(statement, None, template.match(words, abbreviate))
        except InvalidInput as error:
            furthest = error if error.token > furthest.token else furthest
    raise furthest


class Match(NamedTuple):
    """A line that was read: its statement, `no`, `default` or None, and the canonical words behind that."""

    statement: Statement
    negation: str | None
    words: list[str]
