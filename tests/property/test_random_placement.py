# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Placement: never overlapping, never misaligned, never without a place where there is one, and never a move unasked.

Which blocks there are is said here a second time, as simply as possible.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ansible_collections.ipu.pod.plugins.plugin_utils._declaration.declaration import parse_declaration
from ansible_collections.ipu.pod.plugins.plugin_utils._desired.degraded import stranded
from ansible_collections.ipu.pod.plugins.plugin_utils._placement.placement import place
from ansible_collections.ipu.pod.plugins.plugin_utils._pod.kinds import DeclarationError

PODS = 3
IN_A_POD, IPUS = 16, 4
MACHINES = [f"p{pod}-ipum{number}" for pod in range(1, PODS + 1) for number in range(1, IN_A_POD + 1)]
HOST = "p1-poplar1"
SIZES = (1, 2, 4, 8, 16, 32, 48)

Blocks = dict[str, list[str]]


def is_block(machines: list[str]) -> bool:
    """Whether IPU-Machines are a row that starts at a multiple of its size, or whole pods."""
    first, size = MACHINES.index(machines[0]), len(machines)
    return machines == MACHINES[first : first + size] and first % min(size, IN_A_POD) == 0


def blocks(size: int) -> list[list[str]]:
    rows = [MACHINES[first : first + size] for first in range(len(MACHINES) - size + 1)]
    return [row for row in rows if is_block(row)]


def document(wanted: dict[str, int], **pods: list[str]) -> dict[str, Any]:
    """A pods.yml of three pods in one cluster; ``wanted`` maps vPODs to IPU-Machines, ``pods`` to excluded ones."""
    return {
        "schema": 1,
        "pods": {
            f"p{n}": {"model": "bow-pod64", "lrack": n, "addressing": "multi-rack", "excluded": pods.get(f"p{n}", [])}
            for n in range(1, PODS + 1)
        },
        "controllers": {"v": {"host": HOST}},
        "clusters": {"c": {"controller": "v", "pods": [f"p{n}" for n in range(1, PODS + 1)]}},
        "vpods": {name: {"cluster": "c", "ipus": size * IPUS} for name, size in wanted.items()},
    }


def placed(words: dict[str, Any], allocations: Blocks | None = None) -> Blocks:
    return place(parse_declaration(words), {HOST: allocations or {}})


def placed_or_none(
    words: dict[str, Any], allocations: Blocks | None = None, allowed: Collection[str] = ()
) -> Blocks | None:
    declaration = parse_declaration(words)
    try:
        return place(declaration, {HOST: allocations or {}}, allowed)
    except DeclarationError:
        return None


@st.composite
def wishes(draw: st.DrawFn, most: int = len(MACHINES)) -> dict[str, int]:
    """vPODs that need no more than so many IPU-Machines in all."""
    wanted: dict[str, int] = {}
    for number in range(draw(st.integers(1, 12))):
        size = draw(st.sampled_from(SIZES))
        if sum(wanted.values()) + size <= most:
            wanted[f"new{number}"] = size
    return wanted


@st.composite
def layouts(draw: st.DrawFn) -> Blocks:
    """Allocations somewhere, as blocks that do not overlap."""
    free, found = set(MACHINES), {}
    for number in range(draw(st.integers(0, 8))):
        fitting = [block for block in blocks(draw(st.sampled_from(SIZES))) if free.issuperset(block)]
        if fitting:
            found[f"old{number}"] = draw(st.sampled_from(fitting))
            free -= set(found[f"old{number}"])
    return found


def sizes_of(layout: Blocks) -> dict[str, int]:
    return {name: len(machines) for name, machines in layout.items()}


def assert_sound(placement: Blocks, wanted: dict[str, int]) -> None:
    assert {name: len(machines) for name, machines in placement.items()} == wanted
    assert all(is_block(machines) for machines in placement.values())
    for one, other in combinations(placement.values(), 2):
        assert not set(one) & set(other)


@given(wishes())
def test_whatever_fits_on_an_empty_cluster_is_placed_soundly_in_any_order_of_the_file(wanted: dict[str, int]) -> None:
    assert_sound(placed(document(wanted)), wanted)
    assert_sound(placed(document(dict(reversed(wanted.items())))), wanted)


@given(layouts(), st.sampled_from(SIZES))
def test_a_new_vpod_finds_a_block_exactly_when_one_is_free(there: Blocks, size: int) -> None:
    held = {machine for machines in there.values() for machine in machines}
    free = [block for block in blocks(size) if held.isdisjoint(block)]
    assume(len(held) + size <= len(MACHINES))
    placement = placed_or_none(document({"new": size}), there)
    assert (placement["new"] in free) if placement else not free


@given(layouts(), wishes(), st.randoms(use_true_random=False))
def test_the_order_of_the_file_does_not_decide_whether_vpods_find_their_blocks(
    there: Blocks, wanted: dict[str, int], random: Any
) -> None:
    # Vpods of several pods, into several gaps of whole pods, may want another order than any fixed one.
    assume(sum(size > IN_A_POD for size in wanted.values()) <= 1)
    shuffled = list(wanted)
    random.shuffle(shuffled)
    words = document(wanted)
    assume(sum(wanted.values()) <= len(MACHINES))
    one, other = (
        placed_or_none(words, there),
        placed_or_none(document({name: wanted[name] for name in shuffled}), there),
    )
    assert (one is None) == (other is None)


@given(layouts(), st.lists(st.sampled_from(SIZES[:5]), min_size=1, max_size=5))
def test_new_vpods_up_to_a_pod_fit_if_any_way_of_placing_them_does(there: Blocks, sizes: list[int]) -> None:
    """The largest first, each into any free block: if this does not work, no way does."""
    free = {machine for machine in MACHINES if not any(machine in machines for machines in there.values())}
    assume(sum(sizes) <= len(MACHINES))
    left, fits = set(free), True
    for size in sorted(sizes, reverse=True):
        fitting = [block for block in blocks(size) if left.issuperset(block)]
        fits = fits and bool(fitting)
        left -= set(fitting[-1] if fitting else [])
    placement = placed_or_none(document({f"new{n}": size for n, size in enumerate(sizes)}), there)
    assert (placement is not None) == fits
    for machines in (placement or {}).values():
        assert free.issuperset(machines)


@given(layouts(), wishes(most=8))
def test_what_is_allocated_stays_whoever_has_it_and_is_never_overlapped(there: Blocks, wanted: dict[str, int]) -> None:
    ours = {name: machines for number, (name, machines) in enumerate(there.items()) if number % 2 == 0}
    assume(sum(sizes_of(ours).values()) + sum(wanted.values()) <= len(MACHINES))
    placement = placed_or_none(document({**wanted, **sizes_of(ours)}), there)
    if placement:
        assert {name: placement[name] for name in ours} == ours
        assert_sound({**there, **placement}, {**sizes_of(there), **wanted})


@given(layouts(), wishes(most=16))
def test_placing_again_what_was_placed_changes_nothing(there: Blocks, wanted: dict[str, int]) -> None:
    assume(sum(sizes_of(there).values()) + sum(wanted.values()) <= len(MACHINES))
    placement = placed_or_none(document({**sizes_of(there), **wanted}), there)
    if placement:
        assert placed(document({**sizes_of(there), **wanted}), placement) == placement


@given(layouts(), st.sampled_from(SIZES), st.sampled_from(SIZES))
def test_a_vpod_of_another_size_stays_inside_or_grows_around_its_block(there: Blocks, chosen: int, size: int) -> None:
    assume(there)
    name = sorted(there)[chosen % len(there)]
    own, others = there[name], {machine for each in there if each != name for machine in there[each]}
    assume(len(others) + size <= len(MACHINES))
    placement = placed_or_none(document({**sizes_of(there), name: size}), there)
    free = [block for block in blocks(size) if others.isdisjoint(block)]
    if placement is None:
        assert not free
        return
    assert_sound(placement, {**sizes_of(there), name: size})
    assert {**placement, name: own} == there
    near = [block for block in free if set(block) <= set(own) or set(own) <= set(block)]
    assert placement[name] in (near or free)


@given(layouts(), st.sampled_from(MACHINES), wishes(most=8), st.booleans())
def test_nobody_gets_an_excluded_machine_and_who_has_it_leaves_it_if_allowed_or_stays(
    there: Blocks, dead: str, wanted: dict[str, int], is_allowed: bool
) -> None:
    everything = {**sizes_of(there), **wanted}
    assume(sum(everything.values()) <= len(MACHINES))
    words = document(everything, **{dead.split("-", maxsplit=1)[0]: [dead]})
    placement = placed_or_none(words, there, allowed=everything if is_allowed else ())
    if placement is None:
        return
    on_it = {name for name, machines in there.items() if dead in machines}
    left_there = stranded(parse_declaration(words), placement)
    assert {name for name, machines in placement.items() if dead in machines} == set(left_there) <= on_it
    assert {name: placement[name] for name in there if name not in on_it} == {
        name: machines for name, machines in there.items() if name not in on_it
    }
    assert_sound(placement, everything)
    assert is_allowed or set(left_there) == on_it
    for name in left_there:
        held = {machine for other in there if other != name for machine in there[other]}
        assert placement[name] == there[name]
        assert not is_allowed or not [
            block for block in blocks(everything[name]) if held.isdisjoint(block) and dead not in block
        ]


@given(layouts(), layouts(), st.data())
def test_pins_are_taken_or_refused_and_move_nobody_else(there: Blocks, pins: Blocks, data: st.DataObject) -> None:
    assume(pins)
    pinned = data.draw(st.sampled_from(sorted(pins)))
    words = document({**sizes_of(there), pinned: len(pins[pinned])})
    words["vpods"][pinned]["ipu_machines"] = list(reversed(pins[pinned]))
    assume(sum(vpod["ipus"] for vpod in words["vpods"].values()) <= len(MACHINES) * IPUS)
    held = {machine for name, machines in there.items() if name != pinned for machine in machines}
    placement = placed_or_none(words, there)
    assert (placement is not None) == held.isdisjoint(pins[pinned])
    if placement:
        assert placement.keys() == words["vpods"].keys()
        assert sorted(placement[pinned]) == sorted(pins[pinned])
        assert {**placement, pinned: []} == {**there, pinned: []}


@given(layouts(), st.sampled_from(SIZES))
def test_a_vpod_leaves_the_largest_blocks_free(there: Blocks, size: int) -> None:
    """It lies in a free block of a size that no smaller free block with room for it has."""
    free = {machine for machine in MACHINES if not any(machine in machines for machines in there.values())}
    assume(len(MACHINES) - len(free) + size <= len(MACHINES))
    placement = placed_or_none(document({"new": size}), there)
    assume(placement is not None and size <= IN_A_POD)

    def room_around(block: list[str]) -> int:
        return max(
            larger
            for larger in (1, 2, 4, 8, 16, 32, 48)
            for around in blocks(larger)
            if set(block) <= set(around) and free.issuperset(around)
        )

    assert placement is not None
    rooms = [room_around(block) for block in blocks(size) if free.issuperset(block)]
    assert room_around(placement["new"]) == min(rooms)


@given(layouts(), st.sampled_from(SIZES), st.sampled_from(SIZES))
def test_other_clusters_do_not_matter(there: Blocks, size: int, other: int) -> None:
    assume(sum(sizes_of(there).values()) + size <= len(MACHINES))
    words = document({"new": size})
    more = document({"new": size})
    more["pods"]["q1"] = {"model": "bow-pod64", "lrack": 9, "addressing": "multi-rack"}
    more["clusters"]["d"] = {"controller": "v", "pods": ["q1"]}
    more["vpods"] = {"far": {"cluster": "d", "ipus": min(other, 16) * IPUS}, **more["vpods"]}
    one, both = placed_or_none(words, there), placed_or_none(more, there)
    assert (one or {}).get("new") == (both or {}).get("new")


@given(layouts(), st.sampled_from(SIZES), st.sets(st.integers(1, PODS), min_size=1))
def test_without_a_spine_a_vpod_lies_in_the_racks_of_its_servers(there: Blocks, size: int, racks: set[int]) -> None:
    held = {machine for machines in there.values() for machine in machines}
    assume(len(held) + size <= len(MACHINES))
    words = document({"new": size})
    words["vpods"]["new"]["poplar_servers"] = [f"p{rack}-poplar1" for rack in racks]
    needed = {f"p{rack}" for rack in racks}
    reached = [row for row in blocks(size) if needed <= {machine.partition("-")[0] for machine in row}]
    if not reached:
        with pytest.raises(DeclarationError, match="servers of it stand in"):
            parse_declaration(words)
        return
    placement = placed_or_none(words, there)
    free = [block for block in reached if held.isdisjoint(block)]
    assert (placement["new"] in free) if placement else not free


@given(layouts(), st.sampled_from(SIZES[:5]), st.sampled_from(SIZES[:5]))
def test_what_goes_makes_room_only_where_nothing_else_does(there: Blocks, chosen: int, size: int) -> None:
    assume(there)
    going = sorted(there)[chosen % len(there)]
    words = document({**{name: size for name, size in sizes_of(there).items() if name != going}, "new": size})
    assume(sum(vpod["ipus"] for vpod in words["vpods"].values()) <= len(MACHINES) * IPUS)
    words["vpods"][going] = {"cluster": "c", "state": "absent"}
    held = {machine for machines in there.values() for machine in machines}
    now = [block for block in blocks(size) if held.isdisjoint(block)]
    then = [block for block in blocks(size) if (held - set(there[going])).isdisjoint(block)]
    placement = placed_or_none(words, there)
    assert (placement["new"] in (now or then)) if placement else not then
    assert going not in (placement or {})
