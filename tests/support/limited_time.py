# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Integration tests in limited time: which of them share a pod, and that no pod begins when the time is up."""

from __future__ import annotations

import re
import time

import pytest


def pod_of(nodeid: str) -> str:
    """What the tests of a file, or of a folder with one pod, have in common; seeds of chaos go together by the ten."""
    file, _, test = nodeid.partition("::")
    some = re.match(r"test_seed\[([1-9]\d*)-", test)
    return file.removeprefix("tests/integration/").partition("/")[0] + (some[1] if some else "")


class InTime:
    """Begins no further pod when the time is up; one that has begun has all its tests."""

    def __init__(self, minutes: float) -> None:
        self._until = time.monotonic() + 60 * minutes
        self._begun: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skips a test whose pod has not begun in time."""
        pod = pod_of(item.nodeid)
        if pod not in self._begun and time.monotonic() > self._until:
            pytest.skip("the time was up before its pod began; run: make integration")
        self._begun.add(pod)
