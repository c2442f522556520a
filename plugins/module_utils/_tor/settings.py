# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every setting that we know of a port, a QoS profile, a queue and the PFC watchdog, in every spelling of EOS. Data."""

from __future__ import annotations

import re
from typing import Any, Callable

from .._plan.steps import Fields
from .setting_type import Setting, always, defaults_of, setting
from .spelling import ACCESS, EVERY_VLAN, ROUTED, SWITCHED_MTU, vlan_ids, vlan_ranges


def _allowed_line(ranges: list[str]) -> str:
    if ranges == EVERY_VLAN:
        return "no switchport trunk allowed vlan"
    return f"switchport trunk allowed vlan {','.join(ranges) or 'none'}"


def _unless_routed(fields: Fields, mode: str) -> str:
    """A routed port keeps the mode for the day when it is switched again, and shows it."""
    return ROUTED if fields["mode"] == ROUTED else mode


def _channel_lines(_before: Fields, after: Fields) -> list[str]:
    if not after["channel_group"]:
        return ["no channel-group"]
    return [f"channel-group {after['channel_group']} mode {after['lacp']}"]


def _lldp(fields: Fields, groups: tuple[str, ...]) -> Fields:
    """LLDP is on or off where both directions are; else the field names the direction that is left."""
    negation, direction = groups
    on = {True: {"transmit", "receive"}, False: set()}.get(fields["lldp"], {fields["lldp"]})
    on = on - {direction} if negation else on | {direction}
    return {"lldp": on.pop() if len(on) == 1 else bool(on)}


def _lldp_lines(_before: Fields, after: Fields) -> list[str]:
    return [f"{'' if after['lldp'] else 'no '}lldp {direction}" for direction in ("transmit", "receive")]


def _optional(name: str, nothing: Any, line: str, value: str, spelled: Callable[[Any], str] = str) -> Setting:
    """A setting that a port, queue or switch may be without; ``value`` is the pattern of what follows the line."""
    return setting(
        name,
        nothing,
        {f"{line} {value}": type(nothing), f"no {line}": always(nothing)},
        lambda given: f"{line} {spelled(given)}" if given else f"no {line}",
    )


def _number(name: str, default: int, line: str) -> Setting:
    return setting(name, default, {rf"{line} (\d+)": int, f"no {line}": always(default)}, f"{line} {{}}".format)


PORT = (
    _optional("description", "", "description", "(.+)"),
    _number("mtu", SWITCHED_MTU, "mtu"),
    setting(
        "enabled",
        True,
        {r"shutdown": always(False), r"no shutdown": always(True)},
        lambda enabled: "no shutdown" if enabled else "shutdown",
    ),
    _number("vlan", 1, "switchport access vlan"),
    _number("native_vlan", 1, "switchport trunk native vlan"),
    setting(
        "allowed_vlans",
        EVERY_VLAN,
        {
            r"switchport trunk allowed vlan ([\d,-]+)": lambda text: vlan_ranges(vlan_ids([text])),
            r"switchport trunk allowed vlan none": always([]),
            r"switchport trunk allowed vlan all|no switchport trunk allowed vlan": always(EVERY_VLAN),
        },
        _allowed_line,
    ),
    Setting(
        {"mode": ACCESS},
        (
            (r"no switchport", lambda _fields, _groups: {"mode": ROUTED}),
            (r"switchport", lambda fields, _groups: {"mode": ACCESS if fields["mode"] == ROUTED else fields["mode"]}),
            (r"switchport mode (\S+)", lambda fields, groups: {"mode": _unless_routed(fields, groups[0])}),
            (r"no switchport mode", lambda fields, _groups: {"mode": _unless_routed(fields, ACCESS)}),
        ),
        lambda _before, after: [f"switchport mode {after['mode']}"],
    ),
    Setting(
        {"channel_group": 0, "lacp": ""},
        (
            (
                r"channel-group (\d+) mode (on|active|passive)",
                lambda _fields, groups: {"channel_group": int(groups[0]), "lacp": groups[1]},
            ),
            (r"no channel-group", lambda _fields, _groups: {"channel_group": 0, "lacp": ""}),
        ),
        _channel_lines,
    ),
    setting(
        "spanning_tree_edge",
        False,
        {r"spanning-tree portfast(?: edge)?": always(True), r"no spanning-tree portfast": always(False)},
        lambda edge: "spanning-tree portfast edge" if edge else "no spanning-tree portfast",
    ),
    Setting({"lldp": True}, ((r"(no )?lldp (transmit|receive)", _lldp),), _lldp_lines),
    _optional("qos_profile", "", "service-profile", r"(\S+)"),
    setting("qos_trust", "cos", {r"qos trust (cos|dscp)": str, r"no qos trust": always("none")}, "qos trust {}".format),
)

PORT_DEFAULTS = defaults_of(PORT)
ONLY_IF_DECLARED = ("enabled", "mtu", "qos_profile", "qos_trust")
"""Settings that a port keeps unless they are declared, whatever the state of the module."""
FROM_CHANNEL = ("mode", "vlan", "native_vlan", "allowed_vlans", "mtu", "spanning_tree_edge")
"""Settings that EOS takes from the port channel for its members."""


def _drop(fields: Fields, groups: tuple[str, ...]) -> Fields:
    return {"no_drop": [each for each in fields["no_drop"] if each != int(groups[0])]}


def _no_drop_lines(before: Fields, after: Fields) -> list[str]:
    line = "priority-flow-control priority {} no-drop"
    gone = [f"no {line.format(each)}" for each in before["no_drop"] if each not in after["no_drop"]]
    return gone + [line.format(each) for each in after["no_drop"] if each not in before["no_drop"]]


PROFILE = (
    setting(
        "trust",
        "",
        {r"qos trust (cos|dscp)": str, r"no qos trust": always("none")},
        lambda trust: f"qos trust {trust}" if trust else "default qos trust",
    ),
    setting(
        "pfc",
        False,
        {
            r"priority-flow-control (?:mode )?on": always(True),
            r"no priority-flow-control(?: (?:mode )?on)?": always(False),
        },
        lambda on: f"{'' if on else 'no '}priority-flow-control on",
    ),
    Setting(
        {"no_drop": []},
        (
            (
                r"priority-flow-control priority (\d) no-drop",
                lambda fields, groups: {"no_drop": sorted({*fields["no_drop"], int(groups[0])})},
            ),
            (r"priority-flow-control priority (\d) drop", _drop),
            (r"no priority-flow-control priority (\d)(?: no-drop| drop)?", _drop),
        ),
        _no_drop_lines,
    ),
    setting(
        "watchdog",
        False,
        {
            r"priority-flow-control pause watchdog(?: on)?": always(True),
            r"no priority-flow-control pause watchdog(?: on)?": always(False),
        },
        lambda on: f"{'' if on else 'no '}priority-flow-control pause watchdog",
    ),
)
PROFILE_DEFAULTS = defaults_of(PROFILE)

_KBYTES = {"bytes": 0.001, "kbytes": 1, "mbytes": 1000}
_ECN = re.compile(
    r"minimum-threshold (?P<minimum>\d+) (?P<unit>\w+) maximum-threshold (?P<maximum>\d+) (?P=unit)"
    r"(?: max-mark-probability (?P<probability>\d+))?(?: weight (?P<weight>\d+))?"
)


def _ecn(text: str) -> Any:
    """The thresholds in kbytes; the line as it is where it counts in something else (segments, microseconds)."""
    match = _ECN.fullmatch(text)
    if not match or match["unit"] not in _KBYTES:
        return text
    factor = _KBYTES[match["unit"]]
    return {
        "minimum_kbytes": int(int(match["minimum"]) * factor),
        "maximum_kbytes": int(int(match["maximum"]) * factor),
        "max_mark_probability": int(match["probability"] or 100),
        "weight": int(match["weight"] or 0),
    }


def _ecn_line(ecn: Any) -> str:
    if not ecn:
        return "no random-detect ecn minimum-threshold"
    return (
        f"random-detect ecn minimum-threshold {ecn['minimum_kbytes']} kbytes "
        f"maximum-threshold {ecn['maximum_kbytes']} kbytes "
        f"max-mark-probability {ecn['max_mark_probability']} weight {ecn['weight']}"
    )


QUEUE = (
    setting(
        "priority",
        "strict",
        {r"priority strict": always("strict"), r"no priority": always("none")},
        lambda priority: "priority strict" if priority == "strict" else "no priority",
    ),
    _optional("bandwidth_percent", 0, "bandwidth percent", r"(\d+)"),
    _optional("bandwidth_guaranteed_kbps", 0, "bandwidth guaranteed", r"(\d+)(?: kbps)?"),
    setting(
        "ecn",
        {},
        {r"random-detect ecn (minimum-threshold .+)": _ecn, r"no random-detect ecn minimum-threshold": always({})},
        _ecn_line,
    ),
)
QUEUE_DEFAULTS = defaults_of(QUEUE)

_PAUSE_WATCHDOG = "priority-flow-control pause watchdog"


def _seconds(name: str, word: str) -> Setting:
    def spelled(seconds: float) -> str:
        return f"{seconds:.3f}".rstrip("0").rstrip(".")

    return _optional(name, 0.0, f"{_PAUSE_WATCHDOG} default {word}", r"(\d+(?:\.\d+)?)", spelled)


WATCHDOG = (
    _seconds("timeout", "timeout"),
    _seconds("recovery_time", "recovery-time"),
    _seconds("polling_interval", "polling-interval"),
    _optional("action", "", f"{_PAUSE_WATCHDOG} action", r"(\S+)"),
)
WATCHDOG_DEFAULTS = defaults_of(WATCHDOG)


def default_traffic_class(dscp: int) -> int:
    """EOS gives eight code points to each traffic class, 0 to 7 to class 1 and 8 to 15 to class 0."""
    return {0: 1, 1: 0}.get(dscp // 8, dscp // 8)
