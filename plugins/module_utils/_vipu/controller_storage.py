# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes by a restore of a V-IPU controller's storage, as sentences. Pure.

The vendor does not publish the storage's shape. All that is taken for granted: it is one JSON object, and what a
controller holds are lists of objects with an ``id``. Everything else is compared as a whole.
"""

from __future__ import annotations

import json
import re
from typing import Any, Iterator, Mapping

PARTITIONS = "partitions"


class NotStorage(ValueError):
    """A text that is no storage of a controller."""


def storage_from(text: str, what: str) -> dict[str, Any]:
    """The storage in a text.

    Raises:
        NotStorage: it is no JSON object.
    """
    try:
        storage = json.loads(text)
    except ValueError as error:
        raise NotStorage(f"{what} is no JSON ({error}); choose another backup") from error
    if not isinstance(storage, dict):
        raise NotStorage(f"{what} is no JSON object; choose another backup")
    return storage


def partitions_held(exporter: str, metric: str) -> set[str] | None:
    """The partitions that an agent holds, by what its exporter says; None if it says nothing about them.

    Args:
        exporter: the text of its metrics.
        metric: name of the metric with a label ``partition``. ``METRICs``, the plural, tells how many there are.
    """
    samples = re.findall(rf"^{re.escape(metric)}s?(?:{{(.*)}})? (\S+)$", exporter, re.MULTILINE)
    if not samples:
        return None
    found = (re.search(r'partition="([^"]*)"', labels) for labels, value in samples if float(value) > 0)
    return {match[1] for match in found if match}


def differences(backup: Mapping[str, Any], now: Mapping[str, Any], held: Mapping[str, set[str] | None]) -> list[str]:
    """Everything that the restore of ``backup`` would change, and where it contradicts the agents.

    ``held`` is agent name to the partitions that it holds; None where it does not say.
    """
    return [*_changes(backup, now), *_contradictions(_by_id(backup.get(PARTITIONS)) or {}, held)]


def _changes(backup: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for kind in dict.fromkeys([*backup, *now]):
        there, comes = _by_id(now.get(kind)), _by_id(backup.get(kind))
        if there is None or comes is None:
            if backup.get(kind) != now.get(kind):
                yield f"{kind}: would change"
            continue
        for name in dict.fromkeys([*comes, *there]):
            if name not in there:
                yield f"{kind} {name}: only in the backup; would come back"
            elif name not in comes:
                yield f"{kind} {name}: only on the controller; would be forgotten"
            elif comes[name] != there[name]:
                fields = [
                    field for field in {**there[name], **comes[name]} if not _same(there[name], comes[name], field)
                ]
                yield f"{kind} {name}: {', '.join(sorted(fields))} would be as in the backup again"


def _contradictions(partitions: Mapping[str, Any], held: Mapping[str, set[str] | None]) -> Iterator[str]:
    holders: dict[str, list[str]] = {}
    for agent, names in held.items():
        if names is None:
            yield f"agent {agent}: does not say which partitions it holds; it may be in use"
        for name in sorted(names or ()):
            holders.setdefault(name, []).append(agent)
    for name, agents in holders.items():
        if name not in partitions:
            yield f"partition {name}: held by {', '.join(agents)}, but not in the backup; its IPUs would seem free"
    for name in partitions:
        if name not in holders and None not in held.values():
            yield f"partition {name}: in the backup, but no agent holds it; reset or remove it after the restore"


def _by_id(entities: Any) -> dict[str, Mapping[str, Any]] | None:
    """Entities by name; None for anything else than a list of entities. Nothing at all is an empty list."""
    if entities is None:
        return {}
    if not isinstance(entities, list) or not all(isinstance(entity, dict) and "id" in entity for entity in entities):
        return None
    return {str(entity["id"]): entity for entity in entities}


def _same(one: Mapping[str, Any], other: Mapping[str, Any], field: str) -> bool:
    return field in one and field in other and bool(one[field] == other[field])
