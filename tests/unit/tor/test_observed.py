# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The show commands, parsed; an answer of another shape is an error that names the command."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._tor import observed
from ansible_collections.ipu.pod.plugins.module_utils._tor.observed import Observed

ANSWERS = {
    observed.LLDP: {
        "lldpNeighbors": [{"port": "Ethernet9/1", "neighborDevice": "ipum1", "neighborPort": "rnic0", "ttl": 120}]
    },
    observed.MACS: {
        "unicastTable": {
            "tableEntries": [
                {
                    "macAddress": "0C:42:A1:00:01:01",
                    "vlanId": 101,
                    "interface": "Ethernet9/1",
                    "entryType": "dynamic",
                    "moves": 1,
                },
                {"macAddress": "00:1c:73:00:00:01", "vlanId": 101, "interface": "Router", "entryType": "static"},
            ]
        }
    },
    observed.VLAN_MEMBERS: {
        "vlans": {"101": {"name": "t", "status": "active", "interfaces": {"Ethernet9/1": {}, "Cpu": {}}}}
    },
    observed.ERRORS: {"interfaceErrorCounters": {"Ethernet9/1": {"inErrors": 2, "fcsErrors": 1}}},
    observed.PAUSE_FRAMES: {"interfaceCounters": {"Ethernet9/1": {"rxFrames": 5, "txFrames": 0}}},
    observed.ECN_MARKS: {"intfQueueCounters": {"Ethernet9/1": {"queueCounters": {"0": "-", "3": "17"}}}},
}


def test_every_answer_is_understood() -> None:
    assert observed.observed({command: json.dumps(answer) for command, answer in ANSWERS.items()}) == Observed(
        neighbours={"Ethernet9/1": [{"device": "ipum1", "port": "rnic0"}]},
        macs={"Ethernet9/1": [{"mac": "0c:42:a1:00:01:01", "vlan": 101}]},
        vlan_members={"101": ["Ethernet9/1", "Cpu"]},
        errors={"Ethernet9/1": {"inErrors": 2, "fcsErrors": 1}},
        pause_frames={"Ethernet9/1": {"rx": 5, "tx": 0}},
        ecn_marks={"Ethernet9/1": {"3": 17}},
    )


def test_what_was_not_asked_is_not_known() -> None:
    assert observed.observed({observed.MACS: json.dumps(ANSWERS[observed.MACS])}).neighbours is None


@pytest.mark.parametrize("command", ANSWERS)
@pytest.mark.parametrize("answer", ["", "[]", "{}", '"% Invalid input"', '{"lldpNeighbors": [{}]}'])
def test_an_answer_of_another_shape_is_an_error(command: str, answer: str) -> None:
    with pytest.raises(DeviceError, match=f"the answer to '{command}' is not understood"):
        observed.observed({command: answer})
