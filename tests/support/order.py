# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of tests: what takes long begins early, so that no worker is alone with it in the end."""

from __future__ import annotations

from collections.abc import Sequence

import pytest


def long_ones_first(items: list[pytest.Item], long_ones: Sequence[str]) -> None:
    """Put the tests of these files or folders first, in their order; what belongs together stays together."""

    def place(item: pytest.Item) -> int:
        return next((place for place, name in enumerate(long_ones) if name in item.nodeid), len(long_ones))

    items.sort(key=place)
