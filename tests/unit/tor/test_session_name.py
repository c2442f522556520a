# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a configuration session is, as its name says."""

from __future__ import annotations

import os

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._tor.session_name import Owner, is_gone, owner_of

BEGIN = 1_738_324_800
DEAD = 2**22 + 1


def test_name_says_who_where_and_when() -> None:
    owner = Owner("root", "control", 4711, BEGIN)
    assert owner.session == "ipu-pod_root_control_4711_20250131T120000Z"
    assert owner_of(owner.session) == owner
    assert owner_of(f"{owner.session}_canary") == owner


def test_name_is_short_and_plain() -> None:
    name = Owner("a_user@a.very.long.domain", "h" * 100, 4194304, BEGIN).session
    assert name == f"ipu-pod_a-user-a._{'h' * 12}_4194304_20250131T120000Z"
    assert len(f"{name}_canary") <= 63


@pytest.mark.parametrize("name", ["joe", "sess-1--0", "ipu-pod_a_b", "ipu-pod_a_b_c_20250131T120000Z", "ansible_1738"])
def test_name_of_somebody_else(name: str) -> None:
    assert owner_of(name) is None


# Test workers have to agree on the names of the tests, which hold the parameters.
OURS = 0


@pytest.mark.parametrize(
    ("host", "pid", "seconds", "gone"),
    [
        ("control", DEAD, 0, True),
        ("control", OURS, 0, False),
        ("control", 1, 0, False),
        ("elsewhere", DEAD, 3600, False),
        ("elsewhere", DEAD, 3601, True),
        ("control", OURS, 3601, True),
    ],
)
def test_owner_is_gone(host: str, pid: int, seconds: int, gone: bool) -> None:
    pid = pid or os.getpid()
    assert is_gone(Owner("root", host, pid, BEGIN), "control", BEGIN + seconds) is gone
