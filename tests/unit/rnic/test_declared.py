# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a declaration by itself is refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.module_utils._plan.converge import Refused
from ansible_collections.ipu.pod.plugins.module_utils._rnic.declared import Interface, interfaces_from


def test_spelling_does_not_matter() -> None:
    options = [{"name": "rnic0", "mac": "04-3F-72-00-01-02", "addresses": ["fd00:0::1/64", "10.5.1.101/16"]}]
    expected = Interface("rnic0", "04:3f:72:00:01:02", addresses=("10.5.1.101/16", "fd00::1/64"))
    assert interfaces_from(options) == [expected]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([{"name": "rnic 0"}], "interface rnic 0: the name is no interface name"),
        ([{"name": "rnic0", "mac": "04:3f"}], "mac '04:3f' is no MAC address"),
        ([{"name": "rnic0", "addresses": ["10.5.1.1"]}], "10.5.1.1 lacks its prefix length; write it like 10.5.1.1/16"),
        ([{"name": "rnic0", "addresses": ["10.5.1.1/33"]}], "'10.5.1.1/33' is no address with prefix length"),
        ([{"name": "rnic0", "addresses": ["10.5.0.0/16"]}], "is the first or last address of 10.5.0.0/16"),
        ([{"name": "rnic0", "addresses": ["224.0.0.1/16"]}], "224.0.0.1/16 cannot be a NIC's address"),
        ([{"name": "rnic0", "description": "two\nlines"}], "the description must be one line"),
        ([{"name": "rnic0"}, {"name": "rnic0"}], "the name rnic0 is declared twice"),
        (
            [{"name": "a", "addresses": ["10.5.1.1/16"]}, {"name": "b", "addresses": ["10.5.1.1/24"]}],
            "interfaces a and b: the address 10.5.1.1 is declared twice; keep one",
        ),
    ],
)
def test_refused(options: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(Refused) as refused:
        interfaces_from(options)
    assert message in str(refused.value)
