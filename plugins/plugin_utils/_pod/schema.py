# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe what a document may hold, and say everything that is wrong with one, each with its key path."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .wording import listed

MISSING = "is missing; it has to be declared"
FIRST_VERSION = "1.0.0"


@dataclass(frozen=True)
class Problem:
    """What is wrong under one key path, such as ``pods.pod001.model``, and where that stands, if it is known.

    ``place`` is a place in the file as compilers write it: ``pods.yml:14:5``, with line and column from 1.
    """

    path: str
    message: str
    file: str = ""
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f"{self.file}:{self.line}:{self.column}: "
        return f"{place}{self.path}: {self.message}" if self.path else f"{place}{self.message}"


class DeclarationError(Exception):
    """A declaration that cannot be meant.

    ``found`` is everything that is wrong with it; ``problems`` says it in one sentence each, and the message in all.
    """

    def __init__(self, found: Sequence[Problem | str]) -> None:
        self.found = [each if isinstance(each, Problem) else Problem("", each) for each in found]
        self.problems = [str(problem) for problem in self.found]
        super().__init__("\n".join(self.problems))


@dataclass
class Problems:
    """Collects what is wrong, so that all of it is said at once."""

    found: list[Problem] = field(default_factory=list)

    def add(self, path: str, message: str) -> Any:
        """``path`` is the key path in the file, for example ``pods.pod001.model``. Returns None, the checked value."""
        self.found.append(Problem(path, message))

    def raise_if_any(self) -> None:
        """Raises :class:`DeclarationError` with everything found."""
        if self.found:
            raise DeclarationError(self.found)


class Kind:
    """What one value may be."""

    @property
    def words(self) -> str:
        """The same for a person, in few words."""
        raise NotImplementedError

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        """The value, or None after having reported under ``path`` what is wrong with it."""
        raise NotImplementedError

    def json_schema(self) -> dict[str, Any]:
        """The same for editors, as JSON Schema."""
        raise NotImplementedError


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few words."""

    choices: tuple[str, ...]

    @property
    def words(self) -> str:
        return listed([f"`{choice}`" for choice in self.choices], "or")

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if value in self.choices:
            return value
        return problems.add(path, f"{value!r} is not known; use one of {', '.join(self.choices)}")

    def json_schema(self) -> dict[str, Any]:
        return {"enum": list(self.choices)}


@dataclass(frozen=True)
class Integer(Kind):
    """A whole number in a range, both ends included; ``called`` names it where its range says nothing."""

    lowest: int
    highest: int
    called: str = ""

    @property
    def words(self) -> str:
        return self.called or " to ".join(dict.fromkeys(map(str, (self.lowest, self.highest))))

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and self.lowest <= value <= self.highest:
            return value
        return problems.add(path, f"{value!r} is not a whole number from {self.lowest} to {self.highest}")

    def json_schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.lowest, "maximum": self.highest}


class Flag(Kind):
    """True or false."""

    words = "`true` or `false`"

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, bool):
            return value
        return problems.add(path, f"{value!r} is neither true nor false")

    def json_schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Text(Kind):
    """A string of a given shape; ``what`` names it for a person, and ``called`` in few words."""

    pattern: str = r".+"
    what: str = "a text"
    called: str = ""

    @property
    def words(self) -> str:
        return self.called or self.what

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and re.fullmatch(self.pattern, value):
            return value
        return problems.add(path, f"{value!r} is not {self.what}")

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^({self.pattern})$"}


class Address(Kind):
    """An IPv4 address without prefix."""

    words = "an IPv4 address"

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        try:
            return str(ipaddress.IPv4Address(value))
        except ValueError:
            return problems.add(path, f"{value!r} is not an IPv4 address such as 10.3.1.101")

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "format": "ipv4"}


@dataclass(frozen=True)
class ListOf(Kind):
    """A list, with no value twice unless it may ``repeat``."""

    item: Kind
    repeat: bool = False

    @property
    def words(self) -> str:
        return f"a list, each {self.item.words}"

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, list):
            return problems.add(path, f"{value!r} is not a list; write [...]")
        items = [self.item.check(item, f"{path}[{index}]", problems) for index, item in enumerate(value)]
        for index, item in enumerate(items):
            if item is not None and item in items[:index] and not self.repeat:
                problems.add(f"{path}[{index}]", f"{item!r} is listed twice; keep one")
        return items

    def json_schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item.json_schema(), "uniqueItems": not self.repeat}


@dataclass(frozen=True)
class MapOf(Kind):
    """A mapping from names to values of one kind; ``name`` stands for any of them in the documentation."""

    key: Text
    value: Kind
    name: str = "NAME"

    @property
    def words(self) -> str:
        return self.value.words

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, Mapping):
            return problems.add(path, f"{value!r} is not a mapping; write name: value")
        result = {}
        for name, item in value.items():
            self.key.check(name, f"{path}.{name}" if path else str(name), problems)
            result[name] = self.value.check(item, f"{path}.{name}" if path else str(name), problems)
        return result

    def json_schema(self) -> dict[str, Any]:
        names = {"pattern": self.key.json_schema()["pattern"]}
        return {"type": "object", "propertyNames": names, "additionalProperties": self.value.json_schema()}


@dataclass(frozen=True)
class Key:
    """One key of a mapping.

    Attributes:
        name: how it is written.
        kind: what its value may be.
        meaning: in one line; code in backticks.
        default: what it is if it is left out.
        derived: the same in words, where it follows from something else, or nothing is done then.
        required: whether it has to be given.
        see: the section of docs/ that says more, such as ``vpods.md#containers``.
        since: the version that brought it.
    """

    name: str
    kind: Kind
    meaning: str
    default: Any = None
    derived: str = ""
    required: bool = False
    see: str = ""
    since: str = FIRST_VERSION

    @property
    def default_words(self) -> str:
        """The default for a person."""
        if self.required or self.derived:
            return self.derived or "required"
        if self.default in (None, (), {}):
            return "none"
        return f"`{self.default if isinstance(self.default, str) else json.dumps(self.default)}`"

    @property
    def summary(self) -> str:
        """The values that it may have, and which one it has if it is left out."""
        default = self.default_words
        return f"{self.kind.words}; {default if default.startswith('required') else f'default {default}'}"

    @property
    def more(self) -> str:
        """Where more is said, and since when there is the key, if not always."""
        see = f" See docs/{self.see}." if self.see else ""
        return see if self.since == FIRST_VERSION else f"{see} Since {self.since}."


@dataclass(frozen=True)
class Record(Kind):
    """A mapping with known keys."""

    keys: tuple[Key, ...]

    words = "a mapping"

    @property
    def kinds(self) -> dict[str, Kind]:
        """What the values may be, by key."""
        return {key.name: key.kind for key in self.keys}

    def check(self, value: Any, path: str, problems: Problems) -> Any:
        """The mapping, without the keys that are not given."""
        if not isinstance(value, Mapping):
            return problems.add(path or "pods.yml", f"{value!r} is not a mapping; write key: value")
        prefix = f"{path}." if path else ""
        kinds = self.kinds
        for key in self.keys:
            if key.required and value.get(key.name) is None:
                problems.add(f"{prefix}{key.name}", MISSING)
        result: dict[str, Any] = {}
        for name, item in value.items():
            if name not in kinds:
                problems.add(f"{prefix}{name}", f"is not a known key; known are {', '.join(sorted(kinds))}")
            elif item is not None:
                checked = kinds[name].check(item, f"{prefix}{name}", problems)
                if checked is not None:
                    result[name] = checked
        return result

    def complete(self, checked: Mapping[str, Any]) -> dict[str, Any]:
        """A value for every key, as :meth:`check` returned it or else its default; tuples for lists."""
        values = {key.name: checked.get(key.name, key.default) for key in self.keys}
        return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}

    def json_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}
        for key in self.keys:
            about = f"{key.meaning} ({key.summary}).{key.more}"
            default = {} if key.default is None or key.derived else {"default": key.default}
            schema["properties"][key.name] = {"description": about, **key.kind.json_schema(), **default}
        required = [key.name for key in self.keys if key.required]
        return {**schema, "required": required} if required else schema
