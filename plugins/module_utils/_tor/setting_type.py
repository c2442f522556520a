# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A setting: one line in a block of EOS configuration, read into one or two fields and written from them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Iterable, Mapping, Sequence, Tuple

from .._plan.steps import Fields

Spelling = Tuple[str, Callable[[Fields, Tuple[str, ...]], Fields]]
"""A pattern of a whole line, and which fields it sets, from the fields read so far and the pattern's groups."""

# The one of re takes longer to find a pattern again than to match a line.
_compiled = lru_cache(maxsize=None)(re.compile)


@dataclass(frozen=True)
class Setting:
    """One setting: how EOS spells it in the running-config, and the lines that make it so.

    ``defaults`` are its fields, with what holds where the running-config has no line for it. ``lines`` gives the
    configuration lines from the fields before to the fields after.
    """

    defaults: Fields
    spellings: tuple[Spelling, ...]
    lines: Callable[[Fields, Fields], list[str]]

    def read(self, fields: Fields, line: str) -> Fields | None:
        """The fields that a line of the running-config changes; None where the line is not about this setting."""
        for pattern, change in self.spellings:
            match = _compiled(pattern).fullmatch(line)
            if match:
                return change(fields, match.groups())
        return None


def setting(
    name: str, default: Any, spellings: Mapping[str, Callable[[str], Any]], lines: Callable[[Any], str | list[str]]
) -> Setting:
    """A setting of one field whose line, or lines, do not depend on what was there.

    ``default`` holds where the running-config has no line for it. The spellings are patterns of a whole line, with the
    value that the group (or an empty text) means.
    """

    def written(_before: Fields, after: Fields) -> list[str]:
        spelled = lines(after[name])
        return [spelled] if isinstance(spelled, str) else spelled

    def valued(value: Callable[[str], Any]) -> Callable[[Fields, tuple[str, ...]], Fields]:
        return lambda _fields, groups: {name: value(groups[0] if groups else "")}

    return Setting({name: default}, tuple((pattern, valued(value)) for pattern, value in spellings.items()), written)


def always(value: Any) -> Callable[[str], Any]:
    """The value of a spelling that has no variable part."""
    return lambda _text: value


def defaults_of(settings: Iterable[Setting]) -> Fields:
    """Return the fields of a block without lines."""
    fields: dict[str, Any] = {}
    for each in settings:
        fields.update(each.defaults)
    return fields


def fields_of(settings: Sequence[Setting], lines: Iterable[str]) -> Fields:
    """Return the fields that the lines of a block set."""
    fields = defaults_of(settings)
    for line in lines:
        for each in settings:
            fields.update(each.read(fields, line) or {})
    return fields


def is_ours(settings: Sequence[Setting], line: str) -> bool:
    """Return whether a line of a block belongs to one of these settings."""
    fields = defaults_of(settings)
    return any(each.read(fields, line) is not None for each in settings)


def lines_between(settings: Sequence[Setting], before: Fields, after: Fields) -> list[str]:
    """The lines that change a block; fields that ``after`` does not have, or has as None, are kept."""
    lines: list[str] = []
    for each in settings:
        known = [name for name in each.defaults if after.get(name) is not None]
        if any(name not in before or before[name] != after[name] for name in known):
            lines += each.lines({**each.defaults, **before}, {**each.defaults, **after})
    return lines
