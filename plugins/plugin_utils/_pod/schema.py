# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe what a document may hold, and say everything that is wrong with one, each with its key path."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MISSING = "is missing; it has to be declared"


class DeclarationError(Exception):
    """A declaration that cannot be meant; ``problems`` holds one sentence each, the message all of them."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


@dataclass
class Problems:
    """Collects what is wrong, so that all of it is said at once."""

    found: list[str] = field(default_factory=list)

    def add(self, path: str, message: str) -> Any:
        """``path`` is the key path in the file, for example ``pods.pod001.model``. Returns None, the checked value."""
        self.found.append(f"{path}: {message}")

    def raise_if_any(self) -> None:
        """Raises :class:`DeclarationError` with everything found."""
        if self.found:
            raise DeclarationError(self.found)


class Kind:
    """What one value may be. ``check`` returns the value, or None after having reported a problem."""

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        """Report what is wrong with ``value`` under ``path``."""
        raise NotImplementedError


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few words."""

    words: tuple[str, ...]

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if value in self.words:
            return value
        return problems.add(path, f"{value!r} is not known; use one of {', '.join(self.words)}")


@dataclass(frozen=True)
class Integer(Kind):
    """A whole number in a range, both ends included."""

    lowest: int
    highest: int

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and self.lowest <= value <= self.highest:
            return value
        return problems.add(path, f"{value!r} is not a whole number from {self.lowest} to {self.highest}")


class Flag(Kind):
    """True or false."""

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, bool):
            return value
        return problems.add(path, f"{value!r} is neither true nor false")


@dataclass(frozen=True)
class Text(Kind):
    """A string of a given shape; ``what`` names it for a person."""

    pattern: str = r".+"
    what: str = "a text"

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and re.fullmatch(self.pattern, value):
            return value
        return problems.add(path, f"{value!r} is not {self.what}")


class Address(Kind):
    """An IPv4 address without prefix."""

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        try:
            return str(ipaddress.IPv4Address(value))
        except ValueError:
            return problems.add(path, f"{value!r} is not an IPv4 address such as 10.3.1.101")


@dataclass(frozen=True)
class ListOf(Kind):
    """A list, with no value twice unless it may ``repeat``."""

    item: Kind
    repeat: bool = False

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, list):
            return problems.add(path, f"{value!r} is not a list; write [...]")
        items = [self.item.check(item, f"{path}[{index}]", problems) for index, item in enumerate(value)]
        for index, item in enumerate(items):
            if item is not None and item in items[:index] and not self.repeat:
                problems.add(f"{path}[{index}]", f"{item!r} is listed twice; keep one")
        return items


@dataclass(frozen=True)
class MapOf(Kind):
    """A mapping from names to values of one kind."""

    key: Text
    value: Kind

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, Mapping):
            return problems.add(path, f"{value!r} is not a mapping; write name: value")
        result = {}
        for name, item in value.items():
            self.key.check(name, f"{path}.{name}" if path else str(name), problems)
            result[name] = self.value.check(item, f"{path}.{name}" if path else str(name), problems)
        return result


@dataclass(frozen=True)
class Record(Kind):
    """A mapping with known keys; keys that are not given are left out of the result."""

    fields: Mapping[str, Kind]
    required: tuple[str, ...] = ()

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, Mapping):
            return problems.add(path or "pods.yml", f"{value!r} is not a mapping; write key: value")
        prefix = f"{path}." if path else ""
        for key in self.required:
            if key not in value:
                problems.add(f"{prefix}{key}", MISSING)
        result: dict[str, Any] = {}
        for key, item in value.items():
            if key not in self.fields:
                problems.add(f"{prefix}{key}", f"is not a known key; known are {', '.join(sorted(self.fields))}")
            elif item is not None:
                checked = self.fields[key].check(item, f"{prefix}{key}", problems)
                if checked is not None:
                    result[key] = checked
        return result
