# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a switch's quality of service to the settings with which :func:`roce` gives it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import State, changed_fields
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared_qos import declare_qos
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import (
    DSCPS,
    PFC_WATCHDOG,
    QUEUES,
    TRAFFIC_CLASSES,
)
from ansible_collections.ipu.pod.plugins.module_utils._tor.settings import (
    QUEUE_DEFAULTS,
    WATCHDOG_DEFAULTS,
    default_traffic_class,
)

from .._desired.roce import DEFAULTS, PROFILE_NAME, roce

Settings = dict[str, Any]


def roce_settings(qos: Mapping[str, Any]) -> Settings | None:
    """Return RoCE as pods.yml declares it: nothing for the reference profile; None if pods.yml cannot express it."""
    there = declare_qos(qos)
    for settings in _guesses(qos):
        try:
            wanted = declare_qos(roce(settings))
        except Refused:
            continue
        if _holds(wanted, there):
            return _differences(settings, DEFAULTS)
    return None


def _guesses(qos: Mapping[str, Any]) -> Iterator[Settings]:
    """The profile read backwards; more than one DSCP may lead to its classes."""
    profile = next((each for each in qos.get("profiles") or [] if each["name"] == PROFILE_NAME), None)
    if not profile or not profile.get("no_drop"):
        return
    queues = {queue["queue"]: queue for queue in profile.get("queues") or []}
    priority = profile["no_drop"][0]
    strict = [number for number, queue in queues.items() if queue.get("priority") == "strict"]
    cnp_priority = DEFAULTS["cnp_priority"] if DEFAULTS["cnp_priority"] in strict or not strict else strict[0]
    data = queues.get(priority, {})
    classes = {int(dscp): int(to) for dscp, to in (qos.get("dscp_to_traffic_class") or {}).items()}
    for dscp, cnp_dscp in product(
        _leading_to(priority, classes, DEFAULTS["dscp"]), _leading_to(cnp_priority, classes, DEFAULTS["cnp_dscp"])
    ):
        yield {
            "priority": priority,
            "dscp": dscp,
            "cnp_priority": cnp_priority,
            "cnp_dscp": cnp_dscp,
            "bandwidth_percent": data.get("bandwidth_percent"),
            "ecn": data.get("ecn"),
            "watchdog": qos.get("watchdog"),
        }


def _leading_to(traffic_class: int, classes: Mapping[int, int], preferred: int) -> list[int]:
    leading = [dscp for dscp in range(64) if classes.get(dscp, default_traffic_class(dscp)) == traffic_class]
    return sorted(leading, key=lambda dscp: (dscp != preferred, dscp not in classes, dscp))


def _holds(wanted: State, there: State) -> bool:
    """Whether everything that is wanted is there; what is not configured is as EOS has it by default."""
    for kind, things in wanted.items():
        for name, fields in things.items():
            given = {key: value for key, value in there[kind].get(name, {}).items() if value is not None}
            if changed_fields({**_default(kind, name), **given}, fields):
                return False
    return True


def _default(kind: str, name: str) -> dict[str, Any]:
    if kind == DSCPS:
        return {"traffic_class": default_traffic_class(int(name))}
    if kind == TRAFFIC_CLASSES:
        return {"tx_queue": int(name)}
    return {QUEUES: QUEUE_DEFAULTS, PFC_WATCHDOG: WATCHDOG_DEFAULTS}.get(kind, {})


def _differences(settings: Settings, reference: Mapping[str, Any]) -> Settings:
    differences: Settings = {}
    for name, value in settings.items():
        nested = isinstance(reference[name], dict)
        difference = _differences(value or {}, reference[name]) if nested else value
        if difference not in (None, {}, reference[name]):
            differences[name] = difference
    return differences
