# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration lines of quality of service: maps, profiles, transmit queues, ECN, priority flow control."""

from __future__ import annotations

from podsim.eos.config import Node
from podsim.eos.errors import EosError
from podsim.eos.grammar import Mode, line
from podsim.eos.releases import FIRST, PRIORITY_FLOW_CONTROL_ON

PAUSE_WATCHDOG = "priority-flow-control pause watchdog"
WATCHDOG_DEFAULT = f"{PAUSE_WATCHDOG} default"
ECN = "random-detect ecn"
RATE_UNITS = "kbps|pps"
THRESHOLD_UNITS = "bytes|kbytes|mbytes|segments|milliseconds|microseconds"


def _update_dscp_map(_old: str | None, words: list[str]) -> str | None:
    """A line that only says the default vanishes."""
    return None if int(words[-1]) == default_traffic_class(int(words[3])) else " ".join(words)


def default_traffic_class(dscp: int) -> int:
    """EOS maps eight code points to each traffic class, 0-7 to class 1 and 8-15 to class 0."""
    return {0: 1, 1: 0}.get(dscp // 8, dscp // 8)


def _update_queue_map(_old: str | None, words: list[str]) -> str | None:
    """By default, traffic class N goes to queue N."""
    return None if words[3] == words[-1] else " ".join(words)


def _check_watchdog(root: Node, entered: str) -> None:
    """The pause watchdog polls at least twice within each of its times."""
    name, value = entered.removeprefix(f"{WATCHDOG_DEFAULT} ").split()
    names = ("timeout", "recovery-time", "polling-interval")
    times = {each: root.value(f"{WATCHDOG_DEFAULT} {each}") for each in names} | {name: value}
    _check_polling(times["polling-interval"], times["timeout"], times["recovery-time"])


def _check_port_watchdog(_root: Node, entered: str) -> None:
    """The times of one port obey the same rule."""
    words = entered.split()
    timeout, polling, recovery = words[6], words[8], words[10]
    _check_polling(None if polling == "auto" else polling, timeout, recovery)


def _check_polling(polling: str | None, *times: str | None) -> None:
    limit = min((float(time) / 2 for time in times if time), default=float("inf"))
    if polling and float(polling) > limit:
        raise EosError(f"polling-interval must be at most half of timeout and recovery-time, {limit:g} seconds here")


def _check_thresholds(_root: Node, entered: str) -> None:
    """Marking begins at the minimum and is certain at the maximum, both counted in the same unit."""
    words = entered.split()
    (low, low_unit), (high, high_unit) = words[3:5], words[6:8]
    if low_unit != high_unit:
        raise EosError("Minimum and maximum thresholds must have the same unit")
    if int(low) > int(high):
        raise EosError("Minimum threshold must not be larger than maximum threshold")


_PORT_TIMER = f"{PAUSE_WATCHDOG} port timer timeout <0.01-60>"
PRIORITY_FLOW_CONTROL = (
    line("priority-flow-control", clears=True),
    line("priority-flow-control on", since=PRIORITY_FLOW_CONTROL_ON),
    line(
        "priority-flow-control mode on",
        same_as="priority-flow-control on",
        shown_in=(FIRST, PRIORITY_FLOW_CONTROL_ON),
    ),
    line("priority-flow-control priority {0-7} <no-drop|drop>"),
    line(PAUSE_WATCHDOG),
    line(f"{PAUSE_WATCHDOG} port action <drop|errdisable|no-drop>"),
    line(f"{PAUSE_WATCHDOG} port timer", clears=True),
    *(
        line(f"{_PORT_TIMER} polling-interval {polling} recovery-time <0.01-60>{end}", check=_check_port_watchdog)
        for polling in ("<auto>", "<0.005-30>")
        for end in ("", " <forced>")
    ),
)

PORT_QOS = (line("qos trust <cos|dscp>", negative=True), line("qos cos <0-7>"), line("qos dscp <0-63>"))

_THRESHOLDS = (
    f"{ECN} minimum-threshold <1-256000000> <{THRESHOLD_UNITS}> maximum-threshold <1-256000000> <{THRESHOLD_UNITS}>"
)
TX_QUEUE = Mode(
    "txq",
    (
        line("priority <strict>", negative=True),
        line("bandwidth percent <1-100>"),
        line("bandwidth guaranteed <percent> <1-100>"),
        line("bandwidth guaranteed <8-100000000>"),
        line(f"bandwidth guaranteed <8-100000000> <{RATE_UNITS}>"),
        line("shape rate <8-100000000>"),
        line(f"shape rate <8-100000000> <{RATE_UNITS}>"),
        line("shape rate <1-100> <percent>"),
        line(ECN, clears=True),
        line(_THRESHOLDS, check=_check_thresholds),
        line(f"{_THRESHOLDS} max-mark-probability <1-100>", check=_check_thresholds),
        line(f"{_THRESHOLDS} max-mark-probability <1-100> weight <0-15>", check=_check_thresholds),
        line(f"{ECN} count"),
    ),
)
TX_QUEUES = (line("tx-queue {0-7}", mode=TX_QUEUE), line("uc-tx-queue {0-7}", mode=TX_QUEUE))
QOS_PROFILE = Mode("qos-profile", (*PORT_QOS, *TX_QUEUES, *PRIORITY_FLOW_CONTROL))

# Traffic class 7 and transmit queue 7 belong together for the switch's own control traffic.
MAPS = (
    line("qos rewrite <cos|dscp>"),
    line("qos map cos {0-7...}", clears=True),
    line("qos map cos {0-7...} to traffic-class <0-7>"),
    line("qos map dscp {0-63...}", clears=True),
    line("qos map dscp {0-63...} to traffic-class <0-7>", update=_update_dscp_map),
    line("qos map traffic-class {0-6...} to tx-queue <0-6>", update=_update_queue_map),
    line("qos map traffic-class {7} to tx-queue <7>", update=_update_queue_map),
    line("qos map traffic-class {0-7...} to cos <0-7>"),
    line("qos map traffic-class {0-7...} to dscp <0-63>"),
    line("qos profile {word}", mode=QOS_PROFILE),
)
PAUSE_WATCHDOG_DEFAULTS = (
    line("priority-flow-control all off"),
    line(f"{WATCHDOG_DEFAULT} timeout <0.01-60>", check=_check_watchdog),
    line(f"{WATCHDOG_DEFAULT} recovery-time <0.01-60>", check=_check_watchdog),
    line(f"{WATCHDOG_DEFAULT} polling-interval <0.005-30>", check=_check_watchdog),
    line(f"{PAUSE_WATCHDOG} action <drop|errdisable|no-drop>"),
)
