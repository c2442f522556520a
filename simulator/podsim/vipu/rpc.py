# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""gRPC calls: each takes a dict and gives a dict; an interface says how they look on the wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Handler = Callable[[dict[str, Any], Mapping[str, str]], dict[str, Any]]
"""Answers one call: (request, call metadata) -> reply. Raises Refused."""


class Unreachable(Exception):
    """Nobody answers at that address, or not in time."""


class Codec(NamedTuple):
    """How a dict becomes bytes and back."""

    encode: Callable[[dict[str, Any]], bytes]
    decode: Callable[[bytes], dict[str, Any]]


class Interface(NamedTuple):
    """A service's full name and, for each method, the codecs of request and reply."""

    name: str
    methods: dict[str, tuple[Codec, Codec]]


class Service(NamedTuple):
    """An interface with the handlers that answer it."""

    interface: Interface
    handlers: dict[str, Handler]


def _encode_json(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode()


def _decode_json(data: bytes) -> dict[str, Any]:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("the payload is not a JSON object")
    return value


JSON = Codec(_encode_json, _decode_json)


def json_interface(name: str, methods: Sequence[str]) -> Interface:
    """An interface of our own, for what is not published: JSON objects both ways."""
    return Interface(name, dict.fromkeys(methods, (JSON, JSON)))
