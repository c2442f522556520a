# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The counts of numbered datagrams: a flow that loses nothing has to be able to lose something."""

from __future__ import annotations

import pytest

from tests.support.packets.flow import Tally


@pytest.mark.parametrize(
    ("came", "lost", "duplicated", "reordered"),
    [
        ([0, 1, 2, 3], 0, 0, 0),
        ([0, 1, 3], 1, 0, 0),
        ([1, 2, 3], 1, 0, 0),
        ([0, 1, 2], 1, 0, 0),
        ([], 4, 0, 0),
        ([0, 2, 1, 3], 0, 0, 1),
        ([0, 1, 1, 2, 3], 0, 1, 0),
        ([0, 2, 1, 1], 1, 1, 1),
    ],
)
def test_of_four_that_were_sent(came: list[int], lost: int, duplicated: int, reordered: int) -> None:
    tally = Tally()
    for number in came:
        tally.count(number)
    assert (tally.lost(4), tally.duplicated, tally.reordered) == (lost, duplicated, reordered)
