# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of modules as Ansible would hand them over: typed, with their defaults, and no other. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

Spec = Mapping[str, Any]

WORDS = {
    **dict.fromkeys(("yes", "on", "true", "1", "y", "t"), True),
    **dict.fromkeys(("no", "off", "false", "0", "n", "f"), False),
}


def typed(spec: Spec, value: Any, place: str) -> Any:
    """The value of an option by its ``spec``, as in a module's argument spec; a message names its ``place``.

    Refused if it is of another type, is no choice, or says something that no option is.
    """
    try:
        found = TYPES[spec["type"]](value)
    except (TypeError, ValueError):
        raise Refused(f"{place} is {value!r}, which is no {spec['type']}") from None
    if spec["type"] == "list":
        element = {**spec, "type": spec["elements"]}
        return [typed(element, each, _place_of(place, number, each)) for number, each in enumerate(found)]
    if spec["type"] == "dict" and "options" in spec:
        return _options(spec["options"], found, place)
    if found not in spec.get("choices", [found]):
        raise Refused(f"{place} is {found!r}; it can be {', '.join(spec['choices'])}")
    return found


def _options(options: Spec, given: Mapping[str, Any], place: str) -> dict[str, Any]:
    for name in given:
        if name not in options:
            raise Refused(f"{place}: there is no option {name}; there are {', '.join(sorted(options))}")
    found: dict[str, Any] = {}
    # In the order in which they are given, in which messages then show them.
    for name in dict.fromkeys([*given, *options]):
        spec, value = options[name], given.get(name)
        if value is None and spec.get("required"):
            raise Refused(f"{place} lacks {name}")
        found[name] = spec.get("default") if value is None else typed(spec, value, f"{place}: {name}")
    return found


def _place_of(place: str, number: int, element: Any) -> str:
    name = element.get("name") if isinstance(element, Mapping) else None
    return f"{place}: {name or f'entry {number + 1}'}"


def _text(value: Any) -> str:
    if isinstance(value, (Mapping, list)):
        raise TypeError
    return str(value)


def _number(value: Any) -> int:
    if isinstance(value, float) and int(value) != value:
        raise ValueError
    return int(value)


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    try:
        return WORDS[str(value).lower()]
    except KeyError:
        raise ValueError from None


def _list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return value.split(",")
    if not isinstance(value, list):
        raise TypeError
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError
    return value


TYPES: Mapping[str, Callable[[Any], Any]] = {
    "str": _text,
    "int": _number,
    "float": float,
    "bool": _truth,
    "list": _list,
    "dict": _mapping,
}
