# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes of a device in a run, in one line."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._reports.run_report import line_of

Step = dict[str, Any]


def step(kind: str, name: str, /, action: str = "update", device: str = "p-tor", **fields: tuple[Any, Any]) -> Step:
    """A step that changes these fields, each from and to."""
    before = None if action == "create" else {field: values[0] for field, values in fields.items()}
    after = None if action == "remove" else {field: values[1] for field, values in fields.items()}
    return {"device": device, "kind": kind, "name": name, "action": action, "from": before, "to": after}


VLAN = step("vlan", "101", "create", name=(None, "vpod-alice"))
PORT = step("port", "Ethernet9/1", vlan=(1, 101))


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (VLAN, "vlan 101 vpod-alice added"),
        (PORT, "Ethernet9/1 vlan 1 -> 101"),
        (step("vlan", "101", "remove", name=("vpod-alice", None)), "vlan 101 vpod-alice removed"),
        (step("partition", "train", "recreate", size=(4, 8)), "partition train made again"),
        (step("kernel_parameter", "vm.x", value=("1", "2")), "kernel parameter vm.x value 1 -> 2"),
        (step("file", "/a", mode=("0644", "0600"), owner=("root", "ann")), "/a mode 0644 -> 0600, owner root -> ann"),
        (step("port", "Et1", a=(1, 2), b=(1, 2), c=(1, 2), d=(1, 2)), "Et1 changed: a, b, c, d"),
        (step("file", "/etc/a", sha256=("0", "1")), "/etc/a changed"),
        (step("file", "/etc/a", "create", sha256=(None, "1")), "/etc/a added"),
        (step("service", "a.service", state=("absent", None)), "a.service state absent -> not there"),
        (step("port", "Et1", description=("x" * 60, "y")), "Et1 description ... -> y"),
    ],
)
def test_one_step(one: dict[str, Any], words: str) -> None:
    assert line_of("p-tor", [one]) == f"p-tor: {words}"


def test_steps_of_a_device_stand_in_one_line_by_kind() -> None:
    other = step("vlan", "102", "create", name=(None, "vpod-bob"))
    assert line_of("p-tor", [VLAN, PORT, other]) == (
        "p-tor: vlan 101 vpod-alice added; vlan 102 vpod-bob added; Ethernet9/1 vlan 1 -> 101"
    )


def test_of_many_steps_of_one_kind_only_the_number_and_the_fields_are_shown() -> None:
    ports = [step("port", f"Et{n}", vlan=(1, 101), **({"mtu": (1500, 9214)} if n == 2 else {})) for n in range(1, 6)]
    assert line_of("p-tor", ports) == "p-tor: 5 ports changed: vlan, mtu"
    assert line_of("p-tor", ports[:4]).count("->") == 5
    agents = [step("agent", f"p-ipum{n}", "create", host=(None, "x")) for n in range(1, 17)]
    assert line_of("ctrl", agents) == "ctrl: 16 agents added"


def test_the_steps_of_a_device_are_in_their_order() -> None:
    nic = step("interface", "rnic0", device="p-poplar1", mtu=(1500, 9000))
    both = [nic, {**nic, "name": "rnic1"}]
    assert line_of("p-poplar1", both) == "p-poplar1: rnic0 mtu 1500 -> 9000; rnic1 mtu 1500 -> 9000"
    assert line_of("p-tor", [VLAN]) == "p-tor: vlan 101 vpod-alice added"
