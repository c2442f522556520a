# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A V-IPU controller that several tenants share and that authenticates nobody is a warning."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.open_controllers import open_controllers


def warnings(mode: str, **vpods: dict[str, Any]) -> list[str]:
    document = {
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64", "poplar_servers": 4}},
        "controllers": {"v": {"host": "p-poplar1", "mode": mode}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": {name: {"cluster": "c", "ipus": 16, "users": [name], **fields} for name, fields in vpods.items()},
    }
    return open_controllers(parse_declaration(document))


def test_an_open_controller_with_several_vpods_is_named_once_with_the_consequence() -> None:
    assert warnings("insecure", alice={}, bob={}, carol={}) == [
        "controllers.v.mode: insecure, with 3 vPODs (alice, bob, carol); whoever reaches its ports, each tenant among "
        "them, can use, change and remove what all of them have; declare it as secure, or give vPODs a dedicated "
        "controller"
    ]


@pytest.mark.parametrize(
    ("mode", "bob"),
    [("secure", {}), ("insecure", {"state": "absent"}), ("insecure", {"controller": "dedicated", "vlan": 101})],
    ids=["secure", "alone", "dedicated"],
)
def test_a_controller_that_is_secure_or_has_one_vpod_is_no_warning(mode: str, bob: dict[str, Any]) -> None:
    assert warnings(mode, alice={}, bob=bob) == []
