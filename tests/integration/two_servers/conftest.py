# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulated pod of two Poplar servers for the modules of this folder: the first of them brings it up."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.conftest import brought_up, running_pod
from tests.support.checkout import ROOT

INVENTORY = ROOT / "inventories" / "sim_two_servers"


@pytest.fixture(scope="package")
def fresh_pod() -> Iterator[Any]:
    """A pod that no playbook has touched."""
    yield from running_pod(INVENTORY)


@pytest.fixture(scope="package")
def pod(fresh_pod: Any) -> Any:
    """The pod as declared, whoever has brought it up."""
    return brought_up(fresh_pod)


def first_process(machine: str) -> int:
    """The process that a machine began with."""
    ask = ["podman", "inspect", "--format", "{{.State.Pid}}", f"podsim-{machine}"]
    return int(subprocess.run(ask, check=True, capture_output=True, text=True).stdout)


def below(process: int, program: str) -> int:
    """A child of a process, by what is in its command."""
    children = subprocess.run(["pgrep", "-P", str(process), "-f", program], check=True, capture_output=True, text=True)
    return int(children.stdout.split()[0])
