# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated pod as the tests start and remove it: by its own program, with its state in the checkout."""

from __future__ import annotations

import os
import ssl
import subprocess
from typing import Any

import pytest

from tests.support.checkout import PROGRAMS, ROOT
from tests.support.eapi import run_commands

# The newest Ansible, where the machine has a Python for it; the oldest that is supported is among the programs above.
NEWEST_ANSIBLE = ROOT / ".venv" / "newest" / "bin"
STATE = ROOT / "build" / "podsim"


def podsim(*arguments: str, may_be_unavailable: bool = False) -> None:
    """Run one of its commands. Where it fails, so does the test.

    Args:
        arguments: the command.
        may_be_unavailable: skip the test where it says that this host cannot have what it is about.
    """
    done = subprocess.run([f"{PROGRAMS}/podsim", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if may_be_unavailable and done.returncode == os.EX_UNAVAILABLE:
        pytest.skip(done.stderr.strip().removeprefix("podsim: "))
    if done.returncode != 0:
        pytest.fail(f"podsim {arguments[0]}: {done.stdout}{done.stderr}")


def typed(management: str, *commands: str) -> list[dict[str, Any]]:
    """Type commands at a ToR switch, as a person would, and return what it answers to each.

    Args:
        management: the address of the switch.
        commands: those of privileged mode.
    """
    context = ssl.create_default_context(cafile=STATE / "ca.pem")
    document = run_commands(f"https://{management}/command-api", ["enable", *commands], "admin", "podsim", context)
    assert "error" not in document, document["error"]
    result: list[dict[str, Any]] = document["result"]
    return result
