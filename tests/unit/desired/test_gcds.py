# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Poplar server runs which GCD of a partition, and the settings of Poplar there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

SERVERS = [f"p-poplar{n}" for n in range(1, 5)]


def document(train: dict[str, Any], ipuof: str = "files", **words: Any) -> dict[str, Any]:
    vpod = {"cluster": "c", "ipus": 32, "poplar_servers": SERVERS, "ipuof": ipuof, "partitions": {"train": train}}
    return {
        "schema": 1,
        "pods": {"p": {"model": "bow-pod64", "poplar_servers": 4}},
        "controllers": {"v": {"address": "10.1.3.200"}},
        "clusters": {"c": {"controller": "v", "pods": ["p"]}},
        "vpods": {"alice": {**vpod, **words}},
    }


def gcds_of_servers(train: dict[str, Any], ipuof: str = "files") -> list[list[int]]:
    """The GCDs in the settings of the four servers."""
    declaration = parse_declaration(document(train, ipuof))
    servers = desired(declaration, place(declaration, {}))["poplar_servers"]
    for name in SERVERS:
        names = {each["name"] for each in servers[name]["ipuof"]["partitions"]}
        assert names == set(servers[name]["partitions"])
    return [[each["gcd"] for each in servers[name]["ipuof"]["partitions"]] for name in SERVERS]


@pytest.mark.parametrize("ipuof", ["files", "environment"])
def test_with_a_server_for_each_gcd_each_gets_its_own(ipuof: str) -> None:
    train = {"ipus": 32, "gcds": 4, "poplar_servers": [SERVERS[2], SERVERS[0], SERVERS[1], SERVERS[3]]}
    assert gcds_of_servers(train, ipuof) == [[1], [2], [0], [3]]


@pytest.mark.parametrize("ipuof", ["files", "environment"])
def test_a_server_can_have_several_gcds_and_others_none(ipuof: str) -> None:
    train = {"ipus": 32, "gcds": 4, "poplar_servers": [SERVERS[1], SERVERS[1], SERVERS[3], SERVERS[3]]}
    assert gcds_of_servers(train, ipuof) == [[], [0, 1], [], [2, 3]]


def test_one_server_has_all_gcds_and_the_environment_of_the_first() -> None:
    train = {"ipus": 32, "gcds": 2, "poplar_servers": [SERVERS[3]]}
    assert gcds_of_servers(train) == [[], [], [], [0, 1]]
    assert gcds_of_servers(train, "environment") == [[], [], [], [0]]


def test_without_a_list_every_server_has_all_gcds() -> None:
    assert gcds_of_servers({"ipus": 32, "gcds": 2}) == [[0, 1]] * 4


def test_several_servers_can_share_the_only_gcd() -> None:
    assert gcds_of_servers({"ipus": 32, "poplar_servers": SERVERS[:2]}) == [[0], [0], [], []]


@pytest.mark.parametrize(
    ("train", "message"),
    [
        (
            {"gcds": 4, "poplar_servers": SERVERS[:3]},
            "3 servers for 4 GCDs; name one for each GCD in their order (4 names, a server may stand there several "
            "times), or one for all of them",
        ),
        ({"poplar_servers": [SERVERS[0]] * 2}, "'p-poplar1' is listed twice, but there is one GCD; keep one"),
        (
            {"poplar_servers": ["p-poplar9"]},
            "'p-poplar9' is not a server of this vPOD; add it to vpods.alice.poplar_servers",
        ),
    ],
)
def test_a_count_that_fits_nothing_is_refused(train: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        parse_declaration(document({"ipus": 32, **train}))
    assert refused.value.problems == [f"vpods.alice.partitions.train.poplar_servers: {message}"]


@given(st.sampled_from([1, 2, 4, 8]), st.data())
def test_every_gcd_runs_on_exactly_the_server_that_is_named_for_it(gcds: int, data: Any) -> None:
    named = data.draw(st.lists(st.sampled_from(SERVERS), min_size=gcds, max_size=gcds))
    found = gcds_of_servers({"ipus": 32, "gcds": gcds, "poplar_servers": named})
    assert [(name, gcd) for name, of_it in zip(SERVERS, found, strict=True) for gcd in of_it] == sorted(
        (name, gcd) for gcd, name in enumerate(named)
    )
