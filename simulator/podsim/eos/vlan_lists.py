# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""VLAN lists as EOS writes them: `10,20-23`."""

from __future__ import annotations

from collections.abc import Iterable

FIRST_VLAN, LAST_VLAN = 1, 4094
ALL_VLANS = frozenset(range(FIRST_VLAN, LAST_VLAN + 1))


def parse_vlans(text: str) -> frozenset[int]:
    """The VLAN ids in a list such as `10,20-23`; ValueError when it is none."""
    vlans: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        start, stop = _vlan_id(first), _vlan_id(last if dash else first)
        if start > stop:
            raise ValueError(f"{part}: the range runs backwards")
        vlans.update(range(start, stop + 1))
    return frozenset(vlans)


def format_vlans(vlans: Iterable[int]) -> str:
    """The shortest list of these VLAN ids, ascending; two neighbours are a range as well (`10-11`)."""
    runs: list[list[int]] = []
    for vlan in sorted(vlans):
        if runs and vlan == runs[-1][-1] + 1:
            runs[-1][1:] = [vlan]
        else:
            runs.append([vlan])
    return ",".join("-".join(map(str, run)) for run in runs)


def _vlan_id(text: str) -> int:
    if not text.isdecimal() or int(text) not in ALL_VLANS:
        raise ValueError(f"{text}: a VLAN id is a number from {FIRST_VLAN} to {LAST_VLAN}")
    return int(text)
