# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README's validate command, run as the README says, on good, bad and missing files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
PROGRAM = Path(sys.executable).parent / "ansible-playbook"


def validate(pods: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, "playbooks/validate.yml", "-e", f"pods={pods}"],
        cwd=PROJECT,
        env={**os.environ, "PWD": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("inventory", ["sim_pod64", "pod64", "pod128"])
def test_the_examples_are_good(inventory: str) -> None:
    done = validate(f"inventories/{inventory}/pods.yml")
    assert done.returncode == 0, done.stdout


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    bad = tmp_path / "pods.yml"
    bad.write_text("{plugin: ipu.pod.pods, schema: 1, pods: {p: {model: x, lrack: 0}}}")
    done = validate(str(bad))
    assert done.returncode != 0
    assert "pods.p.model: 'x' is not known" in done.stdout + done.stderr
    assert "pods.p.lrack: 0 is not a whole number from 1 to 254" in done.stdout + done.stderr


def test_a_file_that_is_not_there_is_named_with_the_remedy() -> None:
    done = validate("nowhere/pods.yml")
    assert done.returncode != 0
    assert f"{PROJECT}/nowhere/pods.yml is no file; say which with -e pods=FILE" in " ".join(done.stdout.split())
