# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe what a document may hold, and say everything that is wrong with one, each with its key path."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._text.line import one_line

from .wording import listed, meant, shown

MISSING = "is missing; it has to be declared"
EMPTY = "has no value; write one, or leave the key out"
FIRST_VERSION = "1.0.0"

# What begins a pattern whose texts hold no template of Ansible's.
NO_TEMPLATE = r"(?!.*\{[{%#])"
WITHOUT_TEMPLATES = "without '{{', '{%' and '{#', since what is declared is never a template"

# A key path, and what is wrong there.
Finding = tuple[str, str]


@dataclass(frozen=True)
class Problem:
    """An error under one key path, such as ``pods.pod001.model``, and its position in the file, if that is known."""

    path: str
    message: str
    file: str = ""
    # Both from 1.
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f"{self.file}:{self.line}:{self.column}: "
        return one_line(f"{place}{self.path}: {self.message}" if self.path else f"{place}{self.message}")


class DeclarationError(Exception):
    """A declaration that cannot be meant: ``problems`` says all that is wrong, in one sentence each."""

    def __init__(self, found: Sequence[Problem | str]) -> None:
        self.found = [each if isinstance(each, Problem) else Problem("", each) for each in found]
        self.problems = [str(problem) for problem in self.found]
        super().__init__("\n".join(self.problems))


@dataclass
class Problems:
    """Collects the problems, so that all of them are reported at once."""

    found: list[Problem] = field(default_factory=list)

    def add(self, path: str, message: str) -> Any:
        """``path`` is the key path in the file, for example ``pods.pod001.model``. Returns None, the checked value."""
        self.found.append(Problem(path, message))

    def raise_if_any(self) -> None:
        """Raises :class:`DeclarationError` with everything found."""
        if self.found:
            raise DeclarationError(self.found)


@dataclass
class Kind:
    """A kind of value: ``words`` describe the allowed values to a person, ``json_schema`` to editors.

    ``check(value, path, problems)`` returns the value, or None after having reported under ``path`` what is wrong.
    """

    words: str
    json_schema: Mapping[str, Any]
    check: Callable[[Any, str, Problems], Any]


def scalar(words: str, json_schema: Mapping[str, Any], wrong: str, read: Callable[[Any], Any]) -> Kind:
    """A kind whose values are checked as a whole.

    ``read`` returns the value, None for one that is ``wrong``, or raises ValueError with what is wrong with it.
    """

    def check(value: Any, path: str, problems: Problems) -> Any:
        try:
            found = read(value)
        except ValueError as error:
            return problems.add(path, str(error))
        return problems.add(path, f"{shown(value)} {wrong}") if found is None else found

    return Kind(words, json_schema, check)


def choice(*choices: str) -> Kind:
    """One of a few words."""
    words = listed([f"`{each}`" for each in choices], "or")
    use = f"use one of {', '.join(choices)}" if len(choices) > 1 else f"use {choices[0]}"

    def read(value: Any) -> Any:
        if value in choices:
            return value
        nearly = meant(value, choices) if isinstance(value, str) else ""
        raise ValueError(f"{shown(value)} is not known{nearly}; {use}")

    return scalar(words, {"enum": list(choices)}, "", read)


def integer(lowest: int, highest: int, called: str = "") -> Kind:
    """A whole number in a range, both ends included; ``called`` names it where its range says nothing."""

    def read(value: Any) -> Any:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if isinstance(value, str) and re.fullmatch(r"[1-9][0-9]{0,9}", value) and lowest <= int(value) <= highest:
            raise ValueError(f"{value!r} is a text; write it without quotes")
        return value if is_number and lowest <= value <= highest else None

    words = called or " to ".join(dict.fromkeys(map(str, (lowest, highest))))
    json_schema = {"type": "integer", "minimum": lowest, "maximum": highest}
    wrong = f"is not a whole number from {lowest} to {highest}" if lowest < highest else f"is not known; use {lowest}"
    return scalar(words, json_schema, wrong, read)


def text(pattern: str = r".+", what: str = "a text", called: str = "") -> Kind:
    """A string of a given shape; ``what`` names it for a person, and ``called`` in few words."""

    def read(value: Any) -> Any:
        if isinstance(value, (bool, int, float)) and re.fullmatch(pattern, str(value)):
            raise ValueError(f"{shown(value)} is no text; write it in quotes")
        return value if isinstance(value, str) and re.fullmatch(pattern, value) else None

    return scalar(called or what, {"type": "string", "pattern": f"^({pattern})$"}, f"is not {what}", read)


def _ipv4_address(value: Any) -> str | None:
    try:
        address = ipaddress.IPv4Address(value) if isinstance(value, str) else None
    except ValueError:
        return None
    for is_such, what in _NO_DEVICES.items():
        if address and getattr(address, is_such):
            raise ValueError(f"{address} is {what}, which no device has; write its own address")
    return str(address) if address else None


# By the properties of addresses.
_NO_DEVICES = {
    "is_unspecified": "the address of nobody",
    "is_multicast": "a multicast address",
    "is_reserved": "a reserved address",
}


FLAG = scalar(
    "`true` or `false`",
    {"type": "boolean"},
    "is neither true nor false",
    lambda value: value if isinstance(value, bool) else None,
)
ADDRESS = scalar(
    "an IPv4 address",
    {"type": "string", "format": "ipv4"},
    "is not an IPv4 address such as 10.3.1.101",
    _ipv4_address,
)


def either(words: str, kinds: Sequence[Kind], kind_of: Callable[[Any], Kind]) -> Kind:
    """A value of one of several kinds; ``kind_of`` says of which."""
    json_schema = {"anyOf": [kind.json_schema for kind in kinds]}
    return Kind(words, json_schema, lambda value, path, problems: kind_of(value).check(value, path, problems))


def list_of(item: Kind, repeat: bool = False) -> Kind:
    """A list, with no value twice unless it may ``repeat``."""

    def check(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, list):
            return problems.add(
                path, f"{shown(value)} is not a list; write [{value if isinstance(value, str) else '...'}]"
            )
        items = [item.check(each, f"{path}[{index}]", problems) for index, each in enumerate(value)]
        for index, each in enumerate(items):
            if each is not None and each in items[:index] and not repeat:
                problems.add(f"{path}[{index}]", f"{each!r} is listed twice; keep one")
        return items

    json_schema = {"type": "array", "items": item.json_schema, "uniqueItems": not repeat}
    return Kind(f"a list, each {item.words}", json_schema, check)


def _no_mapping(value: Any, remedy: str) -> str:
    return f"{'has no value' if value is None else f'{shown(value)} is not a mapping'}; write {remedy}"


class MapOf(Kind):
    """A mapping from names to values of one kind; ``name`` stands for any of them in the documentation."""

    def __init__(self, key: Kind, value: Kind, name: str = "NAME") -> None:
        names = {"pattern": key.json_schema["pattern"]}
        json_schema = {"type": "object", "propertyNames": names, "additionalProperties": value.json_schema}
        super().__init__(value.words, json_schema, self._check)
        self.key, self.value, self.name = key, value, name

    def _check(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, Mapping):
            return problems.add(path, _no_mapping(value, "name: value"))
        result = {}
        for name, item in value.items():
            here = f"{path}.{name}" if path else str(name)
            self.key.check(name, here, problems)
            result[name] = self.value.check(item, here, problems)
        return result


@dataclass(frozen=True)
class Key:
    """One key of a mapping."""

    name: str
    kind: Kind
    # What it is if it is left out.
    default: Any = None
    # The same in words, where it follows from something else, or nothing is done then.
    derived: str = ""
    required: bool = False
    # The section of docs/ that says more, such as ``vpods.md#containers``.
    see: str = ""
    since: str = FIRST_VERSION
    # In one line; code in backticks.
    meaning: str = ""

    def means(self, meaning: str) -> Key:
        """The key with its meaning, in one line with code in backticks."""
        return replace(self, meaning=meaning)

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

    @property
    def json_schema(self) -> dict[str, Any]:
        """Its value for editors, with all that is known of it."""
        default = {} if self.default is None or self.derived else {"default": self.default}
        return {"description": f"{self.meaning} ({self.summary}).{self.more}", **self.kind.json_schema, **default}


class Record(Kind):
    """A mapping with known keys; ``kinds`` are those of their values, by key."""

    def __init__(self, *keys: Key) -> None:
        properties = {key.name: key.json_schema for key in keys}
        required = [key.name for key in keys if key.required]
        json_schema = {"type": "object", "additionalProperties": False, "properties": properties}
        super().__init__("a mapping", {**json_schema, **({"required": required} if required else {})}, self._check)
        self.keys = keys
        self.kinds = {key.name: key.kind for key in keys}

    def _check(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, Mapping):
            return problems.add(path or "pods.yml", _no_mapping(value, "key: value"))
        prefix = f"{path}." if path else ""
        for key in self.keys:
            if key.required and key.name not in value:
                problems.add(f"{prefix}{key.name}", MISSING)
        result: dict[str, Any] = {}
        for name, item in value.items():
            if name not in self.kinds:
                known = f"known are {', '.join(sorted(self.kinds))}"
                problems.add(f"{prefix}{name}", f"is not a known key{meant(name, self.kinds)}; {known}")
            elif item is None:
                self._check_empty(name, f"{prefix}{name}", problems)
            else:
                checked = self.kinds[name].check(item, f"{prefix}{name}", problems)
                if checked is not None:
                    result[name] = checked
        return result

    def _check_empty(self, name: str, path: str, problems: Problems) -> None:
        """A mapping of which every line is commented out is as good as none; a value that was forgotten is not."""
        (key,) = (key for key in self.keys if key.name == name)
        if key.required or not isinstance(key.kind, (MapOf, Record)):
            problems.add(path, EMPTY if not key.required else "has no value; it has to be declared")

    def complete(self, checked: Mapping[str, Any]) -> dict[str, Any]:
        """A value for every key, as ``check`` returned it or else its default; tuples for lists."""
        values = {key.name: checked.get(key.name, key.default) for key in self.keys}
        return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
