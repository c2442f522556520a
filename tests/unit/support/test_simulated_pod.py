# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A test is skipped only where podsim says that this host cannot have what it needs; all else is a failure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import simulated_pod


@pytest.fixture(name="podsim_exits")
def _podsim_exits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A podsim that says something and exits with the code that is written into this file."""
    code, program = tmp_path / "code", tmp_path / "podsim"
    program.write_text(f'#!/bin/sh\necho "podsim: this host has no QEMU." >&2\nexit "$(cat {code})"\n')
    program.chmod(0o755)
    monkeypatch.setattr(simulated_pod, "PROGRAMS", tmp_path)
    return code


def outcome(*arguments: str, may_be_unavailable: bool = False) -> str:
    """The outcome of a test. An exception that skips would otherwise skip the test of it."""
    try:
        simulated_pod.podsim(*arguments, may_be_unavailable=may_be_unavailable)
    except pytest.skip.Exception as skipped:
        return f"skipped: {skipped.msg}"
    except pytest.fail.Exception as failed:
        return f"failed: {failed.msg}"
    return "goes on"


def test_what_this_host_cannot_have_is_skipped_with_its_reason(podsim_exits: Path) -> None:
    podsim_exits.write_text(str(os.EX_UNAVAILABLE))
    assert outcome("prerequisites", may_be_unavailable=True) == "skipped: this host has no QEMU."


@pytest.mark.parametrize("code", [1, 2, 127])
def test_any_other_failure_fails(podsim_exits: Path, code: int) -> None:
    podsim_exits.write_text(str(code))
    failed = "failed: podsim prerequisites: podsim: this host has no QEMU.\n"
    assert outcome("prerequisites", may_be_unavailable=True) == failed


def test_what_has_to_be_available_fails(podsim_exits: Path) -> None:
    podsim_exits.write_text(str(os.EX_UNAVAILABLE))
    assert outcome("up").startswith("failed: ")


def test_success_is_success(podsim_exits: Path) -> None:
    podsim_exits.write_text("0")
    assert outcome("prerequisites", may_be_unavailable=True) == "goes on"
