# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference quality of service for RoCE, as the option ``qos`` of tor_switch, and an owner's differences. Data.

One lossless class for the data, whose packets are marked before its queue is full, and a strict queue of its own for
the congestion notifications (CNP), which may be dropped. Which priority IPU-Machines expect is not published: these
are the values that the industry uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused

Settings = dict[str, Any]

PROFILE_NAME = "ROCE"
DEFAULTS: Settings = {
    "priority": 3,
    "dscp": 26,
    "cnp_priority": 6,
    "cnp_dscp": 48,
    "bandwidth_percent": 95,
    "ecn": {"minimum_kbytes": 256, "maximum_kbytes": 512, "max_mark_probability": 100, "weight": 0},
    "watchdog": {"timeout": 0.2, "recovery_time": 0.2, "polling_interval": 0.1, "action": "drop"},
}
# Priority 7 is the switch's own.
POSSIBLE = {
    "priority": range(7),
    "dscp": range(64),
    "cnp_priority": range(7),
    "cnp_dscp": range(64),
    "bandwidth_percent": range(1, 101),
}
WATCHED_KBPS = 100
"""The watchdog only watches a queue with a guaranteed bandwidth, however small."""


def roce(settings: Mapping[str, Any]) -> Settings:
    """The profile with an owner's differences from ``DEFAULTS``, of ``ecn`` and ``watchdog`` single values, too.

    Refused if a key is unknown, a value is out of range, or data and congestion notifications would share a priority or
    a DSCP. What is in ``ecn`` and ``watchdog`` is checked where the profile is declared.
    """
    chosen = _merged(DEFAULTS, settings, "roce")
    for name, possible in POSSIBLE.items():
        if chosen[name] not in possible:
            raise Refused(f"roce.{name}: {chosen[name]!r} is out of range; give {possible[0]} to {possible[-1]}")
    priority, cnp_priority = chosen["priority"], chosen["cnp_priority"]
    for name in ("priority", "dscp"):
        if chosen[name] == chosen[f"cnp_{name}"]:
            raise Refused(f"roce.cnp_{name}: {chosen[name]} is the {name} of the data; congestion needs another one")
    return {
        "dscp_to_traffic_class": {chosen["dscp"]: priority, chosen["cnp_dscp"]: cnp_priority},
        "traffic_class_to_tx_queue": {priority: priority, cnp_priority: cnp_priority},
        "profiles": [
            {
                "name": PROFILE_NAME,
                "trust": "dscp",
                "queues": [
                    {
                        "queue": priority,
                        "priority": "none",
                        "bandwidth_percent": chosen["bandwidth_percent"],
                        "bandwidth_guaranteed_kbps": WATCHED_KBPS,
                        "ecn": chosen["ecn"],
                    },
                    {"queue": cnp_priority, "priority": "strict"},
                ],
                "no_drop": [priority],
                "watchdog": True,
            }
        ],
        "watchdog": chosen["watchdog"],
    }


def _merged(reference: Mapping[str, Any], settings: Mapping[str, Any], place: str) -> Settings:
    unknown = sorted(set(settings) - set(reference))
    if unknown:
        raise Refused(f"{place}: {unknown[0]!r} is no setting of it; write any of {', '.join(reference)}")
    merged: Settings = {}
    for name, value in reference.items():
        given = settings.get(name)
        if isinstance(value, dict):
            merged[name] = _merged(value, given or {}, f"{place}.{name}")
        else:
            merged[name] = value if given is None else given
    return merged


REFERENCE = roce({})
