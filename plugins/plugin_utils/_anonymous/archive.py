# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One archive of the records of all devices, with stand-ins for all that says whose they are. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._recording.facts import Facts, facts_of, messages_of, understood

from .words import Words, is_known, key_of

FORMAT = 1
REAL, SIMULATED = "real", "simulated"
# The parts of a record that the site's devices have said. The others are words of this collection, and releases.
_OF_SITE = ("answers", "ssh_addresses")
Record = Mapping[str, Any]


def archive_of(
    records: Mapping[str, Record],
    names: Iterable[str],
    more: Iterable[str],
    source: str,
    control: Mapping[str, str],
) -> dict[str, Any]:
    """The archive; the same records give the same one.

    Args:
        records: by inventory host.
        names: of hosts and users in the inventory, replaced as a whole unless they are words of the systems.
        more: names that are replaced in any case.
        source: :data:`REAL` or :data:`SIMULATED`.
        control: releases of the control node, by name of the program.
    """
    hosts = sorted(records)
    data = [{part: records[host].get(part, []) for part in _OF_SITE} for host in hosts]
    unknown = {name for name in (*names, *hosts) if name and not is_known(name)}
    words = Words(data, unknown | set(more), key_of(data))
    # First, so that they have the first numbers.
    stand_ins = [words.text(host) for host in hosts]
    anonymous = (words.replaced(each) for each in data)
    devices = {
        stand_in: {**records[host], **each} for host, stand_in, each in zip(hosts, stand_ins, anonymous, strict=True)
    }
    return {"format": FORMAT, "source": source, "control_node": dict(control), "devices": devices}


def text_of(archive: Mapping[str, Any]) -> str:
    """The archive as a file."""
    return json.dumps(archive, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def facts_by_device(archive: Mapping[str, Any]) -> dict[str, Facts]:
    """What this collection understands of each device of an archive."""
    return {name: facts_of(understood(record)) for name, record in archive["devices"].items()}


def lines_of(records: Mapping[str, Record], archive: Mapping[str, Any], silent: Mapping[str, str]) -> list[str]:
    """What was recorded, a line for each device, in the words of the inventory.

    ``silent`` are the devices that did not answer, and why.
    """
    lines = []
    for host, stand_in in zip(sorted(records), archive["devices"], strict=True):
        record = records[host]
        before, after = facts_of(understood(record)), facts_of(understood(archive["devices"][stand_in]))
        messages = messages_of(before)
        what = f"{len(before) - len(messages)} of {len(before)} parts understood"
        lines.append(f"{host}, here {stand_in}: {len(record['answers'])} answers, {what}")
        lines += [f"{host}: not understood: {message}" for message in messages]
        lines += [
            f"{host}: {part} is understood in another way with stand-ins"
            for part in before
            if "message" not in before[part] and before[part] != after.get(part)
        ]
    return [*lines, *(f"{host}: did not answer: {why}" for host, why in sorted(silent.items()))]
