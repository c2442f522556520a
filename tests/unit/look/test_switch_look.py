# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A look at a switch that refuses, or that is not there: the one is an answer, the other is none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._look.switch import look_at
from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._tor.session import CommandRefused


def test_a_switch_to_which_there_is_no_way_is_not_looked_at() -> None:
    def send(_commands: Sequence[str], _output: str) -> list[str]:
        raise DeviceError("ssh connect failed: Connection refused")

    with pytest.raises(DeviceError, match="Connection refused"):
        look_at(send, "control1", lambda: 0.0)


def test_a_switch_that_refuses_a_command_has_answered() -> None:
    def send(_commands: Sequence[str], _output: str) -> list[str]:
        raise CommandRefused("the switch refused it: % Authorization denied")

    parts = look_at(send, "control1", lambda: 0.0)
    assert all(part.keys() == {"message"} for part in parts.values())
    assert parts["running_config"]["message"] == "the switch refused it: % Authorization denied"
