# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lossless Ethernet: the reference profile, the lines that come of it, and what does not fit together."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._tor.commands import commands_for, render
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.plan import plan
from ansible_collections.ipu.pod.plugins.module_utils._tor.running_config import parse
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.roce import REFERENCE, roce

EMPTY = parse("interface Ethernet9/1\n!\nend\n")
WATCHED = parse("""\
priority-flow-control pause watchdog default timeout 0.2
priority-flow-control pause watchdog default recovery-time 0.2
priority-flow-control pause watchdog default polling-interval 0.1
!
qos map dscp 24-31 to traffic-class 2
!
qos profile LOSSLESS
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 2 no-drop
   !
   tx-queue 2
      no priority
!
interface Ethernet9/1
   service-profile LOSSLESS
!
end
""")
PROFILE = "priority-flow-control pause watchdog"


def lines(running: Any = EMPTY, state: str = "merged", **qos: Any) -> list[str]:
    return commands_for(plan(declare([], [], qos, state), running), running.queue_word)


def profile(**fields: Any) -> dict[str, Any]:
    return {"profiles": [{"name": "LOSSLESS", **fields}]}


def queue(**fields: Any) -> dict[str, Any]:
    return profile(queues=[{"queue": 2, **fields}])


def test_reference_on_a_fresh_switch() -> None:
    """DSCP 26 and 48, class 3 and 6, and the strict priority of queue 6 are EOS's defaults, and not said again."""
    assert lines(**REFERENCE) == [
        "priority-flow-control pause watchdog default timeout 0.2",
        "priority-flow-control pause watchdog default recovery-time 0.2",
        "priority-flow-control pause watchdog action drop",
        "priority-flow-control pause watchdog default polling-interval 0.1",
        "qos profile ROCE",
        "qos trust dscp",
        "priority-flow-control on",
        "priority-flow-control priority 3 no-drop",
        "priority-flow-control pause watchdog",
        "qos profile ROCE",
        "uc-tx-queue 3",
        "no priority",
        "bandwidth percent 95",
        "bandwidth guaranteed 100",
        "random-detect ecn minimum-threshold 256 kbytes maximum-threshold 512 kbytes max-mark-probability 100 weight 0",
    ]


def test_rendered_reference_says_everything() -> None:
    rendered = render(declare([], [], REFERENCE))
    assert rendered[:4] == [
        "qos map dscp 26 to traffic-class 3",
        "qos map dscp 48 to traffic-class 6",
        "qos map traffic-class 3 to tx-queue 3",
        "qos map traffic-class 6 to tx-queue 6",
    ]
    assert rendered[-3:] == ["qos profile ROCE", "uc-tx-queue 6", "priority strict"]


def test_differences_of_an_owner() -> None:
    qos = roce({"priority": 4, "dscp": 34, "ecn": {"maximum_kbytes": 1024}, "watchdog": {"action": "errdisable"}})
    assert qos["dscp_to_traffic_class"] == {34: 4, 48: 6}
    assert qos["profiles"][0]["no_drop"] == [4]
    assert qos["profiles"][0]["queues"][0]["ecn"] == {
        **roce({})["profiles"][0]["queues"][0]["ecn"],
        "maximum_kbytes": 1024,
    }
    assert qos["watchdog"] == {**REFERENCE["watchdog"], "action": "errdisable"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prio": 3}, "roce: 'prio' is no setting of it; write any of priority, dscp"),
        ({"ecn": {"minimum": 3}}, "roce.ecn: 'minimum' is no setting of it; write any of minimum_kbytes"),
        ({"priority": 7}, "roce.priority: 7 is out of range; give 0 to 6"),
        ({"cnp_priority": "six"}, "roce.cnp_priority: 'six' is out of range; give 0 to 6"),
        ({"cnp_dscp": 64}, "roce.cnp_dscp: 64 is out of range; give 0 to 63"),
        ({"bandwidth_percent": 0}, "roce.bandwidth_percent: 0 is out of range; give 1 to 100"),
        ({"cnp_priority": 3}, "roce.cnp_priority: 3 is the priority of the data; congestion needs another one"),
        ({"cnp_dscp": 26}, "roce.cnp_dscp: 26 is the dscp of the data"),
    ],
)
def test_wrong_difference_is_refused(settings: Any, message: str) -> None:
    with pytest.raises(Refused, match="^" + message):
        roce(settings)


def test_what_is_not_declared_is_kept() -> None:
    assert lines(WATCHED, **queue(bandwidth_percent=50)) == [
        "qos profile LOSSLESS",
        "tx-queue 2",
        "bandwidth percent 50",
    ]
    assert lines(WATCHED, watchdog={"action": "drop"}) == [f"{PROFILE} action drop"]


def test_replaced_gives_up_what_is_not_declared_of_what_is() -> None:
    assert lines(WATCHED, "replaced", **profile(trust="dscp")) == [
        "qos profile LOSSLESS",
        "no priority-flow-control on",
        "no priority-flow-control priority 2 no-drop",
    ]


def test_ecn_can_be_switched_off() -> None:
    running = parse(
        "qos profile X\n   uc-tx-queue 3\n      random-detect ecn minimum-threshold 1 kbytes "
        "maximum-threshold 2 kbytes\n!\nend\n"
    )
    wanted = {"profiles": [{"name": "X", "queues": [{"queue": 3, "ecn": {"minimum_kbytes": None}}]}]}
    assert lines(running, **wanted)[-1] == "no random-detect ecn minimum-threshold"


@pytest.mark.parametrize(
    ("timeout", "polling", "first"),
    [(0.1, 0.05, "polling-interval 0.05"), (0.4, 0.2, "timeout 0.4")],
    ids=["shorter", "longer"],
)
def test_watchdog_is_never_slower_than_its_times_allow(timeout: float, polling: float, first: str) -> None:
    found = lines(WATCHED, watchdog={"timeout": timeout, "recovery_time": timeout, "polling_interval": polling})
    assert found[0] == f"{PROFILE} default {first}"
    assert len(found) == 3


@pytest.mark.parametrize(
    ("qos", "message"),
    [
        (
            {"watchdog": {"polling_interval": 0.15}},
            r"qos.watchdog.polling_interval: 0.15 s is more .*; give at most 0.1",
        ),
        (
            {"watchdog": {"timeout": 0.1}},
            r"qos.watchdog.polling_interval: 0.1 s is more than half .*; give at most 0.05",
        ),
        (profile(no_drop=[2, 3]), "profile LOSSLESS: no DSCP is mapped to traffic class 3, so no_drop 3 stops nothing"),
        (
            {"dscp_to_traffic_class": dict.fromkeys(range(16, 32), 1)},
            "profile LOSSLESS: no DSCP is mapped to traffic cla",
        ),
        (queue(priority="strict"), "profile LOSSLESS: queue 2 carries the no-drop priority 2 and is served strictly"),
        (
            {"traffic_class_to_tx_queue": {2: 4}},
            "profile LOSSLESS: queue 4 carries the no-drop priority 2 and is served",
        ),
        (
            profile(watchdog=True),
            "profile LOSSLESS: the watchdog does not watch queue 2 without a guaranteed bandwidth",
        ),
        (profile(no_drop=[7]), "profile LOSSLESS: priority 7 is the switch's own; give no_drop 0 to 6"),
        ({"dscp_to_traffic_class": {10: 7}}, r"qos.dscp_to_traffic_class\[10\]: traffic class 7 is the switch's own"),
        (
            {"traffic_class_to_tx_queue": {3: 7}},
            r"qos.traffic_class_to_tx_queue\[3\]: class and queue 7 are the switch",
        ),
        (
            {"traffic_class_to_tx_queue": {7: 3}},
            r"qos.traffic_class_to_tx_queue\[7\]: class and queue 7 are the switch",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(qos: Any, message: str) -> None:
    with pytest.raises(Refused, match="^" + message):
        lines(WATCHED, **qos)


def test_what_did_not_fit_before_is_no_reason_to_refuse_something_else() -> None:
    running = parse("qos profile X\n   priority-flow-control priority 3 no-drop\n!\nend\n")
    assert lines(running, profiles=[{"name": "X", "trust": "dscp"}]) == ["qos profile X", "qos trust dscp"]


@pytest.mark.parametrize(
    ("qos", "message"),
    [
        ({"dscp_to_traffic_class": {64: 3}}, r"qos.dscp_to_traffic_class: the key: 64 is out of range; give 0 to 63"),
        ({"dscp_to_traffic_class": {"x": 3}}, r"qos.dscp_to_traffic_class: the key: 'x' is out of range; give 0 to 63"),
        ({"dscp_to_traffic_class": {26: 8}}, r"qos.dscp_to_traffic_class\[26\]: 8 is out of range; give 0 to 7"),
        ({"dscp_to_traffic_class": {26: 3, "026": 4}}, r"qos.dscp_to_traffic_class: 26 is given twice"),
        ({"profiles": [{"name": "a b"}]}, r"qos.profiles\[0\].name: 'a b' is no name of a profile"),
        ({"profiles": [{"name": "a"}, {"name": "a"}]}, r"qos.profiles\[1\]: profile a is declared twice"),
        (profile(no_drop=[8]), r"qos.profiles\[0\].no_drop: 8 is out of range"),
        (profile(queues=[{"queue": 3}, {"queue": 3}]), r"qos.profiles\[0\].queues\[1\]: queue 3 is declared twice"),
        (queue(bandwidth_percent=101), r"qos.profiles\[0\].queues\[0\].bandwidth_percent: 101 is out of range"),
        (queue(bandwidth_guaranteed_kbps=7), r".*bandwidth_guaranteed_kbps: 7 is out of range; give 8 to 100000000"),
        (queue(ecn={"minimum_kbytes": 3}), r".*ecn.maximum_kbytes: it is missing; give 1 to 256000"),
        (
            queue(ecn={"minimum_kbytes": 3, "maximum_kbytes": 2}),
            r".*ecn.minimum_kbytes: 3 is more than the maximum; give",
        ),
        ({"watchdog": {"timeout": 61}}, r"qos.watchdog.timeout: 61 seconds is not possible; give 0.01 to 60, or 0"),
        ({"watchdog": {"polling_interval": 0.001}}, r"qos.watchdog.polling_interval: 0.001 seconds is not possible"),
    ],
)
def test_value_out_of_its_range_is_refused(qos: Any, message: str) -> None:
    with pytest.raises(Refused, match="^" + message):
        declare([], [], qos)
