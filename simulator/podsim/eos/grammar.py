# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of configuration line, and the blocks that hold them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

from podsim.eos.errors import InvalidInput
from podsim.eos.releases import DEFAULT_RELEASE, Number, Release
from podsim.eos.templates import Template, Words, split


@dataclass(frozen=True)
class Statement:
    """One kind of configuration line.

    `default` is what holds when the line is absent (shown by `show running-config all`); `negative` says that the
    `no` form is a setting of its own; `clears` that there is only a `no` form, which removes every line that begins
    so; `same_as` is the line, or its words before the values, that this one is only another spelling of, and `shown_in`
    the releases that show this spelling (from, before); `since` is the first release that reads it; `mode` is the block
    that the line opens; `update` computes the new line from the old one and the words (None removes it); `permanent`
    blocks exist always; a block that is not `shown_empty` is left out while it holds no lines; `heredoc` takes lines
    of text up to EOF. `check` refuses a line by raising EosError, `then` does what else the line causes and `undo` what
    its removal causes; all three get the root of the configuration and the line.
    """

    template: Template
    default: str | None = None
    negative: bool = False
    clears: bool = False
    same_as: str | None = None
    shown_in: tuple[Number, Number] | None = None
    since: Number = ()
    mode: Mode | None = None
    update: Callable[[str | None, list[str]], str | None] | None = None
    permanent: bool = False
    shown_empty: bool = True
    heredoc: bool = False
    check: Callable[[Any, str], None] | None = None
    then: Callable[[Any, str], None] | None = None
    undo: Callable[[Any, str], None] | None = None

    def is_shown_by(self, release: Release) -> bool:
        """Whether this is another spelling of a line, which the release shows."""
        return bool(self.same_as and self.shown_in and self.shown_in[0] <= release.number < self.shown_in[1])

    def shown_for(self, line: str) -> str | None:
        """The line in this spelling, if it is another one of the line."""
        if not self.same_as:
            return None
        has_values = self.template.key_length < len(self.template.slots)
        if line != self.same_as and not (has_values and line.startswith(f"{self.same_as} ")):
            return None
        return self.template.key + line.removeprefix(self.same_as)


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

    # The lines of a configuration are read again and again.
    @lru_cache(maxsize=4096)  # noqa: B019  (there are as many blocks as the grammar has)
    def find(self, words: Words, abbreviate: bool, release: Release = DEFAULT_RELEASE) -> Match:
        """The statement that reads this line in that release, whichever way the line is spelled.

        If there is none: InvalidInput, at the word up to which the best statement could read.
        """
        match = _find(self.statements, words, abbreviate, release)
        if match.statement.same_as is None:
            return match
        values = match.words[match.statement.template.key_length :]
        return _find(self.statements, split(" ".join([match.negation or "", match.statement.same_as, *values])))

    def find_kept(self, words: Words) -> Match | None:
        """The line as one to be kept, if this block keeps lines."""
        return _find((self.kept,), words) if self.kept else None

    def spelled(self, line: str, release: Release) -> str:
        """A line of this block as that release shows it."""
        return next((shown for other in self._spellings(release) if (shown := other.shown_for(line))), line)

    # Few lines have another spelling, and every line of a configuration asks.
    @cache  # noqa: B019  (there are as many blocks as the grammar has)
    def _spellings(self, release: Release) -> tuple[Statement, ...]:
        return tuple(statement for statement in self.statements if statement.is_shown_by(release))


def _find(
    statements: tuple[Statement, ...], words: Words, abbreviate: bool = False, release: Release | None = None
) -> Match:
    negation = words.words[0].lower() if words.words[0].lower() in ("no", "default") else None
    start = 1 if negation else 0
    furthest = InvalidInput.at(words.words, start)
    for statement in statements:
        template = statement.template
        if not template.may_begin_with(words.words[start : start + 1], abbreviate):
            continue
        if release and not release.has(statement.since):
            continue
        try:
            if negation:
                return Match(statement, negation, template.match(words, abbreviate, start, template.key_length))
            found = template.match(words, abbreviate)
            if not statement.clears:
                return Match(statement, None, found)
        except InvalidInput as error:
            furthest = error if error.token > furthest.token else furthest
    raise furthest


class Match(NamedTuple):
    """A line that was read: its statement, `no`, `default` or None, and the canonical words behind that."""

    statement: Statement
    negation: str | None
    words: list[str]
