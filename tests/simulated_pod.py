# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated pod as the tests start and remove it: by its own program, with its state in the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
PROGRAMS = Path(sys.executable).parent
# The newest Ansible, where the machine has a Python for it; the oldest that is supported is among the programs above.
NEWEST_ANSIBLE = PROJECT / ".venv" / "newest" / "bin"
STATE = PROJECT / "build" / "podsim"


def podsim(*arguments: str, may_be_unavailable: bool = False) -> None:
    """Run one of its commands. Where it fails, so does the test.

    Args:
        arguments: the command.
        may_be_unavailable: skip the test where it says that this host cannot have what it is about.
    """
    done = subprocess.run([f"{PROGRAMS}/podsim", *arguments], cwd=PROJECT, capture_output=True, text=True, check=False)
    if may_be_unavailable and done.returncode == os.EX_UNAVAILABLE:
        pytest.skip(done.stderr.strip().removeprefix("podsim: "))
    if done.returncode != 0:
        pytest.fail(f"podsim {arguments[0]}: {done.stdout}{done.stderr}")
