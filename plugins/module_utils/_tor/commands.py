# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration lines that carry out a plan. Pure."""

from __future__ import annotations

from typing import Callable, Mapping, Sequence

from .._plan.steps import CREATE, REMOVE, UPDATE, Step
from .declared import Declared
from .fit import channel_of
from .running_config import DSCPS, PFC_WATCHDOG, PORTS, PROFILES, QUEUES, TRAFFIC_CLASSES, VLANS, VNIS, VXLAN_INTERFACE
from .setting_type import lines_between
from .settings import PORT, PORT_DEFAULTS, PROFILE, PROFILE_DEFAULTS, QUEUE, WATCHDOG
from .spelling import default_vlan_name

DEFAULT_QUEUE_WORD = "uc-tx-queue"


def commands_for(steps: Sequence[Step], queue_word: str = DEFAULT_QUEUE_WORD) -> list[str]:
    """The EOS configuration lines for some steps; a switch calls transmit queues ``uc-tx-queue`` or ``tx-queue``."""
    lines = [line for step in steps for line in _WRITERS[step.kind](step)]
    return [line.replace(DEFAULT_QUEUE_WORD, queue_word) for line in [*_departures(steps), *lines]]


def _departures(steps: Sequence[Step]) -> list[str]:
    """Members leave first: EOS takes no static member into a channel of LACP members, nor the other way round."""
    changed = [step for step in steps if step.kind == PORTS and step.before and step.before["channel_group"]]
    leaving = [step.name for step in changed if channel_of(step.before or {}) != channel_of(step.after or {})]
    return [line for name in leaving for line in (f"interface {name}", "no channel-group")]


def render(declared: Declared) -> list[str]:
    """The lines for all that is declared, whatever a switch has."""
    steps = []
    for kind in _WRITERS:
        for name, fields in declared.wanted[kind].items():
            given = {field: value for field, value in fields.items() if value is not None}
            if given.get("channel_group"):
                given.setdefault("lacp", "active")
            if kind == VLANS:
                given.setdefault("name", default_vlan_name(int(name)))
            if kind == VNIS and not given["vni"]:
                continue
            steps.append(Step(CREATE if kind == VLANS else UPDATE, kind, name, "", after=given))
    return commands_for(steps)


def _vlan(step: Step) -> list[str]:
    if step.action == REMOVE:
        return [f"no vlan {step.name}"]
    unnamed = default_vlan_name(int(step.name))
    name = (step.after or {})["name"]
    lines = [f"vlan {step.name}"]
    if name != (step.before or {"name": unnamed})["name"]:
        lines.append("no name" if name == unnamed else f"name {name}")
    return lines


def _vni(step: Step) -> list[str]:
    before, after = (step.before or {}).get("vni", 0), (step.after or {})["vni"]
    entry = f"vxlan vlan {step.name} vni"
    return [VXLAN_INTERFACE, f"{entry} {after}" if after else f"no {entry} {before}"]


def _port(step: Step) -> list[str]:
    before = PORT_DEFAULTS if step.action == CREATE else step.before or {}
    if before.get("channel_group") and channel_of(before) != channel_of(step.after or {}):
        before = {**before, "channel_group": 0, "lacp": ""}
    return [f"interface {step.name}", *lines_between(PORT, before, step.after or {})]


def _profile(step: Step) -> list[str]:
    before = PROFILE_DEFAULTS if step.action == CREATE else step.before or {}
    return [f"qos profile {step.name}", *lines_between(PROFILE, before, step.after or {})]


def _queue(step: Step) -> list[str]:
    profile, number = step.name.split()
    lines = lines_between(QUEUE, step.before or {}, step.after or {})
    return [f"qos profile {profile}", f"{DEFAULT_QUEUE_WORD} {number}", *lines]


def _dscp(step: Step) -> list[str]:
    return [f"qos map dscp {step.name} to traffic-class {(step.after or {})['traffic_class']}"]


def _traffic_class(step: Step) -> list[str]:
    return [f"qos map traffic-class {step.name} to tx-queue {(step.after or {})['tx_queue']}"]


def _watchdog(step: Step) -> list[str]:
    """EOS refuses a polling interval that is too long for the other times, at any moment: shorten it before them."""
    before, after = step.before or {}, step.after or {}
    lines = lines_between(WATCHDOG, before, after)
    shortened = (after.get("polling_interval") or 0) < before.get("polling_interval", 0)
    return sorted(lines, key=lambda line: ("polling-interval" in line) != shortened)


_WRITERS: Mapping[str, Callable[[Step], list[str]]] = {
    VLANS: _vlan,
    VNIS: _vni,
    DSCPS: _dscp,
    TRAFFIC_CLASSES: _traffic_class,
    PFC_WATCHDOG: _watchdog,
    PROFILES: _profile,
    QUEUES: _queue,
    PORTS: _port,
}
