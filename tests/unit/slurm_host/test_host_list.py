# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's short form of names, there and back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._slurm_host.host_list import count_of, expanded, folded


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
    assert sorted(expanded(short)) == sorted(names)


@pytest.mark.parametrize(
    ("hosts", "names"),
    [
        ("node", ["node"]),
        ("a,b[1-2],c", ["a", "b1", "b2", "c"]),
        ("n[08-11]x", ["n08x", "n09x", "n10x", "n11x"]),
        ("r[1-2]n[1,3]", ["r1n1", "r1n3", "r2n1", "r2n3"]),
    ],
)
def test_a_host_list_is_spelled_out(hosts: str, names: list[str]) -> None:
    assert expanded(hosts) == names


@pytest.mark.parametrize("hosts", ["", "a", "node[1-3,07],login", "a[1-2]b[0-9]", "n[3-1]"])
def test_its_names_are_counted_without_being_made(hosts: str) -> None:
    assert count_of(hosts) == len(expanded(hosts))
    assert count_of("node[1-999999999]") == 999999999


def test_a_host_list_that_is_none_is_refused() -> None:
    with pytest.raises(Refused, match=r"'node\[a-b\]' is no list of hosts; write it like node\[1-4\]"):
        expanded("node[a-b]")
