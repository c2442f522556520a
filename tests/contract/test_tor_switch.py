# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's switch client against the simulated EOS, over eAPI: a whole rack, lost links, timers that expire."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, Refused, converge
from ansible_collections.ipu.pod.plugins.module_utils._tor.change import SYSTEM_CLOCK, Change
from ansible_collections.ipu.pod.plugins.module_utils._tor.checks import Checks
from ansible_collections.ipu.pod.plugins.module_utils._tor.confirmation import confirm_if_right
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare
from ansible_collections.ipu.pod.plugins.module_utils._tor.pending import Pending
from ansible_collections.ipu.pod.plugins.module_utils._tor.session import CommandRefused, commit_with_timer
from ansible_collections.ipu.pod.plugins.module_utils._tor.unsaved import Unsaved
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.roce import REFERENCE
from tests.support.checkout import PROGRAMS
from tests.support.eapi import run_commands
from tests.support.processes import end, wait_until

PODSIM = PROGRAMS / "podsim"
session_numbers = itertools.count(1)

MACHINES = [
    {
        "name": f"Et{number}/1",
        "description": f"pod001-ipum{number - 8} RNIC",
        "mode": "access",
        "vlan": 101,
        "mtu": 9214,
    }
    for number in range(9, 25)
]
SERVERS = [
    {"name": f"Et{number}/1", "mode": "trunk", "native_vlan": 101, "allowed_vlans": ["101", "200-203"], "mtu": 9000}
    for number in range(25, 33)
]
UPLINKS = [{"name": f"Et{number}/1", "mode": "trunk", "allowed_vlans": ["101", "200-203"]} for number in range(1, 5)]
POD64 = {
    "vlans": [{"vlan_id": 101, "name": "vpod-alice"}, *({"vlan_id": vlan} for vlan in range(200, 204))],
    "ports": [{**port, "qos_profile": "ROCE", "qos_trust": "dscp"} for port in (*MACHINES, *SERVERS, *UPLINKS)],
    "qos": REFERENCE,
}


class Running:
    """A running ``podsim eos``, and how often it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests = 0
        self.cut_after_commit = False
        self.cut = False

    def send(self, commands: Sequence[str], output: str) -> list[str]:
        if self.cut:
            raise DeviceError("the connection is gone")
        self.cut = self.cut_after_commit and any("commit timer" in line for line in commands)
        self.requests += 1
        try:
            answer = run_commands(self.url, ["enable", *commands], "admin", "s3cret", format=output)
        except OSError as error:
            raise DeviceError(str(error)) from error
        if "error" in answer:
            raise CommandRefused(str(answer["error"]["data"][-1]["errors"]))
        results = answer["result"][1:]
        return [result.get("output", "") if output == "text" else json.dumps(result) for result in results]

    def change(self, check_mode: bool = False, confirm_within: int = 60, **declared: Any) -> Outcome:
        self.requests = 0
        name = f"ipu-pod-test-{next(session_numbers)}"
        wanted = declare(**{"vlans": [], "ports": [], **declared})
        one = Change(wanted, self.send, name, confirm_within, Checks(settle_within=5))
        return converge(one.read, one.plan, one.apply, check_mode)

    @property
    def running(self) -> str:
        return self.send(["show running-config"], "text")[0]


@pytest.fixture
def switch(tmp_path: Path) -> Iterator[Running]:
    credentials = ["--user", "admin", "--password", "s3cret"]
    process = subprocess.Popen(
        [PODSIM, "eos", "--listen", "127.0.0.1:0", *credentials, "--config", "running-config"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    yield Running(process.stdout.readline().split()[-1])
    end(process)


def test_whole_rack_costs_eight_requests_and_no_change_two(switch: Running) -> None:
    """With the one with which the connection begins, see test_connection.py."""
    outcome = switch.change(**POD64)
    assert outcome.failure is None
    assert len(outcome.steps) == 5 + 28 + 3
    assert 1 + switch.requests <= 8
    assert not switch.change(**POD64).changed
    assert 1 + switch.requests <= 2


def test_a_lost_control_node_leaves_the_switch_as_it_was(switch: Running) -> None:
    """After the commit nobody confirms: the timer puts the old configuration back."""
    before = switch.running
    switch.cut_after_commit = True
    outcome = switch.change(vlans=[{"vlan_id": 777, "name": "lost"}], confirm_within=10)
    switch.cut_after_commit = switch.cut = False
    assert "the switch undoes it by itself within 10 s" in outcome.result()["failed_step"]["error"]
    assert "vlan 777" in switch.running
    wait_until(lambda: "vlan 777" not in switch.running)
    assert switch.running == before
    assert switch.change(vlans=[{"vlan_id": 777, "name": "found"}]).failure is None


def test_a_change_that_cuts_the_way_to_the_switch_is_noticed_and_undone(switch: Running) -> None:
    before = switch.running
    lines = ["interface Management1", "shutdown"]
    # The switch may be gone before it has answered.
    with suppress(DeviceError):
        commit_with_timer(switch.send, "cutting", [], lines, confirm_within=2)
    nothing: dict[str, Any] = {"neighbours": [], "macs": [], "members": {}, "at_most": {}, "errors": {}, "pauses": {}}
    expected = {**nothing, "time": 0.0}
    pending = Pending("cutting", 2, {}, {}, [], [], True, [], 0, expected, asdict(Unsaved()))
    with pytest.raises(DeviceError, match="the switch undoes it by itself within 2 s"):
        confirm_if_right(switch.send, lambda: True, SYSTEM_CLOCK, pending, "")

    def is_back() -> bool:
        try:
            return switch.running == before
        except DeviceError:
            return False

    wait_until(is_back)


def test_a_timer_of_somebody_else_is_respected(switch: Running) -> None:
    switch.send(["configure session theirs", "vlan 901", "commit timer 00:01:00"], "text")
    with pytest.raises(Refused, match="another configuration session is open on the switch: theirs"):
        switch.change(vlans=[{"vlan_id": 778, "name": "ours"}])
    switch.send(["configure session theirs abort"], "text")
