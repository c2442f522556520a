# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed as ratios, and how much devices are asked; a file of its own: `python -m tests.benchmark.bench_tor`."""

from __future__ import annotations

from ansible.plugins.loader import init_plugin_loader

from tests.support.checkout import COLLECTIONS

init_plugin_loader([str(COLLECTIONS)])
