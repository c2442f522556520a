# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties of Ansible's runs in every scenario, by the recaps in its log; the last run is the dry one."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

from tests.support.simulated_pod import STATE

RECAP = re.compile(r"\| (\S+) +: ok=(\d+) +changed=(\d+) +unreachable=(\d+) +failed=(\d+) ")
KINDS = ("switches", "controllers", "poplar_servers")


@pytest.fixture(scope="module")
def devices() -> set[str]:
    """The devices on the simulator's floor: one that an inventory leaves out is missed."""
    floor = yaml.safe_load((STATE / "facts.yml").read_text())["sim"]
    return {name for kind in KINDS for name in floor[kind]}


@pytest.fixture(scope="module")
def runs() -> list[dict[str, tuple[int, ...]]]:
    """Of each run on the pod, how many tasks of each host were ok, changed, unreachable, failed."""
    log = Path(os.environ["ANSIBLE_LOG_PATH"]).read_text()
    recaps = [
        {host: tuple(map(int, figures)) for host, *figures in RECAP.findall(recap)}
        for recap in log.split("PLAY RECAP")[1:]
    ]
    return [recap for recap in recaps if recap.keys() != {"localhost"}]


def test_every_device_took_part_in_every_run(runs: list[dict[str, tuple[int, ...]]], devices: set[str]) -> None:
    assert len(devices) > 1
    for run in runs:
        assert {host for host, (ok, *_) in run.items() if ok} - {"localhost"} == devices


def test_a_dry_run_afterwards_finds_nothing_to_change(runs: list[dict[str, tuple[int, ...]]]) -> None:
    first, *_, last = runs
    assert any(changed for _, changed, *_ in first.values())
    assert {host: figures[1:] for host, figures in last.items()} == dict.fromkeys(last, (0, 0, 0))
