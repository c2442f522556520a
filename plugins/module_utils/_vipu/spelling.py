# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our entities in V-IPU's words, and V-IPU's JSON in ours, by the tables of :mod:`.dialect`. Pure."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from .._plan.steps import Fields
from .dialect import (
    COMMANDS,
    COMMAS,
    COUNT,
    DISCOVERED,
    ENUM,
    ENUMS,
    LIST,
    LOOPED,
    PARTITION_STATUS,
    REFUSALS,
    REQUEST_SWITCHES,
    REQUIREMENTS,
    SHAPES,
    SWITCH,
    TEXT,
    Flag,
    Reading,
    Shape,
)
from .entities import ALLOCATION
from .sizes import IPUS_PER_MACHINE

WRITTEN: dict[str, Callable[[str, Any], list[str]]] = {
    TEXT: lambda flag, value: [flag, str(value)],
    COMMAS: lambda flag, value: [flag, ",".join(value)] if value else [],
    SWITCH: lambda flag, value: [flag] if value else [],
    LOOPED: lambda flag, value: [flag, "looped"] if value else [],
}


def create_arguments(kind: str, name: str, fields: Fields, by_agents: bool = False) -> list[str]:
    """The words after ``vipu-admin`` that create an entity; a field of None is the controller's choice.

    Args:
        kind: the kind of entity.
        name: its name.
        fields: its fields.
        by_agents: make an allocation of exactly its ``agents``; otherwise the controller picks them by ``size``.
    """
    words = ["create", kind, name]
    for flag in create_flags(kind):
        value = fields.get(flag.field)
        if value is None or (kind == ALLOCATION and flag.field == ("size" if by_agents else "agents")):
            continue
        # An enum's "default" is what the controller does without the flag.
        if not (flag.field in ENUMS and value == "default"):
            words += WRITTEN[flag.value](flag.name, value)
    return words


def create_flags(kind: str) -> list[Flag]:
    """The flags of ``create`` that carry a field."""
    return [
        flag
        for command in COMMANDS
        if (command.verb, command.entity) == ("create", kind)
        for flag in command.flags
        if flag.field
    ]


def create_request(name: str, fields: Fields) -> dict[str, Any]:
    """The ``CreatePartitionRequest`` of the published API that creates a partition."""
    requirements: dict[str, Any] = {"id": name}
    for field, place in REQUIREMENTS.items():
        if fields.get(field) is not None:
            requirements[place] = ENUMS[field][fields[field]] if field in ENUMS else fields[field]
    request: dict[str, Any] = {"requirements": requirements}
    request.update({switch: True for switch in REQUEST_SWITCHES if fields.get(switch)})
    return request


def read_entity(kind: str, entity: Mapping[str, Any]) -> tuple[str, Fields]:
    """Name and fields of one entity in the controller's JSON.

    Raises:
        KeyError: a field is missing. TypeError, AttributeError, ValueError: one has another type.
    """
    name = entity["id"]
    if not isinstance(name, str):
        raise TypeError(f"id {name!r} is no text")
    fields = read_shape(SHAPES[kind], entity)
    if kind == ALLOCATION:
        fields["size"] = len(fields["agents"]) * IPUS_PER_MACHINE
    return name, fields


def read_partition_status(status: Mapping[str, Any]) -> Fields:
    """``status``, ``operation``, ``errors`` and ``auto_resets`` of one partition. Raises as :func:`read_entity`."""
    return read_shape(PARTITION_STATUS, status)


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


def read_shape(shape: Shape, found: Mapping[str, Any]) -> Fields:
    """The fields that a shape describes. Raises as :func:`read_entity`."""
    return {reading.field: _read(reading, found) for reading in shape.readings}


def _read(reading: Reading, found: Mapping[str, Any]) -> Any:
    value: Any = found
    for key in reading.path:
        if reading.default is not None and key not in value:
            value = reading.default
            break
        value = value[key]
    if reading.value == LIST:
        return _list(value, reading)
    if reading.value == COUNT:
        return len(_list(value, reading))
    if reading.value == LOOPED:
        return value == "looped"
    return _our_word(reading.field, value) if reading.value == ENUM else value


def _list(value: Any, reading: Reading) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{'.'.join(reading.path)} {value!r} is no list")
    return list(value)


def _our_word(field: str, value: str) -> str:
    """Our word for a name of the published API; a name that is not known stays as it is."""
    return next((word for word, name in ENUMS[field].items() if name == value), value)
