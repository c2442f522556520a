# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has which IPUs on a server, for people and for programs. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Iterable, Sequence

from .registry import Record

_HEADINGS = ("CONTAINER", "USER", "VPOD", "IPUS", "GCD", "ENGINE", "SINCE", "IMAGE")


def as_json(records: Iterable[Record]) -> str:
    """The records as a list of objects."""
    return json.dumps([asdict(record) for record in records], indent=2)


def as_table(records: Sequence[Record]) -> str:
    """The records as a table, or that there are none."""
    if not records:
        return "no container has IPUs"
    rows = [_HEADINGS, *map(_row, records)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def _row(record: Record) -> tuple[str, ...]:
    since = datetime.fromtimestamp(record.began, timezone.utc).strftime("%Y-%m-%d %H:%M")
    ipus = str(record.ipus) if record.is_ready else f"0 of {record.ipus}"
    gcd = f"{record.gcd} of {record.gcds}" if record.is_session else "-"
    return record.name, record.user, record.vpod, ipus, gcd, record.engine, since, record.image
