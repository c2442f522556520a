# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A name that looks like an option reaches no program, whoever has given it to an entity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import DeviceError
from ansible_collections.ipu.pod.plugins.module_utils._plan.steps import CREATE, REMOVE, Step
from ansible_collections.ipu.pod.plugins.module_utils._vipu.cli import Controller
from ansible_collections.ipu.pod.plugins.module_utils._vipu.entities import KINDS
from tests.support.hostile import HOSTILE, is_seen

COMMANDS: dict[str, Callable[[Controller, str], Any]] = {
    **{f"create {kind}": lambda c, n, kind=kind: c.carry_out(Step(CREATE, kind, n, "", after={})) for kind in KINDS},
    **{f"remove {kind}": lambda c, n, kind=kind: c.carry_out(Step(REMOVE, kind, n, "", before={})) for kind in KINDS},
    "create user with its key": lambda controller, name: controller.create_user(name, {}),
    "remove by force": Controller.remove_partition_by_force,
    "test": Controller.test_cluster,
    "reset": Controller.reset_partition,
    "status": Controller.partition_status,
    "configuration": lambda controller, name: controller.ipuof_configuration(name, 0),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("name", ["--force", "-x", "..", *HOSTILE.values()], ids=["--force", "-x", "..", *HOSTILE])
def test_a_hostile_name_reaches_no_program(command: Callable[[Controller, str], Any], name: str) -> None:
    called: list[list[str]] = []

    def run(argv: list[str]) -> tuple[int, str, str]:
        called.append(argv)
        return 0, "{}", ""

    with pytest.raises(DeviceError) as refused:
        command(Controller(run, "vipu-admin", "127.0.0.1", 8191), name)
    assert called == []
    assert "a name that a program could take for an option" in str(refused.value) or name in HOSTILE.values()
    assert is_seen(str(refused.value))
