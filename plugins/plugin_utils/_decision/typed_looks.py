# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of a look at a Linux host, from plain data back to the types that plans are made from. Pure."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from ansible_collections.ipu.pod.plugins.module_utils._rnic.server import Link
from ansible_collections.ipu.pod.plugins.module_utils._rnic.server import Server as RnicServer
from ansible_collections.ipu.pod.plugins.module_utils._rnic.uses import Uses
from ansible_collections.ipu.pod.plugins.module_utils._roce.client import TOOL_SETS
from ansible_collections.ipu.pod.plugins.module_utils._roce.survey import Survey as RoceServer
from ansible_collections.ipu.pod.plugins.module_utils._roce.survey import Surveyed


def rnic_server_from(data: Mapping[str, Any]) -> RnicServer:
    """The interfaces of a server, from the part ``links`` of its look."""
    server: RnicServer = from_plain(RnicServer, data)
    return server


def uses_from(data: Mapping[str, Any]) -> Uses:
    """Return the uses of the interfaces, from the part ``uses``."""
    uses: Uses = from_plain(Uses, data)
    return uses


def roce_server_from(data: Mapping[str, Any]) -> RoceServer:
    """Their lossless settings, from ``server`` of the part ``roce``; by the kernel's names."""
    return RoceServer(
        TOOL_SETS[data["tools"]],
        from_plain(Mapping[str, Link], data["links"]),
        from_plain(Mapping[str, Surveyed], data["interfaces"]),
    )


def from_plain(wanted: Any, data: Any) -> Any:
    """The value of a type, such as a dataclass or ``Mapping[str, Link]``, that ``plain`` has turned into data."""
    if wanted in PLAIN:
        return data
    if is_dataclass(wanted):
        hints = _hints(wanted)  # type: ignore[arg-type]
        return wanted(**{each.name: from_plain(hints[each.name], data[each.name]) for each in fields(wanted)})  # type: ignore[operator]
    make = MAKERS.get(get_origin(wanted))
    if make is None:
        raise TypeError(f"{wanted} cannot be made of plain data")
    return make(get_args(wanted), data)


@cache
def _hints(wanted: Any) -> Mapping[str, Any]:
    # They take longer than everything else here.
    return get_type_hints(wanted)


def _optional(hints: tuple[Any, ...], data: Any) -> Any:
    [only] = [each for each in hints if each is not types.NoneType]
    return None if data is None else from_plain(only, data)


def _mapping(hints: tuple[Any, ...], data: Any) -> Any:
    return {hints[0](key): from_plain(hints[1], item) for key, item in data.items()}


def _tuple(hints: tuple[Any, ...], data: Any) -> Any:
    if hints[1:] == (...,):
        return _sequence(hints, data)
    return tuple(from_plain(each, item) for each, item in zip(hints, data, strict=True))


def _sequence(hints: tuple[Any, ...], data: Any) -> Any:
    return tuple(from_plain(hints[0], item) for item in data)


def _set(hints: tuple[Any, ...], data: Any) -> Any:
    return frozenset(_sequence(hints, data))


PLAIN = (Any, str, int, float, bool)
MAKERS: Mapping[Any, Callable[[tuple[Any, ...], Any], Any]] = {
    Union: _optional,
    types.UnionType: _optional,
    Mapping: _mapping,
    dict: _mapping,
    tuple: _tuple,
    Sequence: _sequence,
    frozenset: _set,
}
