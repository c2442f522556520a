# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The declared quality of service, validated value by value; `fit` checks how values fit together. Pure."""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from .._plan.converge import Refused
from .._plan.steps import Fields, State
from .running_config import DSCPS, PFC_WATCHDOG, PROFILES, QUEUES, SWITCH, TRAFFIC_CLASSES

DSCP_VALUES = range(64)
CLASSES = range(8)
"""Traffic classes, transmit queues and priorities."""
GUARANTEED_KBPS = range(8, 100_000_001)

_SECONDS = {"timeout": (0.01, 60), "recovery_time": (0.01, 60), "polling_interval": (0.005, 30)}
_ECN_RANGES = {
    "minimum_kbytes": range(1, 256_001),
    "maximum_kbytes": range(1, 256_001),
    "max_mark_probability": range(1, 101),
    "weight": range(16),
}


def declare_qos(qos: Mapping[str, Any]) -> State:
    """The declared things of quality of service, with their fields (None: not given).

    Raises:
        Refused: a value is out of its range, or something is declared twice.
    """
    profiles, queues = _profiles(qos.get("profiles") or [])
    watchdog = qos.get("watchdog")
    return {
        DSCPS: _map("qos.dscp_to_traffic_class", qos.get("dscp_to_traffic_class"), DSCP_VALUES, "traffic_class"),
        TRAFFIC_CLASSES: _map(
            "qos.traffic_class_to_tx_queue", qos.get("traffic_class_to_tx_queue"), CLASSES, "tx_queue"
        ),
        PFC_WATCHDOG: {} if watchdog is None else {SWITCH: _watchdog("qos.watchdog", watchdog)},
        PROFILES: profiles,
        QUEUES: queues,
    }


def _map(place: str, given: Mapping[Any, Any] | None, keys: range, field: str) -> dict[str, Fields]:
    entries: dict[str, Fields] = {}
    for key, value in (given or {}).items():
        number = _number(f"{place}: the key", key, keys)
        if str(number) in entries:
            raise Refused(f"{place}: {number} is given twice; give it once")
        entries[str(number)] = {field: _number(f"{place}[{number}]", value, CLASSES)}
    return entries


def _profiles(given: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Fields], dict[str, Fields]]:
    profiles: dict[str, Fields] = {}
    queues: dict[str, Fields] = {}
    for number, profile in enumerate(given):
        name, place = profile["name"], f"qos.profiles[{number}]"
        if not re.fullmatch(r"[!-~]+", name):
            raise Refused(f"{place}.name: {name!r} is no name of a profile; write it without spaces")
        if name in profiles:
            raise Refused(f"{place}: profile {name} is declared twice; declare it once")
        no_drop = profile.get("no_drop")
        if no_drop is not None:
            no_drop = sorted({_number(f"{place}.no_drop", each, CLASSES) for each in no_drop})
        pfc = True if no_drop and profile.get("pfc") is None else profile.get("pfc")
        profiles[name] = {
            "trust": profile.get("trust"),
            "pfc": pfc,
            "no_drop": no_drop,
            "watchdog": profile.get("watchdog"),
        }
        for index, queue in enumerate(profile.get("queues") or []):
            here = f"{place}.queues[{index}]"
            key = f"{name} {_number(f'{here}.queue', queue['queue'], CLASSES)}"
            if key in queues:
                raise Refused(f"{here}: queue {queue['queue']} is declared twice; declare it once")
            queues[key] = _queue(here, queue)
    return profiles, queues


def _queue(place: str, queue: Mapping[str, Any]) -> Fields:
    percent, guaranteed = queue.get("bandwidth_percent"), queue.get("bandwidth_guaranteed_kbps")
    return {
        "priority": queue.get("priority"),
        "bandwidth_percent": percent and _number(f"{place}.bandwidth_percent", percent, range(1, 101)),
        "bandwidth_guaranteed_kbps": guaranteed
        and _number(f"{place}.bandwidth_guaranteed_kbps", guaranteed, GUARANTEED_KBPS),
        "ecn": None if queue.get("ecn") is None else _ecn(f"{place}.ecn", queue["ecn"]),
    }


def _ecn(place: str, given: Mapping[str, Any]) -> Fields:
    """The thresholds, or an empty dictionary where nothing is given."""
    if not any(value is not None for value in given.values()):
        return {}
    filled = {"max_mark_probability": 100, "weight": 0, **{n: value for n, value in given.items() if value is not None}}
    ecn: dict[str, int] = {}
    for name, bounds in _ECN_RANGES.items():
        if name not in filled:
            raise Refused(f"{place}.{name}: it is missing; give {bounds[0]} to {bounds[-1]}")
        ecn[name] = _number(f"{place}.{name}", filled[name], bounds)
    if ecn["minimum_kbytes"] > ecn["maximum_kbytes"]:
        limit = ecn["maximum_kbytes"]
        raise Refused(f"{place}.minimum_kbytes: {ecn['minimum_kbytes']} is more than the maximum; give up to {limit}")
    return ecn


def _watchdog(place: str, given: Mapping[str, Any]) -> Fields:
    fields: Fields = {"action": given.get("action")}
    for name, (low, high) in _SECONDS.items():
        seconds = given.get(name)
        if seconds and not low <= seconds <= high:
            raise Refused(f"{place}.{name}: {seconds:g} seconds is not possible; give {low:g} to {high:g}, or 0")
        fields[name] = None if seconds is None else round(float(seconds), 3)
    return fields


def _number(place: str, value: Any, bounds: range) -> int:
    """A whole number; the keys and values of a dictionary may come as text."""
    try:
        number = int(str(value))
    except ValueError:
        number = bounds[0] - 1
    if number not in bounds:
        raise Refused(f"{place}: {value!r} is out of range; give {bounds[0]} to {bounds[-1]}")
    return number
