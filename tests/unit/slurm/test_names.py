# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's short form of names, which Slurm's programs would understand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._slurm.names import folded


@pytest.mark.parametrize(
    ("names", "short"),
    [
        ([], ""),
        (["m1"], "m1"),
        (["m10", "m9", "m1"], "m[1,9-10]"),
        (["a-1", "b-2", "a-2"], "a-[1-2],b-2"),
        (["node01", "node02", "other"], "node0[1-2],other"),
    ],
)
def test_names_in_slurms_short_form(names: Sequence[str], short: str) -> None:
    assert folded(names) == short
