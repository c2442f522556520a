# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our entities in V-IPU's words, and V-IPU's JSON in ours, by :mod:`.fields` and :mod:`.dialect`. Pure."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from .._plan.steps import Fields
from .dialect import DISCOVERED, PARTITION_STATUS, REFUSALS
from .entities import ALLOCATION, PARTITION
from .fields import COUNT, FIELDS, LOOPED, MACHINES, NAMES, SWITCH, Field
from .sizes import IPUS_PER_MACHINE

# Type of a field to how a flag carries its value; all others are written as they are.
WRITTEN: dict[str, Callable[[str, Any], list[str]]] = {
    NAMES: lambda flag, value: [flag, ",".join(value)] if value else [],
    SWITCH: lambda flag, value: [flag] if value else [],
    LOOPED: lambda flag, value: [flag, "looped"] if value else [],
}
# Type of a field to how the JSON shows its value; all others are shown as they are.
READ: dict[str, Callable[[Any], Any]] = {
    NAMES: list,
    COUNT: len,
    MACHINES: lambda agents: len(agents) * IPUS_PER_MACHINE,
    LOOPED: lambda word: word == "looped",
}


def create_arguments(kind: str, name: str, fields: Fields, by_agents: bool = False) -> list[str]:
    """The words after ``vipu-admin`` that create an entity; a field of None is the controller's choice.

    An allocation is made ``by_agents``, of exactly those, or else of agents that the controller picks by ``size``.
    """
    words = ["create", kind, name]
    for field in FIELDS[kind]:
        value = fields.get(field.name)
        if value is None or (kind == ALLOCATION and field.name == ("size" if by_agents else "agents")):
            continue
        # The word "default" is what the controller does without the flag.
        if field.flag and not (field.words and value == "default"):
            written = WRITTEN.get(field.type)
            words += written(field.flag.name, value) if written else [field.flag.name, str(value)]
    return words


def create_request(name: str, fields: Fields) -> dict[str, Any]:
    """The ``CreatePartitionRequest`` of the published API that creates a partition."""
    request: dict[str, Any] = {"requirements": {"id": name}}
    for field in FIELDS[PARTITION]:
        value = fields.get(field.name)
        if field.request and value is not None:
            message, _dot, place = field.request.rpartition(".")
            (request[message] if message else request)[place] = field.words[value] if field.words else value
    return request


def read_entity(kind: str, entity: Mapping[str, Any]) -> tuple[str, Fields]:
    """Name and fields of one entity in the controller's JSON.

    Raises:
        KeyError: a field is missing. TypeError, AttributeError, ValueError: one has another type.
    """
    name = entity["id"]
    if not isinstance(name, str):
        raise TypeError(f"id {name!r} is no text")
    return name, _read_all(FIELDS[kind], entity)


def read_partition_status(status: Mapping[str, Any]) -> Fields:
    """``status``, ``operation``, ``errors`` and ``auto_resets`` of one partition. Raises as :func:`read_entity`."""
    return _read_all(PARTITION_STATUS, status)


def read_discovered(printed: str) -> list[Fields]:
    """``name``, ``host`` and ``port`` of each agent in the table that ``discover agent`` prints.

    Raises:
        ValueError: there is no such table, or one of its rows is another.
    """
    lines = [[cell.strip() for cell in line.split("|")] for line in printed.splitlines() if "|" in line]
    if not lines or not set(DISCOVERED.values()) <= set(lines[0]):
        raise ValueError(f"there is no table with the columns {', '.join(DISCOVERED.values())}")
    header, *rows = lines
    agents = []
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row has {len(row)} cells, not {len(header)}")
        found = {field: row[header.index(column)] for field, column in DISCOVERED.items()}
        agents.append({**found, "port": int(found["port"])})
    return agents


def read_refusal(errors: str) -> str:
    """Why a controller did not do what it was asked, by :data:`.dialect.REFUSALS`; empty where that is not known."""
    return next((refusal.reason for refusal in REFUSALS if refusal.words in errors), "")


def _read_all(fields: Sequence[Field], found: Mapping[str, Any]) -> Fields:
    return {field.name: _read(field, found) for field in fields if field.shown}


def _read(field: Field, found: Mapping[str, Any]) -> Any:
    value: Any = found
    for key in field.shown.split("."):
        if field.missing is not None and key not in value:
            value = field.missing
            break
        value = value[key]
    if field.type in (NAMES, COUNT, MACHINES) and not isinstance(value, list):
        raise TypeError(f"{field.shown} {value!r} is no list")
    if field.words:
        # A name that is not known stays as it is.
        return next((word for word, name in field.words.items() if name == value), value)
    read = READ.get(field.type)
    return read(value) if read else value
