# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Free capacity, the sizes that fit, and the ways to make room, as data and as people read it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.capacity import capacity
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from ansible_collections.ipu.pod.plugins.plugin_utils._reports.capacity_table import capacity_table_of

HOST = "v"


def document(pods: int = 1, **vpods: dict[str, Any]) -> dict[str, Any]:
    names = [f"p{number}" for number in range(1, pods + 1)]
    return {
        "schema": 1,
        "pods": {
            name: {"model": "bow-pod64", "addressing": "multi-rack", "lrack": number}
            for number, name in enumerate(names, 1)
        },
        "controllers": {HOST: {"address": "10.9.0.1"}},
        "clusters": {"c": {"controller": HOST, "pods": names}},
        "vpods": {name: {"cluster": "c", **fields} for name, fields in vpods.items()},
    }


def machines(first: int, last: int, pod: int = 1) -> list[str]:
    return [f"p{pod}-ipum{number}" for number in range(first, last + 1)]


def answer(words: dict[str, Any], ipus: int = 0, cluster: str = "", **there: list[str]) -> dict[str, Any]:
    return capacity(parse_declaration(words), {HOST: there}, ipus, cluster)


def lines(words: dict[str, Any], ipus: int = 0, **there: list[str]) -> list[str]:
    return capacity_table_of(answer(words, ipus, **there))


def test_an_empty_rack_is_one_block() -> None:
    assert answer(document())["clusters"]["c"] == {
        "ipus": 64,
        "free_ipus": 64,
        "largest_block_ipus": 64,
        "free_blocks": [machines(1, 16)],
        "racks": {"p1": dict.fromkeys(machines(1, 16))},
    }


def test_free_pods_in_a_row_are_one_block() -> None:
    found = answer(document(4), alice=machines(1, 1, 2))["clusters"]["c"]
    assert found["largest_block_ipus"] == 128
    assert [len(block) for block in found["free_blocks"]] == [32, 16, 8, 4, 2, 1]


def test_who_has_what_and_what_is_to_come() -> None:
    words = document(alice={"ipus": 16}, carol={"ipus": 8})
    words["pods"]["p1"]["excluded"] = ["p1-ipum16"]
    found = answer(words, alice=machines(1, 4), job7=machines(9, 9))
    rack = found["clusters"]["c"]["racks"]["p1"]
    assert rack["p1-ipum1"] == {"name": "alice", "ipus": 16, "job_ipus": None, "excluded": False}
    assert rack["p1-ipum9"] == {"name": "job7", "ipus": 4, "job_ipus": None, "excluded": False}
    assert rack["p1-ipum16"] == {"name": "p1-ipum16", "ipus": 4, "job_ipus": None, "excluded": True}
    assert found["to_come"] == {"carol": machines(11, 12)}
    assert found["clusters"]["c"]["free_ipus"] == 64 - 16 - 4 - 4 - 8


def test_it_fits_where_the_next_vpod_would_lie() -> None:
    words = document(alice={"ipus": 16})
    assert answer(words, 32, alice=machines(1, 4))["fits"] == {"c": machines(9, 16)}
    assert answer(words, 16, alice=machines(1, 4))["fits"] == {"c": machines(5, 8)}
    assert answer(words, 64, alice=machines(1, 4))["fits"] == {"c": None}


def test_who_can_move_comes_before_who_has_to_go() -> None:
    words = document(2, alice={"ipus": 16}, bob={"ipus": 8}, carol={"ipus": 32}, dave={"ipus": 32})
    there = {"alice": machines(5, 8), "bob": machines(9, 10), "carol": machines(1, 8, 2), "dave": machines(9, 16, 2)}
    ways = answer(words, 32, **there)["ways"]["c"]
    assert [(way["in_the_way"], way["moves"]) for way in ways] == [
        (["bob"], {"bob": machines(1, 2)}),
        (["alice"], {"alice": machines(13, 16)}),
        (["carol"], {}),
    ]
    assert ways[0]["block"] == machines(9, 16)


def test_who_could_move_is_better_than_who_is_smaller_and_could_not() -> None:
    words = document(2, alice={"ipus": 8, "poplar_servers": ["p1-poplar1"]}, bob={"ipus": 16})
    there = {"alice": machines(1, 2), "job": machines(9, 16), "bob": machines(1, 4, 2), "x": machines(13, 16, 2)}
    ways = answer(words, 32, **there)["ways"]["c"]
    assert [way["in_the_way"] for way in ways] == [["bob"], ["x"], ["alice"]]


def test_several_move_to_places_of_their_own_or_go() -> None:
    words = document(2, alice={"ipus": 4}, bob={"ipus": 4})
    there = {"alice": machines(1, 1), "bob": machines(16, 16), "job": machines(3, 14, 2)}
    (way, *_rest) = answer(words, 64, **there)["ways"]["c"]
    assert way["moves"] == {"alice": machines(1, 1, 2), "bob": machines(2, 2, 2)}
    full = {**there, "rest": [*machines(1, 2, 2), *machines(16, 16, 2)]}
    (way, *_rest) = answer(words, 64, **full)["ways"]["c"]
    assert way["moves"] == {"alice": machines(15, 15, 2)}
    assert "moving alice to p2-ipum15 and removing bob would make room" in " ".join(lines(words, 64, **full))


def test_where_there_is_no_spine_nobody_moves_out_of_the_rack_of_the_servers() -> None:
    words = document(2, alice={"ipus": 16, "poplar_servers": ["p1-poplar1"]}, bob={"ipus": 32})
    there = {"alice": machines(1, 4), "bob": machines(9, 16), "far": machines(1, 1, 2)}
    free = {way["in_the_way"][0]: way["moves"] for way in answer(words, 64, **there)["ways"]["c"]}
    assert free["far"] == {"far": machines(5, 5)}
    assert "alice" not in free["alice"]


def test_a_dead_machine_is_in_nobodys_power() -> None:
    words = document()
    words["pods"]["p1"]["excluded"] = ["p1-ipum7"]
    assert lines(words, 64) == [
        "c: 60 of 64 IPUs free, in blocks: 1 of 32, 1 of 16, 1 of 8, 1 of 4",
        "  p1  .... ..x. .... ....  p1-ipum1..16",
        "      x p1-ipum7, excluded",
        "64 IPUs: no, c has no free aligned block of that size",
        "  nothing that could be moved or removed would make room",
    ]


def test_what_people_read() -> None:
    words = document(2, alice={"ipus": 16}, anna={"ipus": 64}, bob={"ipus": 8}, carol={"ipus": 8})
    there = {"alice": machines(1, 4), "bob": machines(5, 6), "anna": machines(1, 16, 2), "job7": machines(15, 15)}
    assert lines(words, 32, **there) == [
        "c: 28 of 128 IPUs free, in blocks: 1 of 16, 1 of 8, 1 of 4",
        "  p1  aaaa bbcc .... ..j.  p1-ipum1..16",
        "      a alice, 16 IPUs",
        "      b bob, 8 IPUs",
        "      c carol, 8 IPUs, to come",
        "      j job7, 4 IPUs",
        "  p2  aaaa aaaa aaaa aaaa  p2-ipum1..16",
        "      a anna, 64 IPUs",
        "32 IPUs: no, c has no free aligned block of that size",
        "  on p1-ipum9..16, job7 (an allocation on v that is not declared, 4 IPUs on p1-ipum15) is in the",
        "    way; removing job7 would make room",
        "  on p1-ipum1..8, alice (vpods.alice, 16 IPUs on p1-ipum1..4), bob (vpods.bob, 8 IPUs on",
        "    p1-ipum5..6) and carol (vpods.carol, 8 IPUs on p1-ipum7..8) are in the way; moving alice to",
        "    p1-ipum9..12, moving bob to p1-ipum13..14 and removing carol would make room",
        "  on p2-ipum1..8, anna (vpods.anna, 64 IPUs on p2-ipum1..16) is in the way; removing anna would make",
        "    room",
    ]
    assert lines(words, 16, **there)[-1] == "16 IPUs: fits in c on p1-ipum9..12"


def test_names_with_the_same_beginning_have_letters_of_their_own() -> None:
    names = {f"alice{number}": machines(number, number) for number in range(1, 16)}
    row = lines(document(), **names)[1].split()[1:5]
    assert len(set("".join(row))) == 16


def test_what_finds_no_place_is_listed_and_does_not_count() -> None:
    words = document(alice={"ipus": 32}, bob={"ipus": 4})
    found = answer(words, job=machines(1, 1), other=machines(9, 9))
    assert found["to_come"] == {}
    assert "vpods.alice.ipus: 32 IPUs find no free aligned block in clusters.c" in found["not_placed"][0]
    assert found["clusters"]["c"]["free_ipus"] == 56


def test_what_waits_for_room_is_not_drawn_twice() -> None:
    words = document(bob={"ipus": 64})
    words["vpods"]["alice"] = {"cluster": "c", "state": "absent"}
    assert lines(words, alice=machines(1, 4))[:3] == [
        "c: 0 of 64 IPUs free",
        "  p1  aaaa bbbb bbbb bbbb  p1-ipum1..16",
        "      a alice, 16 IPUs",
    ]


def test_one_cluster_alone() -> None:
    words = document(2)
    words["clusters"] = {"c": {"controller": HOST, "pods": ["p1"]}, "d": {"controller": HOST, "pods": ["p2"]}}
    assert list(answer(words, 64, "d")["clusters"]) == ["d"]
    assert answer(words, 64, "d")["fits"] == {"d": machines(1, 16, 2)}


@pytest.mark.parametrize(
    ("ipus", "cluster", "message"),
    [
        (30, "", "ipus: 30 IPUs do not exist as a vPOD; use 4, 8, 16, 32, 64 and multiples of 64"),
        (4, "x", "cluster: 'x' is no declared cluster; known are c"),
    ],
)
def test_refusals(ipus: int, cluster: str, message: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        answer(document(), ipus, cluster)
    assert message in str(caught.value)


def test_of_a_controller_that_was_not_read_nothing_is_known() -> None:
    with pytest.raises(DeclarationError, match=r"clusters\.c: its controller on v could not be read; let it answer"):
        capacity(parse_declaration(document()), {})
