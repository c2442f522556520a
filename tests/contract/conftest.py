# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of the contract tests."""

from __future__ import annotations

import pytest

from tests.order import long_ones_first

LONG_ONES = (
    "test_server_roles.py",
    "test_dedicated_playbooks.py",
    "test_dead_machines.py",
    "test_rnic_armed_change.py",
    "test_ownership.py",
    "test_dedicated_role.py",
    "test_rnic_backends.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Longest first."""
    long_ones_first(items, LONG_ONES)
