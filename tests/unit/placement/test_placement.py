# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where vPODs lie: what is refused, with both places named, and what IPU-Machines out of order mean for all layers."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.degraded import degraded, unmade_clusters
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.desired import desired
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import Placement, place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError
from tests.support.problems import problems_of

HOST = "v"


def document(pods: int = 1, **vpods: dict[str, Any]) -> dict[str, Any]:
    names = [f"p{number}" for number in range(1, pods + 1)]
    rack = {"model": "bow-pod64", "addressing": "multi-rack", "poplar_servers": 4}
    return {
        "schema": 1,
        "pods": {name: {**rack, "lrack": number} for number, name in enumerate(names, 1)},
        "controllers": {HOST: {"address": "10.9.0.1"}},
        "clusters": {"c": {"controller": HOST, "pods": names}},
        "vpods": {name: {"cluster": "c", **fields} for name, fields in vpods.items()},
    }


def machines(first: int, last: int, pod: int = 1) -> list[str]:
    return [f"p{pod}-ipum{number}" for number in range(first, last + 1)]


def placed(words: dict[str, Any], **there: list[str]) -> Placement:
    return place(parse_declaration(words), {HOST: there})


def refused(words: dict[str, Any], **there: list[str]) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        placed(words, **there)
    return caught.value.problems


def test_who_is_in_the_way_is_named_with_the_place() -> None:
    words = document(alice={"ipus": 32}, bob={"ipus": 8}, carol={"ipus": 16})
    assert refused(words, bob=machines(5, 6), carol=machines(9, 12)) == [
        "vpods.alice.ipus: 32 IPUs find no free aligned block in clusters.c: on p1-ipum1..8, bob (vpods.bob, 8 IPUs on "
        "p1-ipum5..6) is in the way; make it smaller, or free these"
    ]


def test_an_allocation_that_is_not_declared_is_named_by_its_controller() -> None:
    (problem,) = refused(document(alice={"ipus": 64}), job7=machines(3, 3))
    assert "job7 (an allocation on v that is not declared, 4 IPUs on p1-ipum3) is in the way" in problem


def test_a_vpod_is_not_in_its_own_way() -> None:
    words = document(alice={"ipus": 32}, bob={"ipus": 4}, carol={"ipus": 8})
    (problem,) = refused(words, alice=machines(1, 4), bob=machines(5, 5), carol=machines(9, 10))
    assert "on p1-ipum1..8, bob (vpods.bob, 4 IPUs on p1-ipum5) is in the way" in problem


def test_a_pin_names_who_has_the_machine() -> None:
    words = document(alice={"ipus": 8, "ipu_machines": machines(5, 6)}, bob={"ipus": 4})
    assert refused(words, bob=machines(6, 6)) == [
        "vpods.alice.ipu_machines: 'p1-ipum6' belongs to bob (vpods.bob, 4 IPUs on p1-ipum6); pin a free one, or free "
        "this one"
    ]


def test_pins_move_a_vpod_and_two_change_places() -> None:
    words = document(alice={"ipus": 8, "ipu_machines": machines(3, 4)}, bob={"ipus": 8, "ipu_machines": machines(1, 2)})
    assert placed(words, alice=machines(1, 2), bob=machines(3, 4)) == {"alice": machines(3, 4), "bob": machines(1, 2)}


def test_what_shrinks_makes_room_for_what_is_new() -> None:
    words = document(alice={"ipus": 32}, bob={"ipus": 32})
    assert placed(words, alice=machines(1, 16)) == {"alice": machines(1, 8), "bob": machines(9, 16)}


def test_of_two_ends_a_vpod_keeps_the_one_that_leaves_the_longer_row_of_pods() -> None:
    words = document(4, alice={"ipus": 64}, bob={"ipus": 64})
    there = {"alice": [*machines(1, 16, 2), *machines(1, 16, 3)], "bob": machines(1, 16, 4)}
    assert placed(words, **there)["alice"] == machines(1, 16, 3)


def test_whole_pods_are_taken_from_the_shortest_row_that_has_them_at_its_lower_end() -> None:
    there = {"x": machines(1, 1, 4), "y": machines(1, 1, 7)}
    # Free are pods 1 to 3, 5 and 6, and 8.
    for ipus, first, last in ((64, 8, 8), (128, 5, 6), (192, 1, 3)):
        words = document(8, new={"ipus": ipus})
        assert placed(words, **there)["new"] == [
            name for pod in range(first, last + 1) for name in machines(1, 16, pod)
        ]
    assert placed(document(8, new={"ipus": 16}), **there)["new"] == machines(5, 8, 4)
    words = document(3, new={"ipus": 64})
    assert placed(words)["new"] == machines(1, 16, 1)


def test_who_has_the_least_choice_chooses_first() -> None:
    words = document(2, new={"ipus": 64}, alice={"ipus": 16, "poplar_servers": ["p1-poplar1"]})
    assert placed(words) == {"new": machines(1, 16, 2), "alice": machines(1, 4)}
    words = document(new={"ipus": 8}, alice={"ipus": 4, "ipu_machines": machines(1, 1)})
    assert placed(words) == {"new": machines(3, 4), "alice": machines(1, 1)}


def test_what_shrinks_stays_in_its_place_even_if_that_leaves_no_room() -> None:
    words = document(2, alice={"ipus": 16}, bob={"ipus": 64}, carol={"ipus": 32})
    (problem,) = refused(words, alice=machines(1, 16), carol=machines(1, 8, 2))
    assert problem.startswith(
        "vpods.bob.ipus: 64 IPUs find no free aligned block in clusters.c: on p1-ipum1..16, alice"
    )


def test_what_moves_away_makes_room_only_where_nothing_else_does() -> None:
    there = {"alice": machines(1, 2), "carol": machines(3, 4)}
    moving = {"alice": {"ipus": 16}, "carol": {"ipus": 8}}
    assert placed(document(**moving, new={"ipus": 8}), **there) == {
        "alice": machines(5, 8),
        "carol": machines(3, 4),
        "new": machines(9, 10),
    }
    assert placed(document(**moving, new={"ipus": 8}), **there, job=machines(9, 16))["new"] == machines(1, 2)


def test_vpods_of_several_pods_choose_before_smaller_ones_cut_their_rows() -> None:
    words = document(6, small={"ipus": 64}, one={"ipus": 128}, other={"ipus": 128})
    # Free are pods 1 to 3, and 5 and 6.
    assert placed(words, x=machines(1, 1, 4))["small"] == machines(1, 16, 3)


def test_a_vpod_that_is_no_row_shrinks_to_what_it_has() -> None:
    words = document(alice={"ipus": 4})
    there = {"alice": machines(2, 2) + machines(5, 5), "bob": machines(4, 4), "carol": machines(7, 7)}
    assert placed(words, **there)["alice"] == machines(5, 5)


def test_agents_that_pods_yml_does_not_know_stay() -> None:
    words = document(alice={"ipus": 8, "poplar_servers": ["p1-poplar1"]})
    assert placed(words, alice=["ag.13.01", "ag.13.02"]) == {"alice": ["ag.13.01", "ag.13.02"]}


def test_what_lies_on_a_controller_that_is_not_managed_stays_whatever_is_declared_of_it() -> None:
    words = document(alice={"ipus": 16}, bob={"ipus": 4, "ipu_machines": machines(9, 9)})
    words["pods"]["p1"].update(managed=["switch"], excluded=["p1-ipum1"])
    there = {"alice": machines(1, 2), "bob": machines(9, 9)}
    assert placed(words, **there) == there
    assert refused(words, **{**there, "bob": machines(8, 8)}) == [
        "vpods.bob.ipu_machines: its allocation on v has p1-ipum8 and cannot be moved from here; pin these"
    ]


def test_an_allocation_that_is_no_block_stays() -> None:
    assert placed(document(alice={"ipus": 8}), alice=machines(2, 3)) == {"alice": machines(2, 3)}


def test_another_cluster_is_another_block() -> None:
    words = document(2, alice={"ipus": 8})
    words["clusters"] = {"c": {"controller": HOST, "pods": ["p1"]}, "d": {"controller": HOST, "pods": ["p2"]}}
    words["vpods"]["alice"]["cluster"] = "d"
    assert placed(words, alice=machines(1, 2)) == {"alice": machines(1, 2, 2)}
    (problem,) = refused(words, alice=machines(1, 2), job=machines(1, 16, 2))
    assert "in clusters.d: on p2-ipum1..2, job (an allocation on v that is not declared, 64 IPUs" in problem


# What can be said without a controller.
STATIC = [
    (
        {"ipus": 4, "ipu_machines": ["p2-ipum7"]},
        "vpods.alice.ipu_machines: 'p2-ipum7' is out of order by pods.p2.excluded; pin others, or take it from there",
    ),
    (
        {"ipus": 4, "ipu_machines": ["p2-ipum1"]},
        "vpods.bob.ipu_machines: 'p2-ipum1' is also in vpods.alice.ipu_machines; pin it once",
    ),
    ({"ipus": 24}, "vpods.alice.ipus: 24 IPUs do not exist as a vPOD; use 4, 8, 16, 32, 64 and multiples of 64"),
    (
        {"ipus": 128, "partitions": {"train": {"ipus": 128}}},
        "vpods.alice.partitions.train.gcds: a GCD of 128 IPUs would lie over several IPU-Link domains, which are the "
        "pods of clusters.c (p1, p2) with 64 IPUs each; use at least 2 GCDs",
    ),
    (
        {"ipus": 16, "poplar_servers": ["p1-poplar1", "p2-poplar1"]},
        "vpods.alice.poplar_servers: servers of it stand in p1 and p2, but 16 IPUs lie in one pod; use servers beside "
        "the IPU-Machines, or declare clusters.c.spine: true if RNICs of its racks reach each other",
    ),
    (
        {"ipus": 16, "poplar_servers": ["p3-poplar1"]},
        "vpods.alice.poplar_servers: servers of it stand in p3, but its cluster is p1 and p2; ",
    ),
    (
        {"ipus": 4, "ipu_machines": ["p2-ipum2"], "poplar_servers": ["p1-poplar1"]},
        "vpods.alice.poplar_servers: servers of it stand in p1, but it is pinned to p2; ",
    ),
    (
        {"ipus": 128, "poplar_servers": ["p1-poplar1"], "partitions": {"train": {"ipus": 128, "gcds": 2}}},
        "vpods.alice.partitions.train.poplar_servers: it lies in 2 racks, and only p1 has a server of it; ",
    ),
    (
        {
            "ipus": 128,
            "poplar_servers": ["p1-poplar1", "p2-poplar1"],
            "partitions": {"train": {"ipus": 128, "gcds": 2, "poplar_servers": ["p2-poplar1", "p1-poplar1"]}},
        },
        "vpods.alice.partitions.train.poplar_servers: GCD 0 lies in p1, but its server p2-poplar1 stands in p2; ",
    ),
]


@pytest.mark.parametrize(("vpod", "message"), STATIC)
def test_one_sentence_without_a_controller(vpod: dict[str, Any], message: str) -> None:
    words = document(3, alice=vpod)
    if vpod["ipus"] < 128:
        words["vpods"]["bob"] = {"cluster": "c", "ipus": 4, "ipu_machines": ["p2-ipum1"]}
    words["clusters"]["c"]["pods"] = ["p1", "p2"]
    words["pods"]["p2"]["excluded"] = ["p2-ipum7"]
    with pytest.raises(DeclarationError) as caught:
        parse_declaration(words)
    assert [problem for problem in caught.value.problems if problem.startswith(message)]


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        (machines(2, 3), "p1-ipum2..3 are no aligned block of clusters.c; pin one, for example p1-ipum1..2"),
        (
            ["p1-ipum16", "p2-ipum1"],
            "p1-ipum16, p2-ipum1 are no aligned block of clusters.c; pin one, for example p1-ipum15..16",
        ),
        (
            [*machines(9, 16), *machines(1, 8, 2)],
            "p1-ipum9..16, p2-ipum1..8 are no aligned block of clusters.c; pin one, for example p1-ipum1..16",
        ),
    ],
)
def test_pins_are_a_block_unless_they_have_an_allocation(pins: list[str], message: str) -> None:
    words = document(2, alice={"ipus": 4 * len(pins), "ipu_machines": pins})
    assert refused(words) == [f"vpods.alice.ipu_machines: {message}"]
    assert list(map(str, problems_of(words))) == [f"vpods.alice.ipu_machines: {message}"]
    assert placed(words, alice=pins) == {"alice": pins}


def test_a_machine_of_another_pod_cannot_be_excluded_here() -> None:
    words = document(2)
    words["pods"]["p1"]["excluded"] = ["p2-ipum1"]
    with pytest.raises(DeclarationError, match=r"pods.p1.excluded: 'p2-ipum1' is no IPU-Machine of p1; its"):
        parse_declaration(words)


@pytest.mark.parametrize(
    "vpod",
    [
        {"ipus": 16, "poplar_servers": ["p1-poplar1", "p2-poplar1"]},
        {"ipus": 4, "ipu_machines": ["p2-ipum2"], "poplar_servers": ["p1-poplar1"]},
        {"ipus": 128, "poplar_servers": ["p1-poplar1"], "partitions": {"train": {"ipus": 128, "gcds": 2}}},
    ],
)
def test_with_a_spine_servers_may_stand_anywhere(vpod: dict[str, Any]) -> None:
    words = document(2, alice=vpod)
    words["clusters"]["c"]["spine"] = True
    assert len(placed(words)["alice"]) * 4 == vpod["ipus"]


def test_without_a_spine_each_gcd_of_a_large_vpod_has_its_server_beside_it() -> None:
    servers = ["p1-poplar1", "p1-poplar2", "p2-poplar1", "p2-poplar1"]
    train = {"ipus": 128, "gcds": 4, "poplar_servers": servers}
    vpod = {"ipus": 128, "poplar_servers": sorted(set(servers)), "partitions": {"train": train}}
    assert len(placed(document(2, alice=vpod))["alice"]) == 32


def test_only_servers_that_run_gcds_count_without_a_spine() -> None:
    train = {"ipus": 16, "poplar_servers": ["p2-poplar1"]}
    vpod = {"ipus": 16, "poplar_servers": ["p1-poplar1", "p2-poplar1"], "partitions": {"train": train}}
    assert placed(document(2, alice=vpod))["alice"] == machines(1, 4, 2)


def test_a_vpod_that_lies_in_another_rack_than_its_server_is_refused_not_moved() -> None:
    words = document(2, alice={"ipus": 16, "poplar_servers": ["p2-poplar1"]})
    (problem,) = refused(words, alice=machines(1, 4))
    assert problem.startswith("vpods.alice.poplar_servers: servers of it stand in p2, but its allocation lies in p1; ")


def excluding(words: dict[str, Any], *names: str) -> dict[str, Any]:
    words["pods"]["p1"]["excluded"] = list(names)
    return words


def test_a_vpod_leaves_a_machine_that_is_out_of_order_only_when_it_may_be_interrupted() -> None:
    declaration = parse_declaration(excluding(document(alice={"ipus": 16}, bob={"ipus": 8}), "p1-ipum2"))
    there = {"alice": machines(1, 4), "bob": machines(15, 16)}
    assert place(declaration, {HOST: there}) == place(declaration, {HOST: there}, allowed=["bob"]) == there
    assert place(declaration, {HOST: there}, allowed=["alice", "bob"]) == {**there, "alice": machines(5, 8)}


@pytest.mark.parametrize(
    ("words", "where"),
    [({"ipus": 8}, machines(3, 4)), ({"ipus": 16, "ipu_machines": machines(9, 12)}, machines(9, 12))],
)
def test_what_is_declared_of_a_vpod_on_a_dead_machine_is_no_less_declared(words: Any, where: list[str]) -> None:
    assert placed(excluding(document(alice=words), "p1-ipum2"), alice=machines(1, 4)) == {"alice": where}


def test_nobody_gets_what_is_left_of_a_vpod_on_a_dead_machine() -> None:
    words = excluding(document(alice={"ipus": 32}, bob={"ipus": 32}), "p1-ipum2")
    assert placed(words, alice=machines(1, 8)) == {"alice": machines(1, 8), "bob": machines(9, 16)}
    (problem,) = refused(excluding(document(alice={"ipus": 32}, bob={"ipus": 32}), "p1-ipum9"), alice=machines(1, 8))
    assert problem.startswith("vpods.bob.ipus: 32 IPUs find no free aligned block in clusters.c: ")


ALICE = {"ipus": 64, "vlan": 101, "poplar_servers": ["p1-poplar1"], "partitions": {"train": {"ipus": 32}}}


def test_one_dead_machine_does_not_stop_the_others() -> None:
    declaration = parse_declaration(excluding(document(alice=ALICE), "p1-ipum7"))
    placement = place(declaration, {HOST: {"alice": machines(1, 16)}})
    assert placement == {"alice": machines(1, 16)}
    assert degraded(declaration, placement) == [
        "p1-ipum7 is excluded",
        "vPOD alice has p1-ipum7 and its partitions are left as they are; "
        '-e \'{"vpods_interrupt": ["alice"]}\' places it anew if another block is free',
    ]
    assert place(declaration, {HOST: {"alice": machines(1, 16)}}, allowed=["alice"]) == placement
    wanted = desired(declaration, placement)
    assert wanted["degraded"] == degraded(declaration, placement)
    controller, server = wanted["vipu_controllers"][HOST], wanted["poplar_servers"]["p1-poplar1"]
    # Nothing is taken away, and nothing that may be broken is asked for.
    assert [agent["name"] for agent in controller["agents"]] == machines(1, 16) == controller["clusters"][0]["agents"]
    assert controller["allocations"][0]["agents"] == machines(1, 16)
    assert controller["partitions"] == server["partitions"] == []
    assert [partition["name"] for partition in server["ipuof"]["partitions"]] == ["train"]
    assert list(server["peers"]) == [name for name in machines(1, 16) if name != "p1-ipum7"]


def test_the_port_of_a_dead_machine_is_kept_whatever_is_declared_of_it() -> None:
    words = excluding(document(alice=ALICE), "p1-ipum7")
    words["pods"]["p1"]["tor"] = {"ports": {"Et15": {"mtu": 9000}}, "mtu": 9100, "canary": ["p1-ipum6"]}
    declaration = parse_declaration(words)
    switch = desired(declaration, place(declaration, {HOST: {"alice": machines(1, 16)}}))["tor_switches"]["p1-tor"]
    names = [port["name"] for port in switch["ports"]]
    assert "Ethernet15/1" not in names
    assert {"Ethernet14/1", "Ethernet16/1"} <= set(names)


def test_a_dead_machine_is_no_canary() -> None:
    words = excluding(document(), "p1-ipum7")
    words["pods"]["p1"]["tor"] = {"canary": ["p1-ipum7"]}
    with pytest.raises(DeclarationError, match=r"pods.p1.tor.canary: 'p1-ipum7' is out of order by pods.p1.excluded"):
        parse_declaration(words)


def test_a_vpod_beside_a_dead_machine_is_whole() -> None:
    words = excluding(document(alice={**ALICE, "ipus": 32}), "p1-ipum16")
    declaration = parse_declaration(words)
    wanted = desired(declaration, place(declaration, {HOST: {}}))
    assert wanted["degraded"] == ["p1-ipum16 is excluded"]
    assert [each["name"] for each in wanted["vipu_controllers"][HOST]["partitions"]] == ["train"]
    # A server without a vPOD does not wait for it either.
    assert list(wanted["poplar_servers"]["p1-poplar2"]["peers"]) == machines(9, 15)


def test_a_new_vpod_on_dead_machines_is_refused() -> None:
    (problem,) = refused(excluding(document(alice={"ipus": 64}), "p1-ipum7"))
    assert "on p1-ipum1..16, p1-ipum7 (pods.p1.excluded) is in the way" in problem


def test_a_cluster_is_made_with_all_its_machines_or_not_at_all() -> None:
    declaration = parse_declaration(excluding(document(), "p1-ipum7"))
    assert unmade_clusters(declaration, {HOST: dict.fromkeys(machines(1, 16))}) == []
    assert unmade_clusters(declaration, {}) == []
    assert unmade_clusters(declaration, {HOST: {}}) == [
        "pods.p1.excluded: p1-ipum7 is no agent of the controller on v yet, and clusters.c cannot be made without it, "
        "as its links and blocks count all IPU-Machines; repair it first, or leave p1 out of clusters.c.pods"
    ]
