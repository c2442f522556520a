# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A session as a JSON document: from a scheduler, or from the first server to each of the others. Pure."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from .._plan.converge import Refused
from .arguments import Arguments, check

# The keys of a session, with their types and what these are called.
_TEXT, _TEXTS, _FLAG = (str, "a text"), (list, "a list of texts"), (bool, "true or false")
_REQUIRED: dict[str, tuple[Any, str]] = {
    "servers": _TEXTS,
    "ipus": (int, "a number"),
    "image": _TEXT,
    "command": _TEXTS,
}
_OPTIONAL: dict[str, tuple[Any, str]] = {
    "name": _TEXT,
    "vpod": _TEXT,
    "engine": _TEXT,
    "environment": (dict, "an object of texts"),
    "volumes": _TEXTS,
    "home": _FLAG,
    "shared_memory": _TEXT,
    "wait": ((int, float), "a number"),
}


def session_from(text: str) -> Arguments:
    """A session as a document says it. Raises Refused: it is not understood, or asks for what there cannot be."""
    data = _document(text)
    unknown = sorted(set(data) - {*_REQUIRED, *_OPTIONAL})
    if unknown:
        raise Refused(f"{unknown[0]}: a session has no such key; use {', '.join(sorted({*_REQUIRED, *_OPTIONAL}))}")
    _check_types(data, {**_REQUIRED, **_OPTIONAL})
    for key in _REQUIRED:
        if not data.get(key):
            raise Refused(f"{key}: is missing; a session has {', '.join(_REQUIRED)}")
    environment = data.pop("environment", {})
    lists = {key: tuple(value) for key, value in data.items() if isinstance(value, list)}
    asked = Arguments(**{**data, **lists, "environment": tuple(f"{name}={environment[name]}" for name in environment)})
    check(asked, "")
    return asked


def part_from(text: str) -> Arguments:
    """What the first server of a session asks of another one. Raises Refused: it is not what ipu-run writes."""
    data = _document(text)
    gcd = data.pop("gcd", None)
    asked = session_from(json.dumps({**data, "command": ["-"]}))
    is_number = isinstance(gcd, int) and not isinstance(gcd, bool)
    if not is_number or not 0 < gcd < len(asked.servers) or not asked.name or not asked.vpod:
        raise Refused("this is no part of a session; ipu-run starts parts itself, see ipu-run --help")
    return replace(asked, gcd=gcd, command=())


def part_for(asked: Arguments, gcd: int) -> str:
    """The same, for that other server, in one line."""
    environment = dict(setting.split("=", 1) for setting in asked.environment)
    wanted = {key: getattr(asked, key) for key in (*_REQUIRED, *_OPTIONAL) if key not in ("command", "wait")}
    return json.dumps({**wanted, "environment": environment, "gcd": gcd})


def _document(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the session is no JSON: {error}") from None
    if not isinstance(data, dict):
        raise Refused("the session is no JSON object; see docs/containers.md")
    return data


def _check_types(data: dict[str, Any], types: dict[str, tuple[Any, str]]) -> None:
    for key, value in data.items():
        wanted, called = types[key]
        inner = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
        is_right = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
        if not is_right or not all(isinstance(each, str) for each in inner):
            raise Refused(f"{key}: this is not {called}")
