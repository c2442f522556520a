# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A new Slurm cluster on the pod's Poplar servers, made in one run; the scenario slurm says that it works."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="module")
def predicted(declared: Any) -> Any:
    """A dry run on hosts that have nothing of it yet."""
    before = declared.pod.fingerprint()
    run = declared.done("slurm", dry=True)
    assert declared.pod.fingerprint() == before
    return run


@pytest.fixture(scope="module")
def made(declared: Any, predicted: Any) -> Any:
    """The run."""
    assert predicted
    return declared.done("slurm")


def test_a_dry_run_predicts_what_changes(predicted: Any, made: Any) -> None:
    assert predicted.changes == made.changes


@pytest.mark.usefixtures("made")
def test_what_is_not_declared_is_refused_before_anything_is_touched(declared: Any) -> None:
    before = declared.pod.fingerprint()
    run = declared.run("slurm", slurm_way="static")
    assert run.code != 0
    assert "partition" in run.messages
    assert declared.pod.fingerprint() == before
