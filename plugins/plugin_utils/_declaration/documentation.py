# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of pods.yml for people and editors: rows of a table, options of the inventory plugin, JSON Schema. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .._pod.kinds import Key, MapOf, Record
from .declaration import FOR_THE_SIMULATOR
from .keys import DOCUMENT


def rows(record: Record, prefix: str = "") -> Iterator[tuple[str, Key]]:
    """Every key in a record with its path, such as ``pods.NAME.model``; a key that holds others comes before them."""
    for key in record.keys:
        named = key.kind if isinstance(key.kind, MapOf) else None
        path = f"{prefix}{key.name}.{named.name}" if named else f"{prefix}{key.name}"
        yield path, key
        inner = named.value if named else key.kind
        if isinstance(inner, Record):
            yield from rows(inner, f"{path}.")


def plugin_options() -> dict[str, Any]:
    """Options of the inventory plugin: each mapping at the top, with what may stand in it under a name."""
    return {key.name: _option(key, key.kind) for key in DOCUMENT.keys if isinstance(key.kind, MapOf)}


def json_schema() -> dict[str, Any]:
    """The whole file as JSON Schema, draft 2020-12."""
    simulator = {FOR_THE_SIMULATOR: {"description": "For the simulated pod; not looked at."}}
    properties = {**DOCUMENT.json_schema["properties"], **simulator}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "pods.yml of the Ansible collection ipu.pod",
        **DOCUMENT.json_schema,
        "properties": properties,
    }


def _option(key: Key, kind: MapOf) -> dict[str, Any]:
    inner = kind.value if isinstance(kind.value, Record) else Record()
    lines = [f"By name, {key.meaning}.", *(_line(path, each) for path, each in rows(inner))]
    described = {"description": [re.sub("`([^`]*)`", r"C(\1)", line) for line in lines], "type": "dict"}
    return {**described, **({"required": True} if key.required else {"default": key.default})}


def _line(path: str, key: Key) -> str:
    return f"`{path}` ({key.summary}) - {key.meaning}.{key.more}"
