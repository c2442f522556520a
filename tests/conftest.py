# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the tests import `ansible_collections.ipu.pod` the way Ansible does."""

from __future__ import annotations

from pathlib import Path

from ansible.plugins.loader import init_plugin_loader
from hypothesis import settings

COLLECTIONS = Path(__file__).resolve().parents[1] / ".venv" / "collections"

init_plugin_loader([str(COLLECTIONS)])

# The machines that run the tests are shared and slow: time limits belong into tests/benchmark.
settings.register_profile("ipu.pod", deadline=None)
settings.load_profile("ipu.pod")
