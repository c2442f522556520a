# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the tests import `ansible_collections.ipu.pod` the way Ansible does, and begins with those that take long."""

from __future__ import annotations

import pytest
from ansible.plugins.loader import init_plugin_loader
from hypothesis import settings

from tests.support.checkout import COLLECTIONS

init_plugin_loader([str(COLLECTIONS)])

# The machines that run the tests are shared and slow: time limits belong into tests/benchmark.
settings.register_profile("ipu.pod", deadline=None)
settings.load_profile("ipu.pod")

# What takes long begins early, so that no worker is alone with it in the end, and what a run of CI on a slow machine
# may leave out comes last.
LONG_ONES = (
    "integration/cloud/",
    "integration/vpods/",
    "integration/pod64/",
    "integration/two_servers/",
    "integration/backend_ai/",
    "test_shared_server.py",
    "test_sessions_over_two_racks.py",
    "test_worker_machines.py",
    "integration/controller/",
    "integration/slurm/",
    "test_slurm_mapping.py",
    "integration/chaos/",
    "test_pod_services.py",
    "test_server_roles.py",
    "test_dedicated_playbooks.py",
    "test_dead_machines.py",
    "test_rnic_armed_change.py",
    "test_ownership.py",
    "test_dedicated_role.py",
    "test_rnic_backends.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Longest first; what belongs together stays together."""

    def place(item: pytest.Item) -> int:
        return next((place for place, name in enumerate(LONG_ONES) if name in item.nodeid), len(LONG_ONES))

    items.sort(key=place)
