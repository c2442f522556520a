# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run on a switch with a release that was not tried says so in one line, and goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.simulated_tor import running_tor

DOCUMENT = {
    "plugin": "ipu.pod.pods",
    "schema": 1,
    "pods": {"p": {"model": "ipu-pod64", "tor": {"address": "127.0.0.1"}}},
}


@pytest.mark.parametrize(("release", "told"), [("4.40.1F", 1), ("4.28.3M", 0)])
def test_a_release_that_was_not_tried_is_told_in_one_line(release: str, told: int, tmp_path: Path) -> None:
    with running_tor(tmp_path, "--release", release) as tor:
        tor.declare(DOCUMENT)
        run = tor.playbook(
            ROOT / "playbooks" / "tor_switches.yml", "--check", "--limit", "localhost:switches", COLUMNS="300"
        )
    said = run.stdout + run.stderr
    assert run.returncode == 0, said
    assert said.count(f"EOS {release} of p-tor is untried; tried are 4.28, 4.13 to 4.33, see docs/tried.md") == told
