# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's switch client against the simulated EOS, over eAPI: random changes, foreign lines, lost links."""

from __future__ import annotations

import base64
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError, Outcome, Refused, converge
from ansible_collections.ipu.pod.plugins.module_utils._tor.change import Change
from ansible_collections.ipu.pod.plugins.module_utils._tor.declared import declare

PODSIM = Path(sys.executable).parent / "podsim"
SECRET = base64.b64encode(b"admin:s3cret").decode()
FOREIGN = [
    "vlan 900",
    "name theirs",
    "ip access-list GUARD",
    "10 permit ip any any",
    "router bgp 65001",
    "router-id 10.0.0.1",
    "interface Ethernet1/1",
    "description uplink",
    "switchport mode trunk",
]
PORTS = [f"Ethernet{number}/1" for number in range(9, 13)]
VLANS = st.sampled_from([101, 102, 103])
session_numbers = itertools.count(1)


class Switch:
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
        parameters = {"version": 1, "format": output, "cmds": ["enable", *commands]}
        body = json.dumps({"jsonrpc": "2.0", "id": "1", "method": "runCmds", "params": parameters}).encode()
        with urlopen(Request(self.url, body, {"Authorization": f"Basic {SECRET}"}), timeout=10) as response:
            answer = json.load(response)
        if "error" in answer:
            raise DeviceError(str(answer["error"]["data"][-1]["errors"]))
        results = answer["result"][1:]
        return [result.get("output", "") if output == "text" else json.dumps(result) for result in results]

    def change(self, vlans: Any, ports: Any, check_mode: bool = False, confirm_within: int = 60) -> Outcome:
        self.requests = 0
        name = f"ipu-pod-test-{next(session_numbers)}"
        one = Change(declare(vlans, ports), self.send, name, confirm_within)
        return converge(one.read, one.plan, one.apply, check_mode)

    def section(self, *words: str) -> str:
        return "".join(self.send([f"show running-config section {word}"], "text")[0] for word in words)


@pytest.fixture(scope="module")
def switch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Switch]:
    directory = tmp_path_factory.mktemp("switch")
    credentials = ["--user", "admin", "--password", "s3cret"]
    process = subprocess.Popen(
        [PODSIM, "eos", "--listen", "127.0.0.1:0", *credentials, "--config", "running-config"],
        cwd=directory,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    greeting = process.stdout.readline()
    found = Switch(greeting.split()[-1])
    found.send(["configure", *FOREIGN], "text")
    yield found
    process.terminate()
    process.wait(10)


ACCESS = st.fixed_dictionaries({"mode": st.just("access"), "vlan": VLANS})
TRUNK = st.fixed_dictionaries(
    {"mode": st.just("trunk"), "native_vlan": st.just(101)},
    optional={"allowed_vlans": st.lists(VLANS, unique=True).map(lambda vlans: [str(vlan) for vlan in {101, *vlans}])},
)
COMMON = st.fixed_dictionaries(
    {},
    optional={
        "mtu": st.sampled_from([9000, 9214]),
        "description": st.sampled_from(["ipum1 RNIC", "a 'quoted' text"]),
        "enabled": st.booleans(),
    },
)
DECLARED = st.dictionaries(
    st.sampled_from(PORTS), st.tuples(st.one_of(ACCESS, TRUNK, st.just({})), COMMON), max_size=len(PORTS)
).map(lambda ports: [{"name": name, **mode, **common} for name, (mode, common) in ports.items()])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ports=DECLARED)
def test_check_foretells_apply_reaches_a_second_plan_is_empty_and_foreign_lines_stay(
    switch: Switch, ports: list[dict[str, Any]]
) -> None:
    vlans = [{"vlan_id": vlan, "name": f"vpod-{vlan}"} for vlan in (101, 102, 103)]
    foreign = switch.section("access-list", "bgp", "Ethernet1/1", "vlan 900")
    try:
        foretold = switch.change(vlans, ports, check_mode=True)
    except Refused:
        event("refused")
        return
    outcome = switch.change(vlans, ports)
    event(f"{len(outcome.steps)} steps")
    assert outcome.failure is None
    assert (foretold.after, foretold.steps) == (outcome.after, outcome.steps)
    assert not switch.change(vlans, ports).changed
    assert switch.section("access-list", "bgp", "Ethernet1/1", "vlan 900") == foreign


def test_a_lost_control_node_leaves_the_switch_as_it_was(switch: Switch) -> None:
    """After the commit nobody confirms: the timer puts the old configuration back."""
    before = switch.send(["show running-config"], "text")[0]
    switch.cut_after_commit = True
    outcome = switch.change([{"vlan_id": 777, "name": "lost"}], [], confirm_within=10)
    switch.cut_after_commit = switch.cut = False
    assert "the switch undoes it by itself within 10 s" in outcome.result()["failed_step"]["error"]
    assert "vlan 777" in switch.send(["show running-config"], "text")[0]
    deadline = time.monotonic() + 20
    while "vlan 777" in switch.send(["show running-config"], "text")[0]:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert switch.send(["show running-config"], "text")[0] == before


def test_a_timer_of_somebody_else_is_respected(switch: Switch) -> None:
    switch.send(["configure session theirs", "vlan 901", "commit timer 00:01:00"], "text")
    with pytest.raises(Refused, match="another configuration session is open on the switch: theirs"):
        switch.change([{"vlan_id": 778, "name": "ours"}], [])
    switch.send(["configure session theirs abort"], "text")


def test_a_switch_that_is_right_is_asked_once(switch: Switch) -> None:
    switch.change([{"vlan_id": 101, "name": "vpod-101"}], [])
    assert not switch.change([{"vlan_id": 101, "name": "vpod-101"}], []).changed
    assert switch.requests == 1
