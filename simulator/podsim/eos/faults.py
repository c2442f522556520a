# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a switch is told to see, faults among it: a JSON file that may be rewritten while the switch runs.

No data plane here can produce pause frames, ECN marks, symbol errors, or LLDP of machines without a daemon for it:

    {"neighbours": {"Ethernet9/1": {"device": "ipum1", "port": "rnic0", "mac": "0c:42:a1:00:00:01"}},
     "namespaces": {"Ethernet9/1": "/run/netns/ipum1"},
     "macs": [{"mac": "0c:42:a1:00:00:01", "port": "Ethernet9/1", "vlan": 101}],
     "counters": {"Ethernet9/1": {"inErrors": 0, "rxPause": 5, "txPause": 0, "ecn": {"3": 7}, "stuck": {"3": 1}}},
     "unplugged": ["Ethernet11/1"],
     "errdisabled": {"Ethernet12/1": "bpduguard"},
     "blocked": {"MST0": ["Ethernet13/1"]}}

Every key may be left out. A MAC without `vlan` sends untagged. A port whose network namespace has no process any more
leads to a machine that is switched off: it has no link. A port is err-disabled for its cause, and spanning tree blocks
ports in an instance; the data plane does not know of either.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from podsim.eos.errors import InternalError


@dataclass(frozen=True)
class Neighbour:
    """What the device at the other end of a cable says of itself by LLDP."""

    device: str
    port: str
    mac: str


@dataclass(frozen=True)
class Address:
    """A MAC address that sends on a port, tagged with `vlan` or untagged."""

    mac: str
    port: str
    vlan: int | None = None


@dataclass(frozen=True)
class Observed:
    """The content of the file, see the module's description."""

    neighbours: dict[str, Neighbour] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)
    macs: tuple[Address, ...] = ()
    counters: dict[str, dict[str, Any]] = field(default_factory=dict)
    unplugged: tuple[str, ...] = ()
    errdisabled: dict[str, str] = field(default_factory=dict)
    blocked: dict[str, list[str]] = field(default_factory=dict)


def observed_in(file: Path | None) -> Observed:
    """The content of the file as it is now; nothing without one."""
    if file is None:
        return Observed()
    try:
        return _parse(json.loads(file.read_text()))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise InternalError(f"{file} does not say what is observed: {error}") from None


def _parse(content: dict[str, Any]) -> Observed:
    known = {each.name for each in fields(Observed)}
    if unknown := sorted(set(content) - known):
        raise ValueError(f"unknown key {unknown[0]}; it takes {', '.join(sorted(known))}")
    return Observed(
        neighbours={port: Neighbour(**each) for port, each in content.get("neighbours", {}).items()},
        namespaces=dict(content.get("namespaces", {})),
        macs=tuple(Address(**each) for each in content.get("macs", [])),
        counters=dict(content.get("counters", {})),
        unplugged=tuple(content.get("unplugged", [])),
        errdisabled=dict(content.get("errdisabled", {})),
        blocked=dict(content.get("blocked", {})),
    )
