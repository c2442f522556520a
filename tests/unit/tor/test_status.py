# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons why ports and VLANs do not work, understood; an answer of another shape is an error."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._tor.observed import VLAN_MEMBERS
from ansible_collections.ipu.pod.plugins.module_utils._tor.status import BLOCKED, LINKS, STATUS, Status, status

ANSWERS = {
    VLAN_MEMBERS: {"vlans": {"101": {"name": "t", "status": "suspended", "interfaces": {"Ethernet9/1": {}}}}},
    LINKS: {
        "interfaceStatuses": {"Ethernet9/1": {"linkStatus": "errdisabled"}, "Management1": {"linkStatus": "connected"}}
    },
    BLOCKED: {"spanningTreeInstances": {"MST0": {"spanningTreeBlockedPorts": ["Ethernet10/1"]}}},
}


def test_every_answer_is_understood() -> None:
    assert list(ANSWERS) == list(STATUS)
    assert status({command: json.dumps(answer) for command, answer in ANSWERS.items()}) == Status(
        links={"Ethernet9/1": "errdisabled", "Management1": "connected"},
        vlans={"101": "suspended"},
        members={"101": ["Ethernet9/1"]},
        blocked={"MST0": ["Ethernet10/1"]},
    )


@pytest.mark.parametrize("command", STATUS)
@pytest.mark.parametrize("answer", ["", "[]", "{}", '"% Invalid input"', '{"spanningTreeInstances": {"MST0": {}}}'])
def test_an_answer_of_another_shape_is_an_error(command: str, answer: str) -> None:
    answers = {name: json.dumps(right) for name, right in ANSWERS.items()}
    with pytest.raises(DeviceError, match=f"the answer to '{command}' is not understood"):
        status({**answers, command: answer})
